extension ManagedObject {
  /// The entity of this class, in the model that stores were opened with last of those that have one; without, an entity of the
  /// class's name that no store has. Core Data: `entity`.
  ///
  /// Where several models have the class, a context is better asked: ``EntityDescription/entity(forEntityName:in:)``.
  public class func entity() -> EntityDescription { ModelsInUse.entity(for: self) ?? EntityDescription("\(self)") }
}
