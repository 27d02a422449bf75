import CambiumEngine

/// The tables' rows as entities: the colours are a composite, the aircraft of an entry a relationship.
struct CambiumModel {
  let schema: Schema
  let aircraft: EntitySchema
  let entry: EntitySchema

  init() throws {
    let scheme = CompositeSchema(
      "ColorScheme",
      elements: [
        AttributeSchema("primary", .string), AttributeSchema("secondary", .string),
        AttributeSchema("tertiary", .string),
      ])
    let aircraft = EntitySchema(
      "Aircraft",
      attributes: [
        AttributeSchema("tailNumber", .string, optional: false), AttributeSchema("category", .string),
        AttributeSchema("kind", .string), AttributeSchema("type", .string),
        AttributeSchema("colorScheme", composite: "ColorScheme"), AttributeSchema("year", .integer32),
        AttributeSchema("hours", .double), AttributeSchema("photo", .binary),
      ],
      relationships: [RelationshipSchema("logEntries", toMany: "LogEntry", inverse: "aircraft")],
      indexes: [IndexSchema("byPrimary", [IndexElement("colorScheme.primary")])], unique: [["tailNumber"]])
    let entry = EntitySchema(
      "LogEntry",
      attributes: [
        AttributeSchema("date", .date), AttributeSchema("flight", .integer32), AttributeSchema("distance", .integer32),
        AttributeSchema("delay", .double), AttributeSchema("remark", .string),
      ],
      relationships: [RelationshipSchema("aircraft", to: "Aircraft", inverse: "logEntries")],
      indexes: [IndexSchema("byDate", [IndexElement("date")])])
    try self.init(Schema(SchemaDefinition([aircraft, entry], composites: [scheme])))
  }

  /// The model that a store was made with.
  init(_ schema: Schema) throws {
    guard let aircraft = schema.entity(named: "Aircraft"), let entry = schema.entity(named: "LogEntry") else {
      throw NotSupported()
    }
    self.schema = schema
    self.aircraft = aircraft
    self.entry = entry
  }
}
