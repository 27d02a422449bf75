extension CambiumError {
  /// Makes an error; the remaining fields are set on the result.
  public init(
    _ code: Code, _ message: String, entityName: String? = nil, key: String? = nil, objectID: ManagedObjectID? = nil,
    underlying: [any Error] = []
  ) {
    self.init(code, message, entityName: entityName, key: key, underlying: underlying)
    if let objectID { self.objectID = objectID }
  }

  /// The object in question. Core Data: `NSValidationObjectErrorKey`.
  public var objectID: ManagedObjectID? {
    get { userInfo["objectID"] as? ManagedObjectID }
    set { userInfo["objectID"] = newValue }
  }

  /// All the objects in question. Core Data: `NSAffectedObjectsErrorKey`.
  public var affectedObjectIDs: [ManagedObjectID] {
    get { userInfo["affectedObjectIDs"] as? [ManagedObjectID] ?? [] }
    set { userInfo["affectedObjectIDs"] = newValue }
  }
}
