extension ModelClass {
  /// The source of the generated members.
  var members: String { (parent.map(subclassMembers) ?? rootMembers) + "\nstruct _SwiftDataNoType {}" }

  private var rootMembers: String {
    let final = isFinal ? "" : "final "
    return """
      @exclusivity(unchecked) private var _$backingData = CambiumSwiftData.ModelStorage<\(name)>()
      \(accessText)var persistentBackingData: any CambiumSwiftData.BackingData<\(name)> {
        get { CambiumSwiftData.ModelBackingData(row: _$row) }
        set { _$backingData = CambiumSwiftData.ModelStorage(newValue) }
      }
      \(metadata("\(overridableAccessText)\(isFinal ? "static" : "class")", from: "[]"))
      \(isFinal ? "" : "required ")\(accessText)init(backingData: any CambiumSwiftData.BackingData<\(name)>) {
      \(unsetProperties)  _$backingData.take(backingData)
      }
      \(making)\(final)\(accessText)var _$row: CambiumSwiftData.ModelRow { _$held.counted }
      \(final)\(accessText)var _$held: CambiumSwiftData.HeldRow { _$backingData.held ?? _$join() }
      \(overridableAccessText)var _$levels: [CambiumSwiftData.ModelRow] { [_$backingData.row] }
      \(final)\(accessText)func _$join() -> CambiumSwiftData.HeldRow {
        \(isFinal ? "_$backingData.own(self)" : "let rows = _$levels\n  return _$backingData.own(rows, self)")
      }
      \(final)\(accessText)func _$attach(_ context: CambiumSwiftData.ModelContext?) {
        _ = _$held
        _$backingData.attach(context)
      }
      \(final)\(accessText)var _$context: CambiumSwiftData.ModelContext? { _$backingData.context }
      \(final)\(accessText)var _$observationRegistrar: CambiumSwiftData.ModelObservation {
        CambiumSwiftData.ModelObservation(_$row)
      }
      """
  }

  /// The initializer by which a context makes models of a final class. A class with subclasses has none, because each
  /// subclass would need one as well.
  private var making: String {
    guard isFinal else { return "" }
    return """
      private init(
        _$row row: borrowing CambiumSwiftData.ModelRow, _ context: borrowing CambiumSwiftData.ModelContext?
      ) {
      \(unsetProperties)  _$backingData.take(row, context, self)
      }
      \(accessText)static func _$make(_ row: CambiumSwiftData.ModelRow, _ context: CambiumSwiftData.ModelContext?)
        -> AnyObject?
      {
        \(name)(_$row: row, context)
      }

      """
  }

  private func subclassMembers(of parent: String) -> String {
    // A class that declares a designated initializer inherits none.
    let initializer =
      inheritsInitializers
      ? ""
      : """
      required \(accessText)init(backingData: any CambiumSwiftData.BackingData<\(parent).Root>) {
      \(unsetProperties)  super.init(backingData: backingData)
      }

      """
    return """
      @exclusivity(unchecked) private var _$backingData = CambiumSwiftData.ModelStorage<\(name)>()
      \(metadata("\(overridableAccessText)override class", from: "super.schemaMetadata"))
      \(initializer)\(overridableAccessText)override var _$levels: [CambiumSwiftData.ModelRow] {
        super._$levels + [_$backingData.row]
      }
      """
  }

  /// The metadata. Its key paths begin at the class that is asked, because `\Sub.name` differs from `\Base.name`.
  private func metadata(_ modifiers: String, from inherited: String) -> String {
    var lines = properties.map { property in
      var arguments = ["\(ManagedMacro.literal(property.name))"]
      arguments.append("\\_$Model.\(property.escaped)")
      arguments.append("\\\(name).\(property.escaped)")
      if let value = property.value {
        // Two slashes of one line may be a regular expression: the metadata stands on another line.
        arguments.append("default: \(value)" + (value.utf8.contains(UInt8(ascii: "/")) ? "\n      " : ""))
      }
      if let metadata = property.metadata { arguments.append("metadata: \(metadata)") }
      return "property(\(arguments.joined(separator: ", ")))"
    }
    for macro in declaration.macros where macro.name.text == "Unique" || macro.name.text == "Index" {
      let kind = macro.name.text
      lines.append("constraints(\"\(kind)\", CambiumSwiftData.Schema.\(kind)\(macro.arguments))")
    }
    if let originalName { lines.append("originalName(\(originalName), of: \(name).self)") }
    let appended = lines.map { "    _$list.append(.\($0))\n" }.joined()
    return """
      \(modifiers) var schemaMetadata: [CambiumSwiftData.Schema.PropertyMetadata] {
        func _$of<_$Model: \(name)>(_: _$Model.Type) -> [CambiumSwiftData.Schema.PropertyMetadata] {
          \(lines.isEmpty ? "let" : "var") _$list: [CambiumSwiftData.Schema.PropertyMetadata] = \(inherited)
      \(appended)    return _$list
        }
        return _$of(Self.self)
      }
      """
  }

  /// Statements that mark the properties without initial value as set: the backing data has their values.
  private var unsetProperties: String {
    properties.filter { $0.value == nil && !$0.isOptional }.map { "  \($0.marker) = _SwiftDataNoType()\n" }.joined()
  }
}
