import Cambium
import Foundation

/// A change of a record, as one device tells it and the others take it over. A field that is not named did not change.
struct RecordChange {
  var entity: String
  var id: UUID
  /// The changed fields. A to-one relationship is the identifier of its destination.
  var fields: [String: Any?]
  var isDeletion = false
}

/// A cloud database, for tests: keeps the changes of all devices in their order.
final class SharedRecords {
  private(set) var changes: [(device: String, change: RecordChange)] = []

  func add(_ change: RecordChange, from device: String) { changes.append((device, change)) }
}

/// A device with one version of an application. It sends the changes that its history tells, and takes over those of
/// other devices.
///
/// Each entity has an attribute `id`, by which devices know the object: the identifiers of stores differ.
final class Device {
  let name: String
  private(set) var container: PersistentContainer
  private let directory: TemporaryDirectory
  /// The history that was sent.
  private var token: PersistentHistoryToken?
  /// How many changes of the cloud were taken over.
  private var taken = 0

  /// The author of changes that came from the cloud, which are not sent back.
  static let author = "cloud"

  var context: ManagedObjectContext { container.viewContext }

  init(_ name: String, _ model: ManagedObjectModel) throws {
    self.name = name
    directory = try TemporaryDirectory()
    container = try directory.container(name, model: model) { $0.tracksHistory = true }
  }

  /// Opens the store with another version of the application, which migrates it.
  func update(to model: ManagedObjectModel) throws {
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
    container = try directory.container(name, model: model) { $0.tracksHistory = true }
  }

  // MARK: Sending

  /// Sends what was saved since the last time; returns the number of records.
  @discardableResult
  func send(to cloud: SharedRecords) throws -> Int {
    var count = 0
    for transaction in try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: token)).transactions {
      token = transaction.token
      if transaction.author == Self.author { continue }
      for change in transaction.changes ?? [] {
        guard let record = try record(of: change) else { continue }
        cloud.add(record, from: name)
        count += 1
      }
    }
    return count
  }

  private func record(of change: PersistentHistoryChange) throws -> RecordChange? {
    guard let entity = change.changedObjectID.entity else { return nil }
    if change.changeType == .delete {
      guard let id = change.tombstone?["id"] as? UUID else { return nil }
      return RecordChange(entity: entity.name, id: id, fields: [:], isDeletion: true)
    }
    // A later transaction may have deleted the object.
    guard let object = try? context.existingObject(with: change.changedObjectID),
      let id = object.value(forKey: "id") as? UUID
    else { return nil }
    var fields: [String: Any?] = [:]
    for name in entity.attributesByName.keys where change.updatedProperties?.contains(name) ?? true {
      fields[name] = object.value(forKey: name)
    }
    for (name, relationship) in entity.relationshipsByName
    where !relationship.isToMany && change.updatedProperties?.contains(name) ?? true {
      fields[name] = (object.value(forKey: name) as? ManagedObject)?.value(forKey: "id") as? UUID
    }
    return RecordChange(entity: entity.name, id: id, fields: fields)
  }

  // MARK: Taking over

  /// Takes over the changes of other devices. Fields and entities that this version's model lacks are left out.
  ///
  /// - Parameter again: Also the changes that were taken over before, as after an update of the application.
  func take(from cloud: SharedRecords, again: Bool = false) throws {
    let start = again ? 0 : taken
    taken = cloud.changes.count
    let own = context.transactionAuthor
    context.transactionAuthor = Self.author
    defer { context.transactionAuthor = own }
    for (device, change) in cloud.changes[start...] where device != name { try apply(change) }
    try context.save()
  }

  private func apply(_ change: RecordChange) throws {
    guard let entity = container.managedObjectModel.entitiesByName[change.entity] else { return }
    let known = try object(change.entity, change.id)
    if change.isDeletion {
      if let known { context.delete(known) }
      return
    }
    let object = try known ?? context.insertNewObject(forEntityName: change.entity)
    for (name, value) in change.fields {
      if entity.attributesByName[name] != nil {
        try object.set(value, forKey: name)
      } else if let destination = entity.relationshipsByName[name]?.destinationEntity {
        try object.set(try (value as? UUID).flatMap { try self.object(destination.name, $0) }, forKey: name)
      }
    }
  }

  /// The object of a record.
  func object(_ entity: String, _ id: UUID) throws -> ManagedObject? {
    try context.all(entity, "id == %@", [id]).first
  }
}
