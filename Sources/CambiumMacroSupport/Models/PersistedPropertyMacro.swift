/// `@_PersistedProperty`: the accessors of a property of a model, and a stored property without size that stands for it
/// while the compiler checks whether initializers set it. Users do not write it; `@Model` does.
enum PersistedPropertyMacro {
  static func accessors(_ request: CompilerMessage.AttachedMacro) throws(Refusal) -> String {
    let property = try property(request)
    let name = property.escaped
    let path = keepsPath(request) ? "Self.\(property.path).keyPath" : "\\.\(name)"
    let key = "[\(property.isTransformable ? "transformable" : "model"): \(ManagedMacro.literal(property.name))]"
    return """
      @storageRestrictions(accesses: _$backingData, initializes: \(property.marker))
      init(initialValue) {
        _$backingData.begin\(property.isOptional ? "(unlessNil: initialValue)" : "") { $0\(key) = initialValue }
        \(property.marker) = _SwiftDataNoType()
      }
      get {
        let row = _$held
        row.access(self, keyPath: \(path))
        return row.with { $0\(key) }
      }
      set { _$held.withMutation(of: self, keyPath: \(path)) { $0\(key) = newValue } }
      """
  }

  static func peers(_ request: CompilerMessage.AttachedMacro) throws(Refusal) -> String {
    let property = try property(request)
    let marker =
      "private var \(property.marker): _SwiftDataNoType\(property.isOptional ? "?" : "")"
      + (property.value == nil ? "" : " = _SwiftDataNoType()")
    guard keepsPath(request), let model = modelName(request) else { return marker }
    return marker + "\n"
      + "private static let \(property.path) = CambiumSwiftData.ModelPath(\\\(model).\(property.escaped))"
  }

  /// Whether the class can have a key path as a static property: types within generic ones cannot, and an extension
  /// does not tell whether its type is generic.
  private static func keepsPath(_ request: CompilerMessage.AttachedMacro) -> Bool {
    guard let around = request.lexicalContext, !around.isEmpty else { return false }
    return around.allSatisfy { context in
      guard let type = try? TypeDeclaration(context.source) else { return false }
      return ["class", "struct", "enum", "actor"].contains(type.introducer.text) && !type.isGeneric
    }
  }

  /// The name of the class, as it is written.
  private static func modelName(_ request: CompilerMessage.AttachedMacro) -> String? {
    request.lexicalContext?.first.flatMap { try? TypeDeclaration($0.source) }?.name.text
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
