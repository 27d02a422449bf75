// What the examples in the comments of Sources/Cambium take for granted, for `.ci/docs`: each is compiled after this by itself.

final class LogEntry: ManagedObject {
  @Managed var minutes: Int
}

final class Airport: ManagedObject {}

final class Leg: ManagedObject {}

extension LogEntry: FetchPaths {
  struct Paths: Sendable { let minutes = FetchPath<LogEntry, Int>("minutes") }
  static let paths = Paths()
}

extension ColorScheme: FetchPaths {
  struct Paths: Sendable { let primary = FetchPath<ColorScheme, PaintColor>("primary") }
  static let paths = Paths()
}

struct Place: FetchPaths {
  struct Paths: Sendable { let location = FetchPath<Place, Location>("location") }
  static let paths = Paths()
}

struct Location: FetchPaths {
  struct Paths: Sendable {
    let latitude = FetchPath<Location, Double>("latitude")
    let longitude = FetchPath<Location, Double>("longitude")
  }
  static let paths = Paths()
}

extension Aircraft.Paths {
  var place: FetchPath<Aircraft, Place> { FetchPath("place") }
}

struct Color {
  var components: [UInt8]
}

struct BackgroundTask {
  let isCancelled = false
}

extension String {
  func localizedStandardCompare(_ other: String) -> ComparisonResult { self < other ? .orderedAscending : .orderedDescending }
}

let show: @Sendable ([Aircraft]) -> Void = { _ in }

let url = URL(fileURLWithPath: "Flights.store")
let (old, new, folder) = (url, url, url)
let model = ManagedObjectModel()
let (v1, v2) = (ManagedObjectModel(), ManagedObjectModel())
let container = PersistentContainer(name: "Flights", managedObjectModel: model)
let coordinator = container.persistentStoreCoordinator
let context = container.newBackgroundContext()
let store = coordinator.persistentStores[0]
let description = PersistentStoreDescription(url: url)
let request = FetchRequest<Aircraft>(entityName: "Aircraft")
let aircraft = Aircraft(context: context)
let (flight, pilot) = (aircraft as ManagedObject, aircraft as ManagedObject)
let task = BackgroundTask()
let lightweightStage = LightweightMigrationStage([""])
let reference = ManagedObjectModelReference(model: model, versionChecksum: "")
let (second, third) = (reference, reference)
let customStage = CustomMigrationStage(migratingFrom: second, to: third)
let stage = customStage
let mapping = MappingModel()
let other = container.newBackgroundContext()
let isCancelled = false
let count: @Sendable (Set<ManagedObject>) -> Void = { _ in }
var token: PersistentHistoryToken?
