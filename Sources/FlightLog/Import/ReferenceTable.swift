import Cambium

/// The objects of one entity by their identifier in the data. It keeps object IDs, which outlive a reset of the
/// context.
struct ReferenceTable<Object: ManagedObject> {
  private let entity: String
  private let key: String
  private var ids: [String: ManagedObjectID] = [:]
  /// Objects of the batch under way: their IDs become permanent with the save.
  private var unsaved: [(String, Object)] = []

  /// The number of identifiers.
  var count: Int { ids.count }

  /// The objects of `entity` that the store has already, by the attribute `key`.
  init(entity: String, key: String, in context: ManagedObjectContext) throws {
    self.entity = entity
    self.key = key
    for object in try context.fetch(FetchRequest<Object>(entityName: entity)) {
      if let identifier = object.value(forKey: key) as? String { ids[identifier] = object.objectID }
    }
  }

  /// The object with the identifier; if there is none, a new one that has nothing but it.
  mutating func object(_ identifier: String, in context: ManagedObjectContext) throws -> Object {
    if let id = ids[identifier] { return try checked(context.object(with: id)) }
    let object = try checked(try context.insertNewObject(forEntityName: entity))
    try object.set(identifier, forKey: key)
    ids[identifier] = object.objectID
    unsaved.append((identifier, object))
    return object
  }

  private func checked(_ object: ManagedObject) throws -> Object {
    guard let object = object as? Object else {
      throw ImportError(description: "an object of \(entity) is of the class \(type(of: object))")
    }
    return object
  }

  /// Takes note of the permanent IDs, after a save and before the context is reset.
  mutating func settle() {
    for (identifier, object) in unsaved { ids[identifier] = object.objectID }
    unsaved.removeAll()
  }
}

/// Why the import stopped.
struct ImportError: Error, CustomStringConvertible {
  var description: String
}
