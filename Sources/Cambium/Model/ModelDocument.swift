import CambiumEngine
import CambiumKernel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// A model as JSON (or in any other coder's form): for tools and for models that are kept as resources. What has its usual
// value is left out.
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
//       "uniquenessConstraints": [["tailNumber"]] }],
//     "configurations": [{ "name": "Fleet", "entities": ["Aircraft"] }],
//     "fetchRequests": [{ "name": "Longest", "entity": "LogEntry", "predicate": "duration > $LEAST" }] }
//
// Values are JSON's where it has them; decimals, UUIDs and URIs are text, dates seconds since 2001-01-01 00:00 UTC,
// binaries base64, composites objects, and numbers that are not finite the texts "nan", "inf" and "-inf".
struct ModelDocument: Codable {
  var format = 1
  var versionIdentifiers: [String]?
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

/// A value of an attribute.
indirect enum CodedValue: Codable {
  case flag(Bool)
  case integer(Int64)
  case number(Double)
  case text(String)
  case elements([String: CodedValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let integer = try? container.decode(Int64.self) {
      self = .integer(integer)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else {
      self = .elements(try container.decode([String: CodedValue].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .flag(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .text(let value): try container.encode(value)
    case .elements(let values): try container.encode(values)
    }
  }

  init?(_ value: Value) {
    switch value {
    case .null, .list, .reference: return nil
    case .boolean(let flag): self = .flag(flag)
    case .integer(let integer): self = .integer(integer)
    case .decimal(let decimal): self = .text(decimal.description)
    case .double(let number), .date(let number): self.init(number)
    case .float(let number): self.init(Double(number))
    case .string(let text), .uri(let text): self = .text(text)
    case .binary(let bytes): self = .text(Data(bytes).base64EncodedString())
    case .uuid(let uuid): self = .text(uuid.text)
    case .composite(let composite):
      var values: [String: CodedValue] = [:]
      for (name, value) in zip(composite.names, composite.values) { values[name] = CodedValue(value) }
      self = .elements(values)
    }
  }

  private init(_ number: Double) { self = number.isFinite ? .number(number) : .text("\(number)") }

  /// The value in an attribute's type; `nil` if it is none. As deep as the attribute's elements.
  func value(of attribute: AttributeSchema) -> Value? {
    guard attribute.type == .composite else { return value(of: attribute.type) }
    guard case .elements(let coded) = self else { return nil }
    var names: [String] = []
    var values: [Value] = []
    for element in attribute.elements {
      guard let part = coded[element.name] else { continue }
      guard let value = part.value(of: element) else { return nil }
      names.append(element.name)
      values.append(value)
    }
    return names.count == coded.count ? .composite(CompositeValue(names: names, values: values)) : nil
  }

  func value(of type: AttributeType) -> Value? {
    switch (self, type) {
    case (.flag(let flag), .boolean): return .boolean(flag)
    case (.integer(let integer), .date): return .date(Double(integer))
    case (.number(let number), .date): return .date(number)
    case (.integer(let integer), _) where type.isNumeric: return type.coerce(.integer(integer))
    case (.number(let number), _) where type.isNumeric: return type.coerce(.double(number))
    case (.text(let text), .date): return Double(text).map { .date($0) }
    case (.text(let text), .double), (.text(let text), .float):
      return Double(text).flatMap { type.coerce(.double($0)) }
    case (.text(let text), .decimal): return DecimalValue(text).map { .decimal($0) }
    case (.text(let text), .binary), (.text(let text), .transformable):
      return Data(base64Encoded: text).map { .binary([UInt8]($0)) }
    case (.text(let text), .string), (.text(let text), .uuid), (.text(let text), .uri):
      return type.coerce(.string(text))
    default: return nil
    }
  }
}
