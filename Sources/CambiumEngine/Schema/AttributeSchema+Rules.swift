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
  /// How a value of the attribute's type, but for composites, breaks its rules: the first of minimum, maximum and pattern;
  /// `nil` if it breaks none. Null breaks none; whether it is allowed, ``isOptional`` says. A pattern that cannot be read
  /// matches nothing.
  ///
  /// - Parameter pattern: What ``regularExpression`` was read as; it is read here if there is none.
  public func ruleViolation(of value: Value, pattern: StringPattern? = nil) -> RuleViolation? {
    let measured: Value
    switch value {
    case .string(let text), .uri(let text): measured = .integer(Self.length(of: text))
    case .binary(let bytes): measured = .integer(Int64(bytes.count))
    default: measured = value
    }
    if measured.compare(to: minimum) == .less { return .tooSmall }
    if measured.compare(to: maximum) == .greater { return .tooLarge }
    guard let regularExpression, case .string(let text) = value else { return nil }
    var expression = pattern
    if expression?.text != regularExpression { expression = try? StringPattern(regularExpression) }
    return expression?.matches(text) == true ? nil : .noMatch
  }

  /// The type of ``minimum`` and ``maximum``: integers where they are lengths.
  public var limitType: AttributeType { type == .string || type == .binary || type == .uri ? .integer64 : type }

  /// How long limits find a string: in characters, as `String.count` has them. Under Embedded Swift, which does not bring the
  /// tables of what makes up a character, in Unicode scalars.
  private static func length(of text: String) -> Int64 {
    #if hasFeature(Embedded)
      return Int64(text.unicodeScalars.count)
    #else
      return Int64(text.count)
    #endif
  }
}

extension SchemaDefinition {
  /// The definition without the patterns that cannot be used, and a sentence about each that was left out.
  public func withoutUnusablePatterns() -> (definition: SchemaDefinition, warnings: [String]) {
    var result = self
    var warnings: [String] = []
    for place in entities.indices {
      Self.dropPatterns(&result.entities[place].attributes, entities[place].name, 0, &warnings)
    }
    for place in composites.indices {
      Self.dropPatterns(&result.composites[place].elements, composites[place].name, 0, &warnings)
    }
    return (result, warnings)
  }

  private static func dropPatterns(
    _ attributes: inout [AttributeSchema], _ place: String, _ depth: Int, _ warnings: inout [String]
  ) {
    // Deeper ones no schema has.
    guard depth <= Schema.compositeDepthLimit else { return }
    for index in attributes.indices {
      let here = place + "." + attributes[index].name
      if let pattern = attributes[index].regularExpression,
        let reason = SchemaBuilder.problem(ofPattern: pattern, type: attributes[index].type)
      {
        warnings.append("\(here): the pattern '\(pattern)' is left out: \(reason)")
        attributes[index].regularExpression = nil
      }
      if !attributes[index].elements.isEmpty {
        dropPatterns(&attributes[index].elements, here, depth + 1, &warnings)
      }
    }
  }
}
