extension AttributeSchema {
  /// Brings a value into the form that the attribute stores; `nil` if it cannot be, or would lose something.
  ///
  /// Null stays null. Booleans and numbers become the attribute's numeric type if it holds the number: an integer in
  /// range, a double or float where the number is whole enough to come back, a decimal by the shortest text of the
  /// double. Text becomes a URI or, if it is one, a UUID. Composites are brought into declared order, element by
  /// element; an unknown element cannot be.
  public func coerce(_ value: Value) -> Value? { Self.coerce(value, type, elements) }

  /// The same for an attribute of a type, which has `elements` if that is a composite.
  static func coerce(_ value: Value, _ type: AttributeType, _ elements: [AttributeSchema]) -> Value? {
    guard type == .composite else { return type.coerce(value) }
    switch value {
    case .null: return .null
    case .composite(let composite):
      if isInForm(composite, elements) { return value }
      var result: [Value] = []
      for element in elements {
        guard let coerced = element.coerce(composite[element.name] ?? .null) else { return nil }
        result.append(coerced)
      }
      for name in composite.names where !elements.contains(where: { $0.name == name }) { return nil }
      return .composite(CompositeValue(names: elements.map { $0.name }, values: result))
    default: return nil
    }
  }
}

extension EntitySchema {
  /// Brings a value into the form that the attribute at a place of ``allAttributes`` stores, as
  /// ``AttributeSchema/coerce(_:)`` does, without the attribute being copied for it.
  public func coerce(_ value: Value, at place: Int) -> Value? {
    allAttributes.withUnsafeBufferPointer { all in
      all.indices.contains(place) ? AttributeSchema.coerce(value, all[place].type, all[place].elements) : nil
    }
  }
}

extension AttributeSchema {
  /// Whether a composite has the declared elements in their order, with values of their types: there is nothing to
  /// bring into form then.
  private static func isInForm(_ composite: CompositeValue, _ elements: [AttributeSchema]) -> Bool {
    guard composite.count == elements.count else { return false }
    // In place, since elements would be copied for what is asked of them.
    return elements.withUnsafeBufferPointer { elements in
      for i in elements.indices {
        guard composite.names[i] == elements[i].name else { return false }
        if case .composite(let inner) = composite.values[i], elements[i].type == .composite {
          if !isInForm(inner, elements[i].elements) { return false }
        } else if !elements[i].type.holds(composite.values[i]) {
          return false
        }
      }
      return true
    }
  }
}
