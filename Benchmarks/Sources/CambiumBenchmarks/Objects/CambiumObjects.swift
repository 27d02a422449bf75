import Cambium
import Foundation

/// Objects in a context, as an application has them. Each workload takes a context of its own.
final class CambiumObjects: ObjectPeer {
  let name = "cambium"
  private let path: String
  private var container: PersistentContainer?
  private var aircraft: [ManagedObjectID] = []

  init(directory: String) { path = directory + "/objects.cambium" }

  func create() throws {
    try close()
    try? FileManager.default.removeItem(atPath: path)
    let made = PersistentContainer(name: "Objects", managedObjectModel: try objectModel())
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: path))
    description.cacheBytes = Tuning.cacheBytes
    made.persistentStoreDescriptions = [description]
    try made.loadPersistentStores()
    container = made
    aircraft = []
  }

  private func close() throws {
    guard let coordinator = container?.persistentStoreCoordinator else { return }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    container = nil
  }

  private func work<R>(_ body: (ManagedObjectContext) throws -> R) throws -> R {
    guard let container else { throw NotSupported() }
    let context = container.newBackgroundContext()
    return try context.performAndWait { try body(context) }
  }

  private func all(_ context: ManagedObjectContext) throws -> [AircraftObject] {
    try context.fetch(FetchRequest<AircraftObject>(entityName: "Aircraft"))
  }

  func insert(_ rows: ArraySlice<Aircraft>) throws {
    aircraft = try work { context in
      let made = rows.map { row in
        let object = AircraftObject(context: context)
        object.take(row)
        return object
      }
      try context.save()
      return made.map { $0.objectID }
    }
  }

  func insert(_ rows: ArraySlice<LogEntry>) throws {
    try work { context in
      for row in rows {
        let object = EntryObject(context: context)
        object.take(row)
        object.aircraft = context.object(with: aircraft[row.aircraft - 1]) as? AircraftObject
      }
      try context.save()
    }
  }

  func readAll() throws -> Answer {
    try work { context in
      var answer = Answer()
      for object in try all(context) { answer.addProperties(object.values) }
      return answer
    }
  }

  func fetchAll() throws -> Answer { try work { context in Answer(count: try all(context).count) } }

  func walkAll() throws -> Answer {
    try work { context in
      var answer = Answer()
      try context.enumerate(FetchRequest<AircraftObject>(entityName: "Aircraft")) { _ in answer.count += 1 }
      return answer
    }
  }

  func colours() throws -> Answer {
    try work { context in
      var answer = Answer()
      for object in try all(context) { answer.add(UInt64(object.colorScheme?.primary?.utf8.count ?? 0)) }
      return answer
    }
  }

  func hours() throws -> Answer {
    try work { context in
      var answer = Answer()
      for object in try all(context) { answer.add(object.hours) }
      return answer
    }
  }

  func change(_ count: Int, to hours: Double) throws {
    try work { context in
      let request = FetchRequest<AircraftObject>(entityName: "Aircraft")
      request.fetchLimit = count
      for object in try context.fetch(request) { object.hours = hours }
      try context.save()
    }
  }

  func tailNumbers(prefetched: Bool) throws -> Answer {
    try work { context in
      var answer = Answer()
      let request = FetchRequest<EntryObject>(entityName: "LogEntry")
      if prefetched { request.relationshipKeyPathsForPrefetching = ["aircraft"] }
      for entry in try context.fetch(request) {
        answer.add(UInt64(entry.aircraft?.tailNumber.utf8.last ?? 0))
      }
      return answer
    }
  }

  func distances(_ count: Int) throws -> Answer {
    try work { context in
      var answer = Answer()
      let request = FetchRequest<AircraftObject>(entityName: "Aircraft")
      request.fetchLimit = count
      for object in try context.fetch(request) {
        for entry in object.logEntries { answer.add(UInt64(entry.distance ?? 0)) }
      }
      return answer
    }
  }

  func deleteAll() throws {
    try work { context in
      for object in try all(context) { context.delete(object) }
      try context.save()
    }
  }

  func paint(_ rows: ArraySlice<Aircraft>) throws {
    try work { context in
      for row in rows {
        let object = PaintedObject(context: context)
        object.tailNumber = row.tailNumber
        object.colorScheme = Colours(primary: row.primary, secondary: row.secondary, tertiary: row.tertiary)
        let livery = LiveryObject(context: context)
        livery.primary = row.primary
        livery.secondary = row.secondary
        livery.tertiary = row.tertiary
        object.livery = livery
      }
      try context.save()
    }
  }

  func embeddedColours() throws -> Answer {
    try work { context in
      var answer = Answer()
      for object in try context.fetch(FetchRequest<PaintedObject>(entityName: "Painted")) {
        answer.add(UInt64(object.colorScheme?.primary?.utf8.count ?? 0))
      }
      return answer
    }
  }

  func liveryColours(prefetched: Bool) throws -> Answer {
    try work { context in
      var answer = Answer()
      let request = FetchRequest<PaintedObject>(entityName: "Painted")
      if prefetched { request.relationshipKeyPathsForPrefetching = ["livery"] }
      for object in try context.fetch(request) { answer.add(UInt64(object.livery?.primary?.utf8.count ?? 0)) }
      return answer
    }
  }

  func left() throws -> Answer {
    try work { context in
      let aircraft = try context.count(for: FetchRequest<AircraftObject>(entityName: "Aircraft"))
      let entries = try context.count(for: FetchRequest<EntryObject>(entityName: "LogEntry"))
      return Answer(count: aircraft, sum: UInt64(entries))
    }
  }

  func holding(_ body: () -> Void) throws {
    try work { context in
      let objects = try all(context)
      var sum = 0.0
      for object in objects { sum += object.hours }
      withExtendedLifetime((objects, sum)) { body() }
    }
  }
}
