/// A structure whose values are the attributes of one entity's rows. The macro ``StoredRow()`` writes the conformance.
public protocol StoredRow {
  /// The name of the entity.
  static var entityName: String { get }
  /// The attributes in the order of the properties.
  static var storedAttributes: [AttributeSchema] { get }
  /// Reads a row.
  ///
  /// - Throws: ``EngineError/typeMismatch(entity:property:expected:found:)`` if an attribute is null and the property
  ///   is not optional; ``EngineError/unsupported(_:)`` for a value that the property's type does not have;
  ///   ``EngineError/misuse(_:)`` for a row of another entity; kernel errors.
  init(storedRow row: borrowing RowReader, fields: StoredFields) throws(EngineError)
  /// Writes all properties into the row that was begun.
  ///
  /// - Throws: As the setters of ``RowWriter``.
  func store(_ fields: StoredFields, in row: RowWriter) throws(EngineError)
}

/// Makes a structure stand for the rows of an entity that has the structure's name: writes its ``StoredRow``.
///
///     @StoredRow struct Measurement {
///       var time: DateValue
///       var sensor: Int32
///       var value: Double?
///       var quality: Int16 = 0
///     }
///
///     let schema = try Schema(SchemaDefinition([
///       Measurement.entity(indexes: [IndexSchema("byTime", [IndexElement("time")])])
///     ]))
///
/// The stored variables are the attributes, by their names. Their types are `Int`, `Int8` to `Int64`, `UInt8` to
/// `UInt32`, `Double`, `Float`, `Bool`, `String`, `[UInt8]`, ``DateValue``, `UUIDBytes`, `DecimalValue`, other types
/// that are ``StoredValue``, and optionals of these. An optional variable is an optional attribute. An initial value is
/// the attribute's default, which rows show that are older than the attribute.
///
/// Computed and `static` variables, and constants with an initial value, are no attributes.
///
/// It works under Embedded Swift. The macro looks at the source alone, and the structure is read and written without
/// key paths, reflection or a dictionary.
@attached(
  extension, conformances: StoredRow, names: named(entityName), named(storedAttributes), named(init), named(store))
public macro StoredRow() = #externalMacro(module: "CambiumMacros", type: "StoredRowMacro")

/// Makes a structure stand for the rows of an entity with another name: see ``StoredRow()``.
///
/// - Parameter entity: The name of the entity.
@attached(
  extension, conformances: StoredRow, names: named(entityName), named(storedAttributes), named(init), named(store))
public macro StoredRow(_ entity: String) = #externalMacro(module: "CambiumMacros", type: "StoredRowMacro")

extension StoredRow {
  /// Describes the entity, for a ``SchemaDefinition``. Its parent and relationships can be set on the result.
  ///
  /// - Parameters:
  ///   - indexes: The indexes.
  ///   - unique: The uniqueness constraints, each the names of properties.
  public static func entity(indexes: [IndexSchema] = [], unique: [[String]] = []) -> EntitySchema {
    EntitySchema(entityName, attributes: storedAttributes, indexes: indexes, unique: unique)
  }
}

extension AttributeSchema {
  /// Describes the attribute of a property that always has a value. The closure tells the property's type, and is not
  /// called.
  public init<Content: StoredRow, T: StoredValue>(
    _ name: String, of property: (Content) -> T, default defaultValue: T? = nil
  ) {
    self.init(name, T.attributeType, optional: false, default: defaultValue?.storedValue ?? .null)
  }

  /// Describes the attribute of an optional property. The closure tells the property's type, and is not called.
  public init<Content: StoredRow, T: StoredValue>(
    _ name: String, of property: (Content) -> T?, default defaultValue: T? = nil
  ) {
    self.init(name, T.attributeType, optional: true, default: defaultValue?.storedValue ?? .null)
  }
}
