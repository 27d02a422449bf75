import CambiumEngine

// Fetched properties: what a stored request gives, with the object for `$FETCH_SOURCE`.
extension ManagedObject {
  /// The fetched property of a key.
  func fetchedProperty(_ key: String) -> FetchedPropertyDescription? {
    guard info.properties[key] == nil else { return nil }
    return entity.propertiesByName[key] as? FetchedPropertyDescription
  }

  /// The objects, fetched when first asked for; which they are is kept until the object is refreshed, if all of
  /// them are saved.
  func fetchedObjects(_ property: FetchedPropertyDescription) throws -> [ManagedObject] {
    let context = try requireContext()
    if let known = fetchedValues[property.name] { return known.map { context.object(with: $0) } }
    guard let template = property.fetchRequest else { return [] }
    let request = FetchRequest<ManagedObject>(entityName: template.entityName)
    request.fetchLimit = template.fetchLimit
    if let format = template.predicateFormat {
      var predicate = try FetchPredicate(format: format)
      var values: [String: Value] = [:]
      for name in predicate.variableNames { values[name] = try value(ofVariable: name, property) }
      // All that an object tells is in its store.
      predicate = try predicate.substituting(
        values, naming: ObjectHomes(of: values.values, in: objectID.space.identifier))
      request.predicate = predicate
    }
    let result = try context.fetch(request)
    // What has no identifier yet that stays is asked for again.
    if result.allSatisfy({ !$0.objectID.isTemporaryID }) { fetchedValues[property.name] = result.map { $0.objectID } }
    return result
  }

  private func value(ofVariable name: String, _ property: FetchedPropertyDescription) throws -> Value {
    if name == "FETCH_SOURCE" { return .reference(objectID.reference) }
    let source = "FETCH_SOURCE."
    if name.hasPrefix(source) { return try engineValue(keyPath: String(name.dropFirst(source.count))) }
    let userInfo = "FETCHED_PROPERTY.userInfo."
    if name.hasPrefix(userInfo) {
      return property.userInfo[String(name.dropFirst(userInfo.count))].map { .string($0) } ?? .null
    }
    throw CambiumError(
      .invalidPredicate,
      "the predicate of the fetched property '\(property.name)' names $\(name); it may name $FETCH_SOURCE, with key "
        + "paths, and $FETCHED_PROPERTY.userInfo.key", entityName: entity.name, key: property.name)
  }
}
