import CambiumCoreData
import CambiumEngine
import CambiumModels
import Testing

/// A directory of its own for a test, removed at the end.
final class Folder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("cambium-coredata-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}

/// The model of the talks, made as Core Data code makes one.
enum FlightLog {
  static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    return attribute
  }

  /// - Parameter version: 1 has `flightData` in `Aircraft`; 2 has `FlightData` as well; 3 has it instead. 0 has
  ///   neither.
  static func model(_ version: Int = 0) throws -> NSManagedObjectModel {
    let aircraft = NSEntityDescription()
    aircraft.name = "Aircraft"
    let colorScheme = NSCompositeAttributeDescription()
    colorScheme.name = "colorScheme"
    try colorScheme.setElements(
      ["primary", "secondary", "tertiary"].map { attribute($0, .stringAttributeType) })
    var properties: [NSPropertyDescription] = [
      attribute("aircraftCategory", .stringAttributeType), attribute("aircraftClass", .stringAttributeType),
      attribute("aircraftType", .stringAttributeType), attribute("photo", .binaryDataAttributeType),
      attribute("tailNumber", .stringAttributeType), attribute("numPassengers", .integer32AttributeType), colorScheme,
    ]
    if version == 1 || version == 2 { properties.append(attribute("flightData", .binaryDataAttributeType)) }
    var entities = [aircraft]

    func relate(_ name: String, _ other: NSEntityDescription) -> NSRelationshipDescription {
      let many = NSRelationshipDescription()
      many.name = name
      many.destinationEntity = other
      many.deleteRule = .cascadeDeleteRule
      let one = NSRelationshipDescription()
      one.name = "aircraft"
      one.destinationEntity = aircraft
      one.maxCount = 1
      many.inverseRelationship = one
      one.inverseRelationship = many
      other.properties = other.properties + [one]
      return many
    }

    let logEntry = NSEntityDescription()
    logEntry.name = "LogEntry"
    logEntry.properties = [attribute("minutes", .integer32AttributeType)]
    properties.append(relate("logEntries", logEntry))
    entities.append(logEntry)
    if version >= 2 {
      let flightData = NSEntityDescription()
      flightData.name = "FlightData"
      flightData.properties = [attribute("data", .binaryDataAttributeType)]
      properties.append(relate("flightParameters", flightData))
      entities.append(flightData)
    }
    aircraft.properties = properties
    let model = NSManagedObjectModel()
    model.entities = entities
    // As in Xcode's inspector of a version. By the numbers, a newer version may drop what it removes.
    model.versionIdentifiers = ["\(version)"]
    return model
  }

  /// Opens a store of a version.
  static func container(_ url: URL, _ model: NSManagedObjectModel) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Flights", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    try container.loadPersistentStores()
    return container
  }

  /// Compiles a model to where a bundle has its models.
  static func write(_ model: NSManagedObjectModel, _ name: String, in folder: Folder) throws {
    try write(model, name, in: folder.url)
  }

  /// Compiles a model to where a bundle has its models.
  static func write(_ model: NSManagedObjectModel, _ name: String, in folder: URL) throws {
    let place = folder.appendingPathComponent(name + ".cambiummodel")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    let version = ModelVersion(name: name, schema: try model.schema())
    for file in ModelFolder.compiledFiles([version], current: name) {
      try Data(file.bytes).write(to: place.appendingPathComponent(file.name))
    }
  }
}
