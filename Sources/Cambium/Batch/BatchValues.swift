import CambiumEngine

/// What a batch request sets, in the form of rows.
struct BatchValues {
  let info: EntityInfo
  let space: StoreSpace

  /// The property of a name that rows have themselves.
  private func property(_ name: String) throws -> PropertyInfo {
    guard let property = info.properties[name] else {
      throw CambiumError(
        .unknownKey,
        "'\(info.name)' has no property '\(name)'"
          + (name.utf8.contains(UInt8(ascii: "."))
            ? "; a batch update sets elements of composites by their paths, a batch insert takes the composite as a whole"
            : info.schema.alternatives(to: name)),
        entityName: info.name, key: name)
    }
    func refuse(_ why: String) -> CambiumError { .unsettableInBatch(name, of: info.name, why) }
    if property.isTransient { throw refuse("it is kept in memory only") }
    if property.isDerived { throw refuse("it is derived") }
    if let why = property.relationship?.batchRefusal { throw refuse(why) }
    return property
  }

  /// Sets a property to what a caller gives.
  func set(_ given: Any?, _ name: String, in values: inout RowValues) throws {
    let property = try property(name)
    switch property.kind {
    case .attribute(let attribute, let rules):
      if attribute.type == .objectID, let given = unwrapped(given) { _ = try saved(given, name) }
      let value = property.isTransformed ? try rules.untransformed(given, path: name, entity: info.name) : given
      values.set(name, try attribute.accept(value, path: name, entity: info.name))
    case .relationship(let r):
      guard let given = unwrapped(given) else { return values.set(toOne: name, nil) }
      values.set(toOne: r.schema.name, try saved(given, name))
    }
  }

  /// What a caller names an object by.
  private func saved(_ given: Any, _ name: String) throws -> ObjectReference {
    let id = given as? ManagedObjectID ?? (given as? ManagedObject)?.objectID
    guard let id, !id.isTemporaryID, id.space.identifier == space.identifier else {
      throw CambiumError.notSaved(given, name, of: info.name)
    }
    return id.reference
  }

  /// Sets a property to what was computed.
  func set(computed value: Value, _ name: String, in values: inout RowValues) throws {
    switch try property(name).kind {
    case .attribute(let attribute, _):
      guard let coerced = attribute.coerce(value) else {
        throw CambiumError(
          .invalidArgument, "'\(name)' of '\(info.name)' is of type \(attribute.type.name) and cannot hold '\(value)'",
          entityName: info.name, key: name)
      }
      values.set(name, coerced)
    case .relationship(let r):
      switch value {
      case .reference(let reference): values.set(toOne: r.schema.name, reference)
      case .null: values.set(toOne: r.schema.name, nil)
      default:
        throw CambiumError(
          .invalidArgument, "'\(name)' of '\(info.name)' leads to an object, and cannot be set to '\(value)'",
          entityName: info.name, key: name)
      }
    }
  }

  /// A new object's values: those given, and the defaults of the others.
  func row(_ given: [String: Any]) throws -> RowValues {
    var values = RowValues()
    for property in info.ordered where given[property.name] == nil {
      guard case .attribute(let attribute, let rules) = property.kind, !property.isTransient, !property.isDerived,
        !rules.defaultValue.isNull
      else { continue }
      values.set(property.name, attribute.coerce(rules.defaultValue) ?? .null)
    }
    for (name, value) in given { try set(value, name, in: &values) }
    return values
  }
}
