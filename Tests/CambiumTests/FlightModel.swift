import Cambium
import Foundation

/// The model of the seeds: a flight log.
enum FlightModel {
  static func make() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Composite("Location") {
        Attribute("latitude", .double)
        Attribute("longitude", .double)
        Attribute("altitude", .integer32)
      }
      Composite("Place") {
        Attribute("timeZone", .string)
        Attribute("location", composite: "Location")
      }
      Composite("ColorScheme") {
        Attribute("primary", .string)
        Attribute("secondary", .string)
        Attribute("tertiary", .string)
      }
      Entity("Airport") {
        Attribute("faaIdentifier", .string, optional: false)
        Attribute("icaoIdentifier", .string)
        Attribute("name", .string)
        Attribute("place", composite: "Place")
        ToMany("departures", "LogEntry", inverse: "origin")
        ToMany("arrivals", "LogEntry", inverse: "destination", deleteRule: .deny)
        Index("byName", "name")
        Unique("faaIdentifier")
      }
      Entity("Aircraft") {
        Attribute("tailNumber", .string)
        Attribute("aircraftType", .string)
        Attribute("aircraftClass", .string)
        Attribute("aircraftCategory", .string)
        Attribute("engines", .integer16, default: 1, minimum: 0, maximum: 8)
        Attribute("photo", .binary)
        Attribute("colorScheme", composite: "ColorScheme")
        ToMany("logEntries", "LogEntry", inverse: "aircraft", deleteRule: .cascade)
        Index("byTailNumber", "tailNumber")
        Index("byPrimary", "colorScheme.primary")
      }
      Entity("Pilot") {
        Attribute("name", .string, optional: false)
        Attribute("certificateID", .uuid)
        ToMany("logEntries", "LogEntry", inverse: "pilots", ordered: false)
        ToOne("licence", "Licence", inverse: "pilot", deleteRule: .cascade)
        ToMany("endorsements", "Endorsement", inverse: "pilot", ordered: true, deleteRule: .cascade, maximum: 3)
      }
      Entity("Licence") {
        Attribute("number", .string)
        ToOne("pilot", "Pilot", inverse: "licence")
      }
      Entity("Endorsement") {
        Attribute("title", .string)
        ToOne("pilot", "Pilot", inverse: "endorsements")
      }
      Entity("LogEntry") {
        Attribute("date", .date)
        Attribute("duration", .double)
        Attribute("remarks", .string)
        Attribute("number", .integer64)
        ToOne("origin", "Airport", inverse: "departures")
        ToOne("destination", "Airport", inverse: "arrivals")
        ToOne("aircraft", "Aircraft", inverse: "logEntries", deleteRule: .nullify)
        ToMany("pilots", "Pilot", inverse: "logEntries")
      }
    }
  }
}

/// The class of the seeds' worked example, its properties in an extension as there.
final class Aircraft: ManagedObject {}

extension Aircraft {
  class func fetchRequest() -> FetchRequest<Aircraft> { FetchRequest<Aircraft>(entityName: "Aircraft") }

  @Managed var aircraftCategory: String?
  @Managed var aircraftClass: String?
  @Managed var aircraftType: String?
  @Managed var colorScheme: [String: Any]?
  @Managed var photo: Data?
  @Managed var tailNumber: String?
  @Managed var logEntries: Set<ManagedObject>
}

enum PaintColor: String, AttributeRepresentable {
  case white, blue, gold
}

struct ColorScheme: CompositeRepresentable, Equatable {
  var primary: PaintColor?
  var secondary: PaintColor?
  var tertiary: PaintColor?

  init(_ primary: PaintColor?, _ secondary: PaintColor? = nil, _ tertiary: PaintColor? = nil) {
    self.primary = primary
    self.secondary = secondary
    self.tertiary = tertiary
  }

  init?(compositeValues values: [String: Any]) {
    primary = (values["primary"] as? String).flatMap { PaintColor(rawValue: $0) }
    secondary = (values["secondary"] as? String).flatMap { PaintColor(rawValue: $0) }
    tertiary = (values["tertiary"] as? String).flatMap { PaintColor(rawValue: $0) }
  }

  var compositeValues: [String: Any] {
    ["primary": primary as Any, "secondary": secondary as Any, "tertiary": tertiary as Any]
  }
}

/// A directory of its own for a test, removed at the end.
final class TemporaryDirectory {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("cambium-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// A container on a file of the directory.
  func container(
    _ name: String = "flights", model: ManagedObjectModel? = nil,
    configure: (PersistentStoreDescription) -> Void = { _ in }
  ) throws -> PersistentContainer {
    let container = PersistentContainer(name: name, managedObjectModel: try model ?? FlightModel.make())
    let description = PersistentStoreDescription(url: url.appendingPathComponent(name + ".cambium"))
    configure(description)
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    return container
  }
}

extension TemporaryDirectory {
  /// A container with a file for each of some configurations of a model.
  func container(
    _ model: ManagedObjectModel, configurations: [String], tracksHistory: Bool = false
  ) throws -> PersistentContainer {
    let container = PersistentContainer(name: "several", managedObjectModel: model)
    container.persistentStoreDescriptions = configurations.map { name in
      let description = PersistentStoreDescription(url: url.appendingPathComponent(name + ".cambium"))
      description.configuration = name
      description.tracksHistory = tracksHistory
      return description
    }
    try container.loadPersistentStores()
    return container
  }
}

/// A container in memory.
func memoryContainer(_ model: ManagedObjectModel? = nil) throws -> PersistentContainer {
  let container = PersistentContainer(name: "memory", managedObjectModel: try model ?? FlightModel.make())
  container.persistentStoreDescriptions = [PersistentStoreDescription(type: .inMemory)]
  try container.loadPersistentStores()
  return container
}

extension ManagedObjectContext {
  @discardableResult
  func make(_ entity: String, _ values: [String: Any?]) throws -> ManagedObject {
    let object = try insertNewObject(forEntityName: entity)
    for (key, value) in values.sorted(by: { $0.key < $1.key }) { try object.set(value, forKey: key) }
    return object
  }

  func all(
    _ entity: String, _ format: String? = nil, _ arguments: [Any?] = [], sort: [FetchSortDescriptor] = []
  ) throws -> [ManagedObject] {
    let request = FetchRequest<ManagedObject>(entityName: entity)
    request.predicate = try format.map { try FetchPredicate(format: $0, argumentArray: arguments) }
    request.sortDescriptors = sort
    return try fetch(request)
  }
}

/// The Cambium error that `body` throws; nil if it does not.
func cambiumError(_ body: () throws -> Void) -> CambiumError? {
  do {
    try body()
    return nil
  } catch { return error as? CambiumError }
}
