// An inspector of a store, which goes down to what is under it, and an actor whose executor is made by hand.
// Expected output:
//   configurations: equal true, other false
//   valid: true, makes the folder: true
//   versions: 1 2 3, forms equal: true
//   keys: true true, to Track
//   error: missingModelContext true, underlying none
//   cause: validationRelationshipExceedsMaximumCount (1590) bonus of Album
//   under it: 2 entities, Album Track, one store true
//   the same changes: 1 1
//   elements: Track Track
//   metadata: ["title"] and by hand code
//   by hand: 3 on its own queue true
//   history is for later: true
//   editing: author Ada, same part true
import Cambium
import CambiumSwiftData
import Foundation

typealias Configuration = CambiumSwiftData.ModelConfiguration

@Model final class Album {
  var title: String
  @Relationship(inverse: \Track.album) var tracks: [Track] = []
  @Relationship(maximumModelCount: 2) var bonus: [Track]?
  init(title: String) { self.title = title }
}

@Model final class Track {
  var title: String
  var album: Album?
  var original: Album!
  init(title: String) { self.title = title }
}

/// An executor that counts the jobs it hands on.
final class CountingExecutor: SerialModelExecutor, @unchecked Sendable {
  private let inner: DefaultSerialModelExecutor
  var modelContext: ModelContext { inner.modelContext }
  init(_ context: ModelContext) { inner = DefaultSerialModelExecutor(modelContext: context) }
  func enqueue(_ job: consuming ExecutorJob) { inner.enqueue(job) }
  func asUnownedSerialExecutor() -> UnownedSerialExecutor { inner.asUnownedSerialExecutor() }
}

actor Counter: CambiumSwiftData.ModelActor {
  nonisolated let modelContainer: ModelContainer
  nonisolated let modelExecutor: any ModelExecutor

  init(_ container: ModelContainer) {
    modelContainer = container
    modelExecutor = CountingExecutor(ModelContext(container))
  }

  func add(_ count: Int) throws -> Int {
    for number in 0..<count { modelContext.insert(Album(title: "\(number)")) }
    try modelContext.save()
    return try modelContext.fetchCount(FetchDescriptor<Album>())
  }

  func isOnMain() -> Bool { Thread.isMainThread }
}

func element<C: RelationshipCollection>(of type: C.Type) -> String { "\(C.PersistentElement.self)" }

@main struct Main {
  static func main() async throws {
    let automatic = Configuration(
      "a", isStoredInMemoryOnly: true, groupContainer: .automatic, cloudKitDatabase: .automatic)
    let plain = Configuration("a", isStoredInMemoryOnly: true)
    let cloud = Configuration(
      "a", isStoredInMemoryOnly: true, groupContainer: .none, cloudKitDatabase: .private("iCloud.x"))
    print("configurations: equal \(automatic == plain), other \(cloud == plain)")
    try Configuration("inspected").validate()
    let exists = FileManager.default.fileExists(atPath: Configuration.defaultDirectory.path)
    print("valid: true, makes the folder: \(exists)")

    let version = Schema.Version(1, 2, 3)
    let schema = Schema([Album.self], version: version)
    print(
      "versions: \(version.major) \(version.minor) \(version.patch),",
      "forms equal: \(schema.encodingVersion == Schema.schemaEncodingVersion)")
    let tracks = schema.entity(for: Album.self)?.relationshipsByName["tracks"]
    print(
      "keys: \(tracks?.keypath != nil) \(tracks?.inverseKeyPath == \Track.album), to \(tracks?.destination ?? "nil")")

    let container = try ModelContainer(for: schema, configurations: plain)
    let context = ModelContext(container)
    let other = ModelContext(container)
    let album = Album(title: "One")
    context.insert(album)
    other.insert(album)
    do { try other.save() } catch let error as SwiftDataError {
      let isMissing = error == .missingModelContext && SwiftDataError.missingModelContext ~= error
      print("error: missingModelContext \(isMissing), underlying \(error.underlying.map { "\($0)" } ?? "none")")
    }
    other.rollback()
    let second = Album(title: "Two")
    second.bonus = ["a", "b", "c"].map { Track(title: $0) }
    other.insert(second)
    do { try other.save() } catch let error as SwiftDataError {
      let cause = error.underlying as? CambiumError
      print("cause: \(cause.map { "\($0.code)" } ?? "none") \(cause?.key ?? "none") of \(cause?.entityName ?? "none")")
    } catch { print("cause: \(error)") }
    other.rollback()

    let names = container.managedObjectModel.entities.map(\.name).sorted()
    let stores = container.persistentStoreCoordinator.persistentStores
    print("under it: \(names.count) entities, \(names.joined(separator: " ")), one store \(stores.count == 1)")
    print("the same changes:", context.insertedModelsArray.count, context.managedObjectContext.insertedObjects.count)
    print("elements:", element(of: [Track].self), element(of: [Track]?.self))
    let attribute = Schema.Attribute(name: "code", options: [.unique], valueType: String.self)
    let properties = schema.entitiesByName["Album"]?.attributes.map(\.name).sorted() ?? []
    print("metadata: \(properties) and by hand \(attribute.name)")
    context.rollback()

    let counter = Counter(container)
    let count = try await counter.add(3)
    print("by hand: \(count) on its own queue \(!(await counter.isOnMain()))")
    print("history is for later:", SwiftDataError.historyTokenExpired != .backwardMigration)
    context.author = "Ada"
    let state = context.editingState
    context.editingState = state
    print("editing: author \(state.author ?? "nil"), same part \(context.editingState.id == state.id)")
  }
}
