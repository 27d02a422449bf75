// Checks for the readers of model files, which leave out the parts that a model cannot have.

extension Schema {
  /// Whether bytes begin as those of a stored model do (``encoded()``), and not as XML.
  public static func isEncoded(_ bytes: [UInt8]) -> Bool { bytes.starts(with: signature) }

  /// Returns the fault of an index of one of the schema's entities; `nil` if it has none. An index of
  /// the same name is not looked for.
  @_optimize(none)
  public func problem(of index: IndexSchema, in entity: EntitySchema) -> SchemaError? {
    SchemaBuilder.problem(of: index, entity: entity, in: self)
  }
}

extension AttributeSchema {
  /// Returns the fault of a pattern for attributes of a type; `nil` if it has none.
  @_optimize(none)
  public static func problem(ofPattern pattern: String, type: AttributeType) -> String? {
    SchemaBuilder.problem(ofPattern: pattern, type: type)
  }
}
