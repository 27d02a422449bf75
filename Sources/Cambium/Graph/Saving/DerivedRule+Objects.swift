import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension DerivedRule {
  /// The value that an object is to have by its own attributes. A rule with a relationship has none here.
  func ownValue(of object: ManagedObject) throws -> Value {
    switch derivation {
    case .now: return .date(Date().timeIntervalSinceReferenceDate)
    case .keyPath(let path): return try object.engineValue(keyPath: path)
    case .text(let form, let path):
      guard case .string(let text) = try object.engineValue(keyPath: path) else { return .null }
      return .string(Derivation.apply(form, to: text))
    case .count, .sum: return .null
    }
  }

  /// The error that the attribute cannot hold the value that is derived for an object.
  func unfit(_ value: Value, of id: ManagedObjectID) -> CambiumError {
    CambiumError(
      .managedObjectValidation,
      "the derived attribute '\(attribute.name)' is of type \(attribute.type.name), which cannot hold \(value)",
      entityName: id.entityName, key: attribute.name, objectID: id)
  }
}
