import CambiumEngine
import CambiumKernel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A value of an attribute.
indirect enum CodedValue: Codable {
  case flag(Bool)
  case integer(Int64)
  case number(Double)
  case text(String)
  case elements([String: CodedValue])
  case list([CodedValue])

  @_optimize(none)
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
    } else if let values = try? container.decode([CodedValue].self) {
      self = .list(values)
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
    case .list(let values): try container.encode(values)
    }
  }

  /// The value of an attribute of a type; `nil` for null.
  @_optimize(none)
  init?(_ value: Value, type: AttributeType) {
    if type == .undefined { self.init(ofAnyType: value) } else { self.init(value) }
  }

  /// A value that the attribute's type does not tell the type of.
  @_optimize(none)
  private init?(ofAnyType value: Value) {
    guard let name = Self.typeName(of: value) else { return nil }
    let content: CodedValue
    switch value {
    case .list(let values): content = .list(values.map { CodedValue(ofAnyType: $0) ?? .elements([:]) })
    case .composite(let composite):
      var elements: [String: CodedValue] = [:]
      for (name, value) in zip(composite.names, composite.values) {
        elements[name] = CodedValue(ofAnyType: value) ?? .elements([:])
      }
      content = .elements(elements)
    default:
      guard let plain = CodedValue(value) else { return nil }
      content = plain
    }
    self = .elements([name: content])
  }

  private static let listName = "List"

  private static func typeName(of value: Value) -> String? {
    switch value {
    case .null: return nil
    case .list: return listName
    case .boolean: return AttributeType.boolean.name
    case .integer: return AttributeType.integer64.name
    case .decimal: return AttributeType.decimal.name
    case .double: return AttributeType.double.name
    case .float: return AttributeType.float.name
    case .string: return AttributeType.string.name
    case .date: return AttributeType.date.name
    case .binary: return AttributeType.binary.name
    case .uuid: return AttributeType.uuid.name
    case .uri: return AttributeType.uri.name
    case .reference: return AttributeType.objectID.name
    case .composite: return AttributeType.composite.name
    }
  }

  @_optimize(none)
  private init?(_ value: Value) {
    switch value {
    // Attributes with a type have no lists.
    case .null, .list: return nil
    case .reference(let reference): self = .text(reference.description)
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

  @_optimize(none)
  private init(_ number: Double) { self = number.isFinite ? .number(number) : .text("\(number)") }

  /// The value in an attribute's type; `nil` if it is none.
  ///
  /// - Parameter types: The elements of the composite types that attributes and elements name.
  @_optimize(none)
  func value(of attribute: AttributeSchema, _ types: [String: [AttributeSchema]], depth: Int = 0) -> Value? {
    guard attribute.type == .composite else {
      return attribute.type == .undefined ? valueOfAnyType(depth) : value(of: attribute.type)
    }
    guard case .elements(let coded) = self, depth <= Schema.compositeDepthLimit else { return nil }
    var names: [String] = []
    var values: [Value] = []
    for element in attribute.compositeName.map({ types[$0] ?? [] }) ?? attribute.elements {
      guard let part = coded[element.name] else { continue }
      guard let value = part.value(of: element, types, depth: depth + 1) else { return nil }
      names.append(element.name)
      values.append(value)
    }
    return names.count == coded.count ? .composite(CompositeValue(names: names, values: values)) : nil
  }

  /// The value of what has its type's name with it; as deep as composites may be.
  private func valueOfAnyType(_ depth: Int) -> Value? {
    guard depth <= Schema.compositeDepthLimit, case .elements(let tagged) = self, tagged.count <= 1 else { return nil }
    guard let (name, content) = tagged.first else { return .null }
    if name == Self.listName {
      guard case .list(let coded) = content else { return nil }
      var values: [Value] = []
      for part in coded {
        guard let value = part.valueOfAnyType(depth + 1) else { return nil }
        values.append(value)
      }
      return .list(values)
    }
    guard let type = AttributeType.allCases.first(where: { $0.name == name }), type != .undefined else { return nil }
    guard type == .composite else { return content.value(of: type) }
    guard case .elements(let coded) = content else { return nil }
    var names: [String] = []
    var values: [Value] = []
    for (name, part) in coded.ordered(by: { $0.key < $1.key }) {
      guard let value = part.valueOfAnyType(depth + 1) else { return nil }
      names.append(name)
      values.append(value)
    }
    return .composite(CompositeValue(names: names, values: values))
  }

  @_optimize(none)
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
    case (.text(let text), .objectID): return ObjectReference(text).map { .reference($0) }
    default: return nil
    }
  }
}
