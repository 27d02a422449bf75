import CambiumEngine

/// An attribute of an entity or element of a composite, in a model builder.
public struct Attribute {
  private enum Kind {
    case plain(AttributeType)
    case named(String)
    case elements([Attribute])
    case derived(AttributeType, String)
  }

  private let name: String
  private let kind: Kind
  private let isOptional: Bool
  private let isTransient: Bool
  private let defaultValue: Any?
  private var changes: [(AttributeDescription) -> Void] = []

  /// An attribute of a built-in type.
  ///
  /// - Parameters:
  ///   - renamed: The renaming identifier: what the property was called in the earlier model.
  public init(
    _ name: String, _ type: AttributeType, optional: Bool = true, transient: Bool = false,
    default defaultValue: Any? = nil, minimum: Any? = nil, maximum: Any? = nil, pattern: String? = nil,
    renamed: String? = nil
  ) {
    self.name = name
    kind = .plain(type)
    isOptional = optional
    isTransient = transient
    self.defaultValue = defaultValue
    changes.append { attribute in
      attribute.minimumValue = minimum
      attribute.maximumValue = maximum
      attribute.regularExpression = pattern
      if let renamed { attribute.renamingIdentifier = renamed }
    }
  }

  /// An attribute of a composite type that the model declares with ``Composite``.
  public init(_ name: String, composite: String, optional: Bool = true, renamed: String? = nil) {
    self.init(name, .named(composite), optional: optional, renamed: renamed)
  }

  /// A composite attribute with elements of its own.
  public init(
    _ name: String, optional: Bool = true, renamed: String? = nil, @AttributeBuilder elements: () -> [Attribute]
  ) {
    self.init(name, .elements(elements()), optional: optional, renamed: renamed)
  }

  /// An attribute that is computed when an object is saved; see ``DerivedAttributeDescription``.
  public init(_ name: String, _ type: AttributeType, derived expression: String, renamed: String? = nil) {
    self.init(name, .derived(type, expression), optional: true, renamed: renamed)
  }

  private init(_ name: String, _ kind: Kind, optional: Bool, renamed: String?) {
    self.name = name
    self.kind = kind
    isOptional = optional
    isTransient = false
    defaultValue = nil
    if let renamed { changes.append { $0.renamingIdentifier = renamed } }
  }

  /// Returns the attribute with another predicate. A save checks the predicate for each value, and fails with the
  /// warning if it does not hold. See ``AttributeDescription/setValidationPredicates(_:withValidationWarnings:)``.
  ///
  ///     let tail = Attribute("tailNumber", .string).validated("SELF BEGINSWITH 'N'", warning: "begins with N")
  ///
  /// A predicate that cannot be read, or used for the attribute, makes compiling the model throw
  /// ``CambiumError/Code/invalidModel``.
  public func validated(_ format: String, _ arguments: Any?..., warning: String = "") -> Attribute {
    let rule: AttributeValidation
    do {
      rule = AttributeValidation(
        predicate: try FetchPredicate(format: format, argumentArray: arguments), warning: warning)
    } catch { rule = AttributeValidation(predicate: FetchPredicate(failure: error), warning: warning) }
    return with { $0.validationRules.append(rule) }
  }

  /// The attribute with more set on its description.
  public func with(_ change: @escaping (AttributeDescription) -> Void) -> Attribute {
    var result = self
    result.changes.append(change)
    return result
  }

  func description() throws -> AttributeDescription {
    let result: AttributeDescription
    switch kind {
    case .plain(let type): result = AttributeDescription(name, type)
    case .derived(let type, let expression):
      result = DerivedAttributeDescription(name, type, derivationExpression: expression)
    case .named(let type): result = CompositeAttributeDescription(name, compositeTypeName: type)
    case .elements(let elements):
      result = try CompositeAttributeDescription(name, elements: try elements.map { try $0.description() })
    }
    result.isOptional = isOptional
    result.isTransient = isTransient
    result.defaultValue = defaultValue
    for change in changes { change(result) }
    return result
  }
}

/// Collects the elements of a composite.
@resultBuilder public enum AttributeBuilder {
  /// One element.
  public static func buildExpression(_ element: Attribute) -> [Attribute] { [element] }
  /// Elements in a row.
  public static func buildBlock(_ elements: [Attribute]...) -> [Attribute] { elements.flatMap { $0 } }
  /// The elements of a loop.
  public static func buildArray(_ elements: [[Attribute]]) -> [Attribute] { elements.flatMap { $0 } }
}

/// A composite type that attributes use by name, in a model builder.
public struct Composite {
  private let name: String
  private let elements: [Attribute]

  /// A composite type of its elements.
  public init(_ name: String, @AttributeBuilder _ elements: () -> [Attribute]) {
    self.name = name
    self.elements = elements()
  }

  func description() throws -> CompositeAttributeDescription {
    try CompositeAttributeDescription(name, elements: try elements.map { try $0.description() })
  }
}
