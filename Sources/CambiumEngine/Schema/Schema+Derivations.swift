extension Schema {
  /// What is wrong with how an attribute is derived; `nil` if nothing is, or it is not.
  public func derivationProblem(of attribute: AttributeSchema, in entity: EntitySchema) -> String? {
    guard let text = attribute.derivation else { return nil }
    guard let derivation = Derivation(text) else {
      return "the expression '\(text)' is not supported; use a key path, canonical:(), lowercase:() or uppercase:() of "
        + "one, a to-many relationship's @count or @sum, or now()"
    }
    guard let path = derivation.path else {
      return attribute.type == .date ? nil : "now() is a Date, and the attribute is a \(attribute.type.name)"
    }
    let resolved: ResolvedPath
    do throws(SchemaError) { resolved = try resolve(keyPath: path, from: entity.id) } catch { return error.description }
    var relationshipCount = 0
    for step in resolved.steps {
      switch step {
      case .toOne, .toMany: relationshipCount += 1
      case .attribute(let source):
        if source.derivation != nil { return "'\(path)' is derived itself" }
        if source.isTransient { return "'\(path)' is transient" }
      case .element, .objectID, .evaluatedObject: break
      }
    }
    switch derivation {
    case .keyPath, .text:
      if resolved.isToMany { return "'\(path)' leads through a to-many relationship; use @count or @sum" }
      guard let source = resolved.attribute else { return "'\(path)' is no attribute" }
      if case .text = derivation {
        guard source.type == .string, attribute.type == .string else {
          return "'\(path)' and the attribute must be strings"
        }
      } else if source.type != attribute.type {
        return "'\(path)' is a \(source.type.name), and the attribute a \(attribute.type.name)"
      }
      // Further away, a change would not be noticed.
      if relationshipCount > 1 { return "'\(path)' leads through more than one relationship" }
    case .count:
      guard case .toMany? = resolved.steps.last else { return "'\(path)' is no to-many relationship" }
      guard attribute.type.integerRange != nil else {
        return "a count is an integer, and the attribute a \(attribute.type.name)"
      }
    case .sum:
      guard case .toMany? = resolved.steps.first, relationshipCount == 1, resolved.attribute?.type.isNumeric == true
      else {
        return "'\(path)' is no number of the destinations of a to-many relationship"
      }
      guard attribute.type.isNumeric, attribute.type != .boolean else {
        return "a sum is a number, and the attribute a \(attribute.type.name)"
      }
    case .now: break
    }
    if relationshipCount > 0, case .toOne(let relationship, _)? = resolved.steps.first, relationship.inverse == nil {
      return "'\(relationship.name)' has no inverse, by which a change of '\(path)' could be noticed"
    }
    if case .toMany(let relationship, _)? = resolved.steps.first, relationship.inverse == nil {
      return "'\(relationship.name)' has no inverse, by which a change of it could be noticed"
    }
    return nil
  }
}

extension Derivation {
  /// Applies a form of text.
  public static func apply(_ form: TextForm, to text: String) -> String {
    switch form {
    case .canonical:
      return String(
        decoding: FoldedText(text, [.caseInsensitive, .diacriticInsensitive]).bytes, as: UTF8.self)
    case .lowercase: return text.lowercased()
    case .uppercase: return text.uppercased()
    }
  }
}
