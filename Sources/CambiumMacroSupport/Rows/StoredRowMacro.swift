/// `@StoredRow`: how a structure is read from rows of an entity and written into them, and the entity's attributes.
///
///     @StoredRow struct Measurement { var time: DateValue; var value: Double? }
///     // nonisolated extension Measurement: StoredRow {
///     //   static var entityName: String { "Measurement" }
///     //   static var storedAttributes: [AttributeSchema] {
///     //     var attributes: [AttributeSchema] = []
///     //     attributes.append(AttributeSchema("time", of: { (row: Self) in row.time }))
///     //     attributes.append(AttributeSchema("value", of: { (row: Self) in row.value }))
///     //     return attributes
///     //   }
///     //   init(storedRow row: borrowing RowReader, fields: StoredFields) throws(EngineError) {
///     //     self.time = try fields.value(0, of: row)
///     //     self.value = try fields.value(1, of: row)
///     //   }
///     //   func store(_ fields: StoredFields, in row: RowWriter) throws(EngineError) {
///     //     try fields.set(0, to: self.time, of: row)
///     //     try fields.set(1, to: self.value, of: row)
///     //   }
///     // }
///
/// The compiler decides what the type of a property means, and whether it is optional: closures and overloads ask it.
/// Their arguments are statements of their own, because one expression with many overloads takes long to check. Types
/// that are known to be no attribute's are refused here, with the type to write instead.
enum StoredRowMacro {
  /// The source of the extension.
  static func extensions(_ request: CompilerMessage.AttachedMacro) throws(Refusal) -> String {
    let declaration = try TypeDeclaration(request.declSyntax.source, for: "@StoredRow")
    try check(declaration)
    guard let wanted = request.conformanceListSyntax?.source.trimmed, !wanted.isEmpty else {
      throw Refusal(
        message: "'@StoredRow' can add nothing here: the type is 'StoredRow' already; leave one of both out",
        offset: declaration.introducer.offset)
    }
    guard let type = request.extendedTypeSyntax?.source.trimmed, !type.isEmpty else {
      throw Refusal(message: "the compiler does not say which type '@StoredRow' is for", offset: 0)
    }
    var properties: [StoredRowProperty] = []
    for variable in declaration.variables {
      if let property = try StoredRowProperty(variable) { properties.append(property) }
    }
    if properties.isEmpty {
      throw Refusal(
        message: "'@StoredRow' finds no stored variables here: write 'var name: Type' for each attribute",
        offset: declaration.name.offset)
    }
    let access = Access(of: declaration, in: request.lexicalContext ?? []).text
    let arguments = try AttributeArguments(request.attributeSyntax.source, of: "@StoredRow")
    let entity = arguments[nil]?.text ?? ManagedMacro.literal(plain(declaration.name.text))
    let lines =
      ["\(access)static var entityName: Swift.String { \(entity) }"]
      + ["\(access)static var storedAttributes: [CambiumEngine.AttributeSchema] {"]
      + ["  var attributes: [CambiumEngine.AttributeSchema] = []"]
      + properties.map { "  attributes.append(\($0.attribute))" } + ["  return attributes", "}"]
      + ["\(access)init("]
      + ["  storedRow row: borrowing CambiumEngine.RowReader, fields: CambiumEngine.StoredFields"]
      + [") throws(CambiumEngine.EngineError) {"]
      + properties.enumerated().map { "  self.`\($1.name)` = try fields.value(\($0), of: row)" }
      + ["}", "\(access)func store("]
      + ["  _ fields: CambiumEngine.StoredFields, in row: CambiumEngine.RowWriter"]
      + [") throws(CambiumEngine.EngineError) {"]
      + properties.enumerated().map { "  try fields.set(\($0), to: self.`\($1.name)`, of: row)" } + ["}"]
    return "nonisolated extension \(type): CambiumEngine.StoredRow {\n" + lines.map { "  \($0)\n" }.joined() + "}"
  }

  private static func check(_ declaration: TypeDeclaration) throws(Refusal) {
    let kind = declaration.introducer
    guard kind.text == "struct" else {
      throw Refusal(
        message: "'@StoredRow' is for structures, because a row is a value: write 'struct \(declaration.name.text)' "
          + "instead of '\(kind.text) \(declaration.name.text)'", offset: kind.offset)
    }
    if declaration.isGeneric {
      throw Refusal(
        message: "'@StoredRow' is not for generic types, because an entity has one list of attributes: write one "
          + "structure for each type", offset: declaration.name.offset)
    }
    if let pattern = declaration.patterns.first {
      throw Refusal(
        message: "'@StoredRow' needs variables with one name each: write one 'var' for each name",
        offset: pattern.name.offset)
    }
    if let attribute = declaration.strayAttribute {
      throw Refusal(
        message: "'@StoredRow' cannot see whether this attribute holds, because it stands alone within '#if': write "
          + "the attribute without a condition", offset: attribute.offset)
    }
  }

  /// A name without backticks.
  private static func plain(_ name: String) -> String {
    name.hasPrefix("`") && name.hasSuffix("`") && name.utf8.count > 2 ? String(name.dropFirst().dropLast()) : name
  }
}
