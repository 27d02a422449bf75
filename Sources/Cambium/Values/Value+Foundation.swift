import CambiumEngine
import CambiumKernel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An optional of any type.
private protocol AnyOptional {
  var anyValue: Any? { get }
}

extension Optional: AnyOptional {
  fileprivate var anyValue: Any? { map { $0 as Any } }
}

/// What is inside of any number of optionals. (`String?` passed as `Any` is an `Any` that holds an optional.)
func unwrapped(_ value: Any?) -> Any? {
  var current = value
  while let some = current {
    switch _openExistential(some, do: usualContent) {
    case .plain: return some
    case .optional(let inner): current = inner
    case .unknown:
      guard let optional = some as? any AnyOptional else { return some }
      current = optional.anyValue
    }
  }
  return nil
}

/// Whether a value of `Any` holds an optional.
private enum Content {
  /// It is none.
  case plain
  /// It is one of a usual type, with this inside.
  case optional(Any?)
  /// It is of another type.
  case unknown
}

/// Tells the usual types by comparing them, because asking the runtime for a conformance takes much longer.
private func usualContent<T>(_ value: T) -> Content {
  if T.self == String.self || T.self == Int.self || T.self == Double.self || T.self == Bool.self { return .plain }
  if T.self == Date.self || T.self == [String: Any].self || T.self == UUID.self { return .plain }
  // Each cast is safe, because the comparison shows that the value has exactly this type.
  if T.self == String?.self { return .optional(unsafeBitCast(value, to: String?.self)) }
  if T.self == Int?.self { return .optional(unsafeBitCast(value, to: Int?.self)) }
  if T.self == Double?.self { return .optional(unsafeBitCast(value, to: Double?.self)) }
  if T.self == Bool?.self { return .optional(unsafeBitCast(value, to: Bool?.self)) }
  if T.self == Date?.self { return .optional(unsafeBitCast(value, to: Date?.self)) }
  return .unknown
}

extension Value {
  /// Converts what callers pass; `nil` if it is of a type that the engine has no value for.
  ///
  /// Dictionaries and arrays may be nested as deep as composites may.
  init?(foundation value: Any, depth: Int = 0) {
    guard depth <= Schema.compositeDepthLimit else { return nil }
    if let usual = Value(usual: value) {
      self = usual
      return
    }
    switch value {
    case let value as any AttributeRepresentable: self = value.attributeValue
    case let object as any ObjectIdentifying: self = .reference(object.reference)
    case let value as any CompositeRepresentable: self.init(composite: value.compositeValues, depth)
    case let values as [String: Any]: self.init(composite: values, depth)
    case let value as Value: self = value
    // By the very type: an empty array can be cast to one of bytes, whatever its elements are.
    case let bytes as [UInt8] where type(of: value) == [UInt8].self: self = .binary(bytes)
    case let values as [Any]: self.init(list: values, depth)
    case let values as Set<AnyHashable>: self.init(list: values.map { $0.base }, depth)
    default: return nil
    }
  }

  private init?(composite values: [String: Any], _ depth: Int) {
    var names: [String] = []
    var converted: [Value] = []
    for (name, value) in values.ordered(by: { $0.key < $1.key }) {
      names.append(name)
      guard let value = unwrapped(value) else {
        converted.append(.null)
        continue
      }
      guard let element = Value(foundation: value, depth: depth + 1) else { return nil }
      converted.append(element)
    }
    self = .composite(CompositeValue(names: names, values: converted))
  }

  private init?(list values: [Any], _ depth: Int) {
    var converted: [Value] = []
    for value in values {
      guard let value = unwrapped(value) else {
        converted.append(.null)
        continue
      }
      guard let element = Value(foundation: value, depth: depth + 1) else { return nil }
      converted.append(element)
    }
    self = .list(converted)
  }

  /// The value as callers see it; see ``ManagedObject/value(forKey:)``. `objects` makes the identifiers of references.
  func foundation(type: AttributeType, objects: (any ReferenceSpace)?) -> Any? {
    switch self {
    case .null: return nil
    case .boolean(let value): return value
    case .integer(let value):
      #if _pointerBitWidth(_64)
        return Int(value)
      #else
        // Where `Int` has 32 bits, only attributes that fit it are read as one.
        return type == .integer64 ? value : Int(exactly: value) ?? value
      #endif
    case .decimal: return Decimal(attributeValue: self)
    case .double(let value): return value
    case .float(let value): return value
    case .string(let value): return value
    case .date: return Date(attributeValue: self)
    case .binary: return Data(attributeValue: self)
    case .uuid: return UUID(attributeValue: self)
    case .uri(let text): return URL(string: text)
    case .reference(let reference): return objects.map { $0.identifier(of: reference) }
    case .composite(let composite):
      var result: [String: Any] = [:]
      for (name, value) in zip(composite.names, composite.values) {
        if let value = value.foundation(type: .undefined, objects: objects) { result[name] = value }
      }
      return result
    case .list(let values): return values.map { $0.foundation(type: .undefined, objects: objects) as Any }
    }
  }
}

extension AttributeSchema {
  /// Brings what a caller passed into the form that the attribute stores. Elements that a dictionary leaves out take
  /// their defaults.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` with the key path of the part that does not fit, for an element
  ///   that the composite does not have, and for a value that the type cannot hold (a number is rounded to the nearest
  ///   `Double` or `Float`, and to nothing else).
  func accept(_ value: Any?, path: String, entity: String) throws -> Value {
    guard let value = unwrapped(value) else { return .null }
    if type == .composite {
      let elements: [String: Any]
      switch value {
      case let dictionary as [String: Any]: elements = dictionary
      case let composite as any CompositeRepresentable: elements = composite.compositeValues
      case let value as Value:
        guard let coerced = coerce(value) else { fallthrough }
        return coerced
      default:
        if isFoundationNull(value) { return .null }
        throw misfit(value, path, entity, "assign a dictionary of its elements or a CompositeRepresentable")
      }
      for name in elements.keys.ordered() where element(named: name) == nil {
        let known = self.elements.map { $0.name }.joined(separator: ", ")
        throw CambiumError(
          .invalidArgument, "the composite '\(path)' of '\(entity)' has no element '\(name)'; it has: \(known)",
          entityName: entity, key: path + "." + name)
      }
      var values: [Value] = []
      for element in self.elements {
        guard let given = elements[element.name] else {
          values.append(element.initialValue)
          continue
        }
        values.append(try element.accept(given, path: path + "." + element.name, entity: entity))
      }
      return .composite(CompositeValue(names: self.elements.map { $0.name }, values: values))
    }
    let converted = Value(usual: value) ?? Value(foundation: value)
    guard let coerced = converted.flatMap({ coerce($0) }) ?? bridged(value) else {
      if isFoundationNull(value) { return .null }
      let advice =
        type == .transformable
        ? "name a transformer in the model, and register it with AttributeTransformers.register(_:forName:), or use the "
          + "product CambiumCoreData, which archives the value" : "assign a value of that type"
      throw misfit(value, path, entity, advice)
    }
    return coerced
  }

  private func misfit(_ value: Any, _ path: String, _ entity: String, _ advice: String) -> CambiumError {
    CambiumError(
      .invalidArgument,
      "'\(path)' of '\(entity)' is of type \(type.name) and cannot hold the \(Swift.type(of: value)) '\(value)'; \(advice)",
      entityName: entity, key: path)
  }
}
