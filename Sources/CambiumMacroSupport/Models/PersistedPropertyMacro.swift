/// `@_PersistedProperty`: the accessors of a property of a model, and a stored property without size that stands for it
/// while the compiler checks whether initializers set it. Users do not write it; `@Model` does.
enum PersistedPropertyMacro {
  static func accessors(_ request: CompilerMessage.AttachedMacro) throws(Refusal) -> String {
    let property = try property(request)
    let name = property.escaped
    let key = "[\(property.isTransformable ? "transformable" : "model"): \(ManagedMacro.literal(property.name))]"
    return """
      @storageRestrictions(accesses: _$backingData, initializes: \(property.marker))
      init(initialValue) {
        _$backingData.begin\(property.isOptional ? "(unlessNil: initialValue)" : "") { $0\(key) = initialValue }
        \(property.marker) = _SwiftDataNoType()
      }
      get {
        let row = _$held
        row.access(self, keyPath: \\.\(name))
        return row.with { $0\(key) }
      }
      set { _$held.withMutation(of: self, keyPath: \\.\(name)) { $0\(key) = newValue } }
      """
  }

  static func peers(_ request: CompilerMessage.AttachedMacro) throws(Refusal) -> String {
    let property = try property(request)
    return "private var \(property.marker): _SwiftDataNoType\(property.isOptional ? "?" : "")"
      + (property.value == nil ? "" : " = _SwiftDataNoType()")
  }

  private static func property(_ request: CompilerMessage.AttachedMacro) throws(Refusal) -> ModelProperty {
    guard let variable = try variable(request.declSyntax.source) else {
      throw Refusal(message: "'@_PersistedProperty' goes with a variable of a model", offset: 0)
    }
    return ModelProperty(variable)
  }

  private static let prefix = "class X {"

  /// Reads a source as one member. Returns `nil` if the source declares no variable, or more than one.
  static func variable(_ source: String) throws(Refusal) -> TypeDeclaration.Variable? {
    do throws(Refusal) {
      // The source may end with a comment.
      let declaration = try TypeDeclaration("\(prefix)\(source)\n}")
      return declaration.variables.count == 1 ? declaration.variables.first : nil
    } catch {
      var refusal = error
      refusal.offset = max(0, refusal.offset - prefix.utf8.count)
      throw refusal
    }
  }
}
