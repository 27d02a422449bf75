@testable import CambiumEngine

/// A small model with everything in it.
func exampleDefinition() -> SchemaDefinition {
  let location = CompositeSchema(
    "Location", elements: [AttributeSchema("latitude", .double), AttributeSchema("longitude", .double)])
  let place = CompositeSchema(
    "Place", elements: [AttributeSchema("name", .string), AttributeSchema("location", composite: "Location")])
  var flight = AttributeSchema("hours", .decimal, optional: false, default: 0)
  flight.minimum = 0
  flight.maximum = 20_000
  flight.userInfo = [UserInfoEntry(key: "unit", value: "h")]
  var tail = AttributeSchema("tailNumber", .string, optional: false, default: "")
  tail.regularExpression = "[A-Z0-9-]+"
  tail.maximum = 12
  var photo = AttributeSchema("photo", .binary)
  photo.allowsExternalBinaryDataStorage = true
  var cached = AttributeSchema("cached", .undefined)
  cached.isTransient = true
  let scheme = AttributeSchema(
    "colorScheme",
    elements: [
      AttributeSchema("primary", .string, default: "white"), AttributeSchema("secondary", .string),
      AttributeSchema("tertiary", .string),
    ])
  var vehicle = EntitySchema(
    "Vehicle", abstract: true, attributes: [tail, photo, cached],
    relationships: [RelationshipSchema("owner", to: "Pilot", inverse: "vehicles")], unique: [["tailNumber"]])
  vehicle.className = "VehicleObject"
  let aircraft = EntitySchema(
    "Aircraft", parent: "Vehicle",
    attributes: [
      flight, scheme, AttributeSchema("place", composite: "Place"), AttributeSchema("engines", .integer16, default: 1),
      AttributeSchema("weight", .float), AttributeSchema("isActive", .boolean), AttributeSchema("built", .date),
      AttributeSchema("token", .uuid), AttributeSchema("page", .uri), AttributeSchema("notes", .transformable),
    ],
    relationships: [RelationshipSchema("logEntries", toMany: "LogEntry", inverse: "aircraft", ordered: true)],
    indexes: [
      IndexSchema("byLatitude", [IndexElement("place.location.latitude", ascending: false), IndexElement("owner")]),
      IndexSchema(
        "area",
        [
          IndexElement("place.location.latitude", kind: .rTree), IndexElement("place.location.longitude", kind: .rTree),
        ],
        partialPredicate: "isActive == YES"),
    ], unique: [["tailNumber", "colorScheme.primary"]])
  var entries = EntitySchema(
    "LogEntry", attributes: [AttributeSchema("duration", .double), AttributeSchema("remarks", .string)],
    relationships: [RelationshipSchema("aircraft", to: "Aircraft", inverse: "logEntries")])
  entries.relationships[0].deleteRule = .deny
  entries.fetchedProperties = [
    FetchedPropertySchema("similar", request: FetchTemplate(entity: "LogEntry", predicate: "remarks == $x"))
  ]
  let pilot = EntitySchema(
    "Pilot", attributes: [AttributeSchema("name", .string)],
    relationships: [RelationshipSchema("vehicles", toMany: "Vehicle", inverse: "owner")])
  var result = SchemaDefinition([aircraft, vehicle, entries, pilot], composites: [place, location])
  result.versionIdentifiers = ["V1", "2026"]
  result.configurations = [ConfigurationSchema("Local", entities: ["Pilot"])]
  result.fetchTemplates = [NamedFetchTemplate("byName", FetchTemplate(entity: "Pilot", predicate: "name == $NAME"))]
  return result
}
