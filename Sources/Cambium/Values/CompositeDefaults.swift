import CambiumEngine

// Defaults of the elements of composites, by the model's rules.

extension AttributeSchema {
  /// The value that the attribute takes if the application gives none: its default. A required composite without a
  /// default of its own begins with the defaults of its elements, if there are any.
  var initialValue: Value {
    if type != .composite || isOptional || !defaultValue.isNull { return defaultValue }
    let composite = initialElements
    return composite.values.allSatisfy { $0.isNull } ? .null : .composite(composite)
  }

  /// The elements of a composite that comes into being. The depth is the schema's.
  var initialElements: CompositeValue {
    CompositeValue(names: elements.map { $0.name }, values: elements.map { $0.initialValue })
  }

  /// Whether an element, at any depth, takes a value if the application gives none.
  var hasInitialElements: Bool { elements.contains { !$0.initialValue.isNull || $0.hasInitialElements } }

  /// Returns a composite with the initial values of the elements that it leaves out.
  func completed(_ value: Value) -> Value {
    guard case .composite(var composite) = value else { return value }
    for element in elements {
      composite[element.name] = composite[element.name].map { element.completed($0) } ?? element.initialValue
    }
    return .composite(composite)
  }
}
