import CambiumSourceText

/// A property of a model that the store keeps.
struct ModelProperty: Equatable {
  /// Without backticks.
  var name: String
  /// The initial value as written.
  var value: String?
  /// The metadata of `@Attribute` or `@Relationship` as source; `nil` if the property has neither.
  var metadata: String?
  /// Whether the written type is optional: then an initializer may leave it out.
  var isOptional: Bool
  /// Whether a value transformer, and not the type, decides how the value is stored.
  var isTransformable: Bool

  init(_ variable: TypeDeclaration.Variable) {
    name = variable.name.text
    value = variable.value?.text
    isOptional = variable.isOptional
    isTransformable = variable.isTransformable
    if let attribute = variable.attributes.first(where: { $0.name == "Attribute" || $0.name == "Relationship" }) {
      metadata = "CambiumSwiftData.Schema.\(attribute.name)\(Self.arguments(attribute.source))"
    }
  }

  /// The name as Swift source.
  var escaped: String { "`\(name)`" }

  /// The name of the stored property that tells the compiler whether an initializer has set this one.
  var marker: String { prefixed("_") }

  /// The name of the static property that has the key path.
  var path: String { prefixed("_$path_") }

  private func prefixed(_ prefix: String) -> String {
    var reader = SourceReader(name)
    let isPlain = reader.name() != nil && reader.isAtEnd
    return isPlain ? "\(prefix)\(name)" : "`\(prefix)\(name)`"
  }

  /// The brackets of an attribute with all that is in them.
  private static func arguments(_ source: String) -> String {
    var reader = SourceReader(source)
    reader.skipTrivia()
    guard reader.skip("@") else { return "()" }
    reader.skipAttributeName()
    let start = reader.position
    return reader.peek() == UInt8(ascii: "(") && reader.skipGroup() ? reader.text(from: start) : "()"
  }
}

extension TypeDeclaration.Variable {
  /// Whether the store keeps the variable: it is stored, belongs to an object, and is not `@Transient`.
  var isPersisted: Bool {
    !hasAccessors && !hasModifier("static") && !hasModifier("class")
      && !attributes.contains { $0.name == "Transient" }
  }

  /// Whether the written type is `T?`, `T!` or `Optional<T>`.
  var isOptional: Bool {
    guard let text = type?.text else { return false }
    return text.hasSuffix("?") || text.hasSuffix("!") || text.hasPrefix("Optional<")
      || text.hasPrefix("Swift.Optional<")
  }

  /// Whether the variable has `@Attribute(.transformable(by: ...))`.
  var isTransformable: Bool {
    guard let attribute = attributes.first(where: { $0.name == "Attribute" }),
      let arguments = try? AttributeArguments(attribute.source).arguments
    else { return false }
    return arguments.contains { $0.label == nil && $0.text.contains(".transformable") }
  }
}
