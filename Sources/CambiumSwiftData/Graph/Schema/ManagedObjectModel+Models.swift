import Cambium

extension ManagedObjectModel {
  /// Makes the model of the object graph for a Core Data stack on the store of a container: the entities of model
  /// classes, with the same version hashes. SwiftData: `NSManagedObjectModel.makeManagedObjectModel(for:mergedWith:)`.
  ///
  ///     final class CDTrip: ManagedObject { @Managed var name: String }
  ///     let model = ManagedObjectModel.makeManagedObjectModel(for: Trip.self)
  ///     model?.entitiesByName["Trip"]?.managedObjectClass = CDTrip.self
  ///
  /// The model names no classes: set those of the Core Data stack, whose names must differ from those of the model
  /// classes.
  ///
  /// - Parameters:
  ///   - forTypes: The model classes. The classes that they lead to belong to the model as well.
  ///   - model: A model with more entities. An entity of the same name must be described alike in both.
  /// - Returns: The model; `nil` if the classes make no schema, or if the models contradict each other.
  ///   `ModelContainer` throws an error with the reason for the first.
  public static func makeManagedObjectModel(
    for forTypes: any PersistentModel.Type..., mergedWith model: ManagedObjectModel? = nil
  ) -> ManagedObjectModel? {
    makeManagedObjectModel(for: Schema(forTypes), mergedWith: model)
  }

  /// Makes the model of the object graph for a Core Data stack of model classes, as the other form does.
  public static func makeManagedObjectModel(
    for forTypes: [any PersistentModel.Type], mergedWith model: ManagedObjectModel? = nil
  ) -> ManagedObjectModel? {
    makeManagedObjectModel(for: Schema(forTypes), mergedWith: model)
  }

  /// Makes the model of the object graph for a Core Data stack of a schema, as the other forms do.
  public static func makeManagedObjectModel(
    for schema: Schema, mergedWith model: ManagedObjectModel? = nil
  ) -> ManagedObjectModel? {
    guard let made = try? schema.makeModel(namesClasses: false) else { return nil }
    guard let model else { return made }
    return try? ManagedObjectModel(merging: [made, model])
  }
}
