/// How a value breaks a rule of its attribute.
public enum RuleViolation: Equatable, Sendable {
  /// The value, or its length, is below the least allowed.
  case tooSmall
  /// The value, or its length, is above the greatest allowed.
  case tooLarge
  /// The string does not match the attribute's pattern.
  case noMatch

  /// What is the matter, to stand after the name of the value.
  var description: String {
    switch self {
    case .tooSmall: return "is below the least allowed"
    case .tooLarge: return "is above the greatest allowed"
    case .noMatch: return "does not match the pattern"
    }
  }
}

extension AttributeSchema {
  /// How a value of the attribute's type, but for composites, breaks its rules: the first of minimum, maximum and
  /// pattern; `nil` if it breaks none. Null breaks none; whether it is allowed, ``isOptional`` says. A pattern that
  /// cannot be read matches nothing.
  ///
  /// - Parameter pattern: What ``regularExpression`` was read as; it is read here if there is none.
  public func ruleViolation(of value: Value, pattern: StringPattern? = nil) -> RuleViolation? {
    let measured = value.measured
    if measured.compare(to: minimum) == .less { return .tooSmall }
    if measured.compare(to: maximum) == .greater { return .tooLarge }
    guard let regularExpression, case .string(let text) = value else { return nil }
    var expression = pattern
    if expression?.text != regularExpression { expression = try? StringPattern(regularExpression) }
    return expression?.matches(text) == true ? nil : .noMatch
  }

  /// The type of ``minimum`` and ``maximum``: integers where they are lengths.
  public var limitType: AttributeType { type == .string || type == .binary || type == .uri ? .integer64 : type }
}

extension Value {
  /// What limits are compared with: the length of a text or of data, or the value itself.
  ///
  /// Texts are counted in characters, as `String.count` has them. Under Embedded Swift, which does not bring the tables
  /// of what makes up a character, in Unicode scalars.
  var measured: Value {
    switch self {
    case .string(let text), .uri(let text):
      #if hasFeature(Embedded)
        return .integer(Int64(text.unicodeScalars.count))
      #else
        return .integer(Int64(text.count))
      #endif
    case .binary(let bytes): return .integer(Int64(bytes.count))
    default: return self
    }
  }
}

extension SchemaDefinition {
  /// The definition without the patterns and validation rules that cannot be used, and a sentence about each that was
  /// left out.
  public func withoutUnusableRules() -> (definition: SchemaDefinition, warnings: [String]) {
    var result = self
    var warnings: [String] = []
    for place in entities.indices {
      let attributes = entities[place].attributes
      Self.dropRules(&result.entities[place].attributes, as: attributes, entities[place].name, 0, &warnings)
    }
    // A condition on a composite is about its elements, which one of a named type has from there.
    var builder = SchemaBuilder(self)
    let expanded = (try? builder.expandComposites()) ?? composites.map { $0.elements }
    for place in composites.indices where place < expanded.count {
      Self.dropRules(
        &result.composites[place].elements, as: expanded[place], composites[place].name, 0, &warnings)
    }
    return (result, warnings)
  }

  /// - Parameter expanded: The same attributes, with the elements of their types.
  private static func dropRules(
    _ attributes: inout [AttributeSchema], as expanded: [AttributeSchema], _ place: String, _ depth: Int,
    _ warnings: inout [String]
  ) {
    // Deeper ones no schema has.
    guard depth <= Schema.compositeDepthLimit else { return }
    for index in attributes.indices where index < expanded.count {
      let here = place + "." + attributes[index].name
      if let pattern = attributes[index].regularExpression,
        let reason = SchemaBuilder.problem(ofPattern: pattern, type: attributes[index].type)
      {
        warnings.append("\(here): the pattern '\(pattern)' is left out: \(reason)")
        attributes[index].regularExpression = nil
      }
      let rules = attributes[index].validationRules
      if !rules.isEmpty {
        attributes[index].validationRules = rules.filter { rule in
          guard let reason = SchemaBuilder.problem(of: rule, expanded[index]) else { return true }
          warnings.append("\(here): the validation predicate '\(rule.predicate)' is left out: \(reason)")
          return false
        }
      }
      if !attributes[index].elements.isEmpty {
        dropRules(&attributes[index].elements, as: expanded[index].elements, here, depth + 1, &warnings)
      }
    }
  }
}
