import CambiumEngine

/// An attribute that the store computes when an object is saved, and that nobody sets. Core Data:
/// `NSDerivedAttributeDescription`.
///
/// The expression is one of:
///
/// | expression | value |
/// |---|---|
/// | `aircraft.tailNumber` | an attribute, also through one to-one relationship and into composites |
/// | `logEntries.@count` | how many destinations a to-many relationship has |
/// | `logEntries.@sum.duration` | the sum of an attribute of the destinations |
/// | `canonical:(name)`, `lowercase:(name)`, `uppercase:(name)` | a string attribute without case and marks; in lower or upper case |
/// | `now()` | when the object was saved |
///
/// Others are refused when the model is taken into use. The expression is a part of the version hash. The value is
/// computed by the context that saves; where several do at the same time, the later one computes it again. Objects that
/// are there when a migration adds the attribute have no value until they are saved again.
public final class DerivedAttributeDescription: AttributeDescription, @unchecked Sendable {
  // `@unchecked`: set up on one thread; from when its model is in use, assignments are refused, so that it only is
  // read.
  /// What the value is computed from.
  @ModelValue public var derivationExpression: String?

  /// A derived attribute without name, type and expression.
  public override init() { super.init() }

  /// A derived attribute.
  public convenience init(_ name: String, _ type: AttributeType, derivationExpression: String) {
    self.init()
    self.name = name
    self.storedType = type
    self.derivationExpression = derivationExpression
  }

  override func fill(_ result: inout AttributeSchema) throws {
    try super.fill(&result)
    guard let derivationExpression, !derivationExpression.isEmpty else {
      throw CambiumError(
        .invalidModel, "the derived attribute '\(name)' has no derivationExpression; set one",
        entityName: entity?.name, key: name)
    }
    result.derivation = derivationExpression
  }
}
