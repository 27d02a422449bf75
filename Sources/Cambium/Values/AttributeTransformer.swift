import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Makes bytes of the values of transformable attributes, and values of the bytes. Core Data: a `ValueTransformer` that
/// allows the reverse; Foundation's class of that name is another type.
///
///     struct ColorTransformer: AttributeTransformer {
///       func data(from value: Any) throws -> Data { Data((value as? Color)?.components ?? []) }
///       func value(from data: Data) throws -> Any { Color(components: Array(data)) }
///     }
///     AttributeTransformers.register(ColorTransformer(), forName: "ColorTransformer")
///
/// An attribute names its transformer by ``AttributeDescription/valueTransformerName``. Objects give and take its
/// values, stores and predicates have the bytes. Prefer composites where predicates have to look into the value.
public protocol AttributeTransformer: Sendable {
  /// The bytes to store; not called for `nil`. An error refuses the value.
  func data(from value: Any) throws -> Data
  /// The value that the bytes stand for.
  func value(from data: Data) throws -> Any
}

/// The transformers of the process, by name. Thread-safe.
public enum AttributeTransformers {
  private static let registry = Registry()

  private final class Registry: @unchecked Sendable {
    // `@unchecked`: touched with `lock` held only.
    private let lock = StateLock()
    private var transformers: [String: any AttributeTransformer] = [:]

    subscript(name: String) -> (any AttributeTransformer)? {
      get { lock.locked { transformers[name] } }
      set { lock.locked { transformers[name] = newValue } }
    }
  }

  /// Makes a transformer known under a name, in place of one that had it. Core Data:
  /// `ValueTransformer.setValueTransformer(_:forName:)`.
  public static func register(_ transformer: (any AttributeTransformer)?, forName name: String) {
    registry[name] = transformer
  }

  /// The transformer of a name.
  public static func transformer(forName name: String) -> (any AttributeTransformer)? {
    registry[name] ?? source?.transformer(forName: name)
  }

  /// The transformer of attributes that name none; `nil` if they hold bytes.
  static var unnamed: (any AttributeTransformer)? { source?.transformer(forName: nil) }

  /// Whether there is a transformer of attributes that name none.
  static var hasUnnamed: Bool { source != nil }

  /// The transformers of `CambiumCoreData`, if the program has that module. Nobody has to start them.
  private static let source =
    _typeByName("15CambiumCoreData22FoundationTransformersO") as? any AttributeTransformerSource.Type
}

/// Has transformers that nobody registers.
package protocol AttributeTransformerSource: SendableMetatype {
  /// The transformer of a name, or that of attributes which name none; `nil` if there is none.
  static func transformer(forName name: String?) -> (any AttributeTransformer)?
}

/// Stores values that are `Codable`, as JSON: `CodableTransformer<[String]>()`.
public struct CodableTransformer<Wrapped: Codable>: AttributeTransformer {
  /// A transformer for the type.
  public init() {}

  /// The value as JSON.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for a value of another type; what encoding throws.
  public func data(from value: Any) throws -> Data {
    guard let value = value as? Wrapped else {
      throw CambiumError(.invalidArgument, "a \(type(of: value)) is no \(Wrapped.self)")
    }
    // Some encoders refuse values that are neither array nor object.
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return try encoder.encode([value])
  }

  /// Reads what ``data(from:)`` made.
  ///
  /// - Throws: ``CambiumError/Code/fileReadCorruptFile``; what decoding throws.
  public func value(from data: Data) throws -> Any {
    guard let value = try JSONDecoder().decode([Wrapped].self, from: data).first else {
      throw CambiumError(.fileReadCorruptFile, "there is no \(Wrapped.self) in the bytes")
    }
    return value
  }
}

extension AttributeSchema {
  /// Whether the attribute, or an element of it, has a transformer. The depth is the schema's.
  var isTransformed: Bool {
    switch type {
    case .transformable: return valueTransformerName != nil || AttributeTransformers.hasUnnamed
    case .composite: return elements.contains { $0.isTransformed }
    default: return false
    }
  }

  /// Puts the bytes that transformers make in place of what a caller passed. What is no composite's dictionary, or
  /// names unknown elements, is left for the checks that follow.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` if a transformer is not registered, or refuses the value.
  func untransformed(_ value: Any?, path: String, entity: String) throws -> Any? {
    guard isTransformed, let value = unwrapped(value) else { return value }
    if type == .transformable {
      do { return try transformer(valueTransformerName, path, entity).data(from: value) } catch {
        throw failure(error, "the value", path, entity)
      }
    }
    var values: [String: Any]
    switch value {
    case let dictionary as [String: Any]: values = dictionary
    case let composite as any CompositeRepresentable: values = composite.compositeValues
    default: return value
    }
    for element in elements where element.isTransformed {
      guard let part = unwrapped(values[element.name]) else { continue }
      values[element.name] = try element.untransformed(part, path: path + "." + element.name, entity: entity)
    }
    return values
  }

  /// Puts the values that transformers make in place of bytes.
  ///
  /// - Throws: as ``untransformed(_:path:entity:)``.
  func transformed(_ value: Any?, path: String, entity: String) throws -> Any? {
    guard isTransformed, let value else { return value }
    if type == .transformable {
      guard let data = value as? Data else { return value }
      do { return try transformer(valueTransformerName, path, entity).value(from: data) } catch {
        throw failure(error, "the stored bytes", path, entity)
      }
    }
    guard var values = value as? [String: Any] else { return value }
    for element in elements where element.isTransformed {
      guard let part = values[element.name] else { continue }
      values[element.name] = try element.transformed(part, path: path + "." + element.name, entity: entity)
    }
    return values
  }

  private func transformer(_ name: String?, _ path: String, _ entity: String) throws -> any AttributeTransformer {
    let known =
      if let name { AttributeTransformers.transformer(forName: name) } else { AttributeTransformers.unnamed }
    if let known { return known }
    let isOfFoundation = name.map { $0.contains("UnarchiveFromData") } ?? true
    throw CambiumError(
      .invalidArgument,
      "'\(path)' of '\(entity)' needs the transformer '\(name ?? "")', which is not known; register it with "
        + "AttributeTransformers.register(_:forName:) before the attribute is used"
        + (isOfFoundation ? ", or use the product CambiumCoreData, which has Foundation's archives" : ""),
      entityName: entity, key: path)
  }

  private func failure(_ error: any Error, _ what: String, _ path: String, _ entity: String) -> any Error {
    // One that is not registered says so itself.
    if let error = error as? CambiumError, error.key != nil { return error }
    return CambiumError(
      .invalidArgument, "the transformer of '\(path)' of '\(entity)' refuses \(what): \(error)", entityName: entity,
      key: path, underlying: [error])
  }
}
