// A model as JSON (or in any other coder's form): for tools and for models that are kept as resources. What has its
// usual value is left out.
//
//   { "format": 1, "versionIdentifiers": ["2"],
//     "compositeTypes": [{ "name": "ColorScheme", "elements": [{ "name": "primary", "type": "String" }] }],
//     "entities": [{
//       "name": "Aircraft", "parent": "Vehicle", "isAbstract": true, "className": "Aircraft",
//       "attributes": [{ "name": "engines", "type": "Integer 16", "isRequired": true, "default": 1 },
//                      { "name": "colorScheme", "type": "Composite", "composite": "ColorScheme" }],
//       "relationships": [{ "name": "logEntries", "destination": "LogEntry", "inverse": "aircraft", "isToMany": true,
//                           "deleteRule": "Cascade" }],
//       "indexes": [{ "name": "byPrimary", "elements": [{ "path": "colorScheme.primary" }] }],
//       "uniquenessConstraints": [["tailNumber"]], "removed": ["color"] }],
//     "removedEntities": ["Hangar"],
//     "configurations": [{ "name": "Fleet", "entities": ["Aircraft"] }],
//     "fetchRequests": [{ "name": "Longest", "entity": "LogEntry", "predicate": "duration > $LEAST" }] }
//
// Values are JSON's where it has them; decimals, UUIDs and URIs are text, dates seconds since 2001-01-01 00:00 UTC,
// binaries base64, composites objects, lists arrays, identifiers of objects the text "entity/row", and numbers that are
// not finite the texts "nan", "inf" and "-inf". A default of an attribute without type, which may be of any, has its
// type's name: { "Date": 12.5 }, { "List": [{ "String": "a" }, {}] }, where {} is null.
struct ModelDocument: Codable {
  var format = 1
  var versionIdentifiers: [String]?
  var removedEntities: [String]?
  var compositeTypes: [CodedComposite]?
  var entities: [CodedEntity]
  var configurations: [CodedConfiguration]?
  var fetchRequests: [CodedRequest]?
}

struct CodedComposite: Codable {
  var name: String
  var elements: [CodedAttribute]
}

struct CodedEntity: Codable {
  var name: String
  var parent: String?
  var isAbstract: Bool?
  var className: String?
  var renamed: String?
  var versionHashModifier: String?
  var removed: [String]?
  var attributes: [CodedAttribute]?
  var relationships: [CodedRelationship]?
  var fetchedProperties: [CodedRequest]?
  var indexes: [CodedIndex]?
  var uniquenessConstraints: [[String]]?
  var userInfo: [String: String]?
}

struct CodedAttribute: Codable {
  var name: String
  var type: String
  var isRequired: Bool?
  var isTransient: Bool?
  var `default`: CodedValue?
  var minimum: CodedValue?
  var maximum: CodedValue?
  var pattern: String?
  var validation: [CodedValidation]?
  var derivation: String?
  var transformer: String?
  var isExternal: Bool?
  var isKeptInHistory: Bool?
  var composite: String?
  var elements: [CodedAttribute]?
  var renamed: String?
  var versionHashModifier: String?
  var userInfo: [String: String]?
}

struct CodedValidation: Codable {
  var predicate: String
  var warning: String?
}

struct CodedRelationship: Codable {
  var name: String
  var destination: String
  var inverse: String?
  var isToMany: Bool?
  var isOrdered: Bool?
  var minimumCount: UInt32?
  var maximumCount: UInt32?
  var deleteRule: String?
  var isRequired: Bool?
  var isTransient: Bool?
  var renamed: String?
  var versionHashModifier: String?
  var userInfo: [String: String]?
}

struct CodedIndex: Codable {
  struct Element: Codable {
    var path: String
    var isDescending: Bool?
    var isRTree: Bool?
  }

  var name: String
  var elements: [Element]
  var `where`: String?
}

struct CodedConfiguration: Codable {
  var name: String
  var entities: [String]
  var userInfo: [String: String]?
}

struct CodedRequest: Codable {
  var name: String
  var entity: String
  var predicate: String?
  var fetchLimit: UInt32?
  /// Of the request.
  var options: [String: String]?
  /// Of the fetched property.
  var userInfo: [String: String]?
}
