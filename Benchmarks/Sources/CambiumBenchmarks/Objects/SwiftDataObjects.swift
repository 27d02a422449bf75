@_spi(Stores) import CambiumSwiftData
import Foundation

/// Models in a context, as an application has them that uses SwiftData's names. Each workload takes a context of its
/// own.
///
/// The entities, indexes and rules are those of ``CambiumObjects``. The cache is as large, and no history is kept, as
/// there.
final class SwiftDataObjects: ObjectPeer {
  let name = "swiftdata"
  private let url: URL
  private var container: ModelContainer?
  private var aircraft: [PersistentIdentifier] = []

  init(directory: String) { url = URL(fileURLWithPath: directory + "/objects-swiftdata.cambium") }

  func create() throws {
    try close()
    try? FileManager.default.removeItem(at: url)
    let schema = Schema([AircraftModel.self, EntryModel.self, PaintedModel.self, LiveryModel.self])
    container = try ModelContainer(for: schema, configurations: [ModelConfiguration(url: url)]) {
      $0.cacheBytes = Tuning.cacheBytes
      $0.tracksHistory = false
    }
    aircraft = []
  }

  private func close() throws {
    guard let coordinator = container?.persistentStoreCoordinator else { return }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    container = nil
  }

  private func work<R>(_ body: (ModelContext) throws -> R) throws -> R {
    guard let container else { throw NotSupported() }
    return try body(ModelContext(container))
  }

  private func all(_ context: ModelContext) throws -> [AircraftModel] {
    try context.fetch(FetchDescriptor<AircraftModel>())
  }

  func insert(_ rows: ArraySlice<Aircraft>) throws {
    aircraft = try work { context in
      let made = rows.map { row in
        let model = AircraftModel(row)
        context.insert(model)
        return model
      }
      try context.save()
      return made.map { $0.persistentModelID }
    }
  }

  func insert(_ rows: ArraySlice<LogEntry>) throws {
    try work { context in
      for row in rows {
        let model = EntryModel(row)
        context.insert(model)
        model.aircraft = context.model(for: aircraft[row.aircraft - 1]) as? AircraftModel
      }
      try context.save()
    }
  }

  func readAll() throws -> Answer {
    try work { context in
      var answer = Answer()
      for model in try all(context) { answer.addProperties(model.values) }
      return answer
    }
  }

  func fetchAll() throws -> Answer { try work { context in Answer(count: try all(context).count) } }

  func walkAll() throws -> Answer {
    try work { context in
      var answer = Answer()
      try context.enumerate(FetchDescriptor<AircraftModel>()) { _ in answer.count += 1 }
      return answer
    }
  }

  func colours() throws -> Answer {
    try work { context in
      var answer = Answer()
      for model in try all(context) { answer.add(UInt64(model.colorScheme?.primary?.utf8.count ?? 0)) }
      return answer
    }
  }

  func hours() throws -> Answer {
    try work { context in
      var answer = Answer()
      for model in try all(context) { answer.add(model.hours) }
      return answer
    }
  }

  func change(_ count: Int, to hours: Double) throws {
    try work { context in
      var descriptor = FetchDescriptor<AircraftModel>()
      descriptor.fetchLimit = count
      for model in try context.fetch(descriptor) { model.hours = hours }
      try context.save()
    }
  }

  func tailNumbers(prefetched: Bool) throws -> Answer {
    try work { context in
      var answer = Answer()
      var descriptor = FetchDescriptor<EntryModel>()
      if prefetched { descriptor.relationshipKeyPathsForPrefetching = [\.aircraft] }
      for entry in try context.fetch(descriptor) {
        answer.add(UInt64(entry.aircraft?.tailNumber.utf8.last ?? 0))
      }
      return answer
    }
  }

  func distances(_ count: Int) throws -> Answer {
    try work { context in
      var answer = Answer()
      var descriptor = FetchDescriptor<AircraftModel>()
      descriptor.fetchLimit = count
      for model in try context.fetch(descriptor) {
        for entry in model.logEntries { answer.add(UInt64(entry.distance ?? 0)) }
      }
      return answer
    }
  }

  func deleteAll() throws {
    try work { context in
      for model in try all(context) { context.delete(model) }
      try context.save()
    }
  }

  func paint(_ rows: ArraySlice<Aircraft>) throws {
    try work { context in
      for row in rows { context.insert(PaintedModel(row)) }
      try context.save()
    }
  }

  func embeddedColours() throws -> Answer {
    try work { context in
      var answer = Answer()
      for model in try context.fetch(FetchDescriptor<PaintedModel>()) {
        answer.add(UInt64(model.colorScheme?.primary?.utf8.count ?? 0))
      }
      return answer
    }
  }

  func liveryColours(prefetched: Bool) throws -> Answer {
    try work { context in
      var answer = Answer()
      var descriptor = FetchDescriptor<PaintedModel>()
      if prefetched { descriptor.relationshipKeyPathsForPrefetching = [\.livery] }
      for model in try context.fetch(descriptor) {
        answer.add(UInt64(model.livery?.primary?.utf8.count ?? 0))
      }
      return answer
    }
  }

  func left() throws -> Answer {
    try work { context in
      let aircraft = try context.fetchCount(FetchDescriptor<AircraftModel>())
      let entries = try context.fetchCount(FetchDescriptor<EntryModel>())
      return Answer(count: aircraft, sum: UInt64(entries))
    }
  }

  func holding(_ body: () -> Void) throws {
    try work { context in
      let models = try all(context)
      var sum = 0.0
      for model in models { sum += model.hours }
      withExtendedLifetime((models, sum)) { body() }
    }
  }
}
