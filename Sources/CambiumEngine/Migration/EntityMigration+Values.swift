import CambiumKernel

// Values that are converted one by one, when rows are written anew.

extension EntityMigration {
  /// What an attribute of the destination is in a row of the source; nil if its type does not hold the value.
  func value(
    of attribute: AttributeSchema, from: AttributeSchema?, in row: Row
  ) throws(EngineError) -> Value? {
    var value: Value? = try from.map { (from) throws(EngineError) in try row.value(from) } ?? .null
    if let from, let found = value { value = AttributeConversion.convert(found, from: from, to: attribute) }
    for move in match.moves where move.destinationPath.first == attribute.name {
      guard let current = value else { return nil }
      let moved = try self.moved(move, in: row)
      guard let moved else { return nil }
      // An element of a composite that nothing goes into does not make it one.
      if moved.isNull, current.isNull { continue }
      value = put(moved, move.destinationPath.dropFirst(), attribute, into: current)
    }
    if value?.isNull ?? false, from == nil || !attribute.isOptional { return attribute.storedDefault }
    return value
  }

  private func moved(_ move: AttributeMove, in row: Row) throws(EngineError) -> Value? {
    guard let first = move.sourcePath.first, let attribute = source.attribute(named: first) else { return .null }
    var value = try row.value(attribute)
    for name in move.sourcePath.dropFirst() {
      if case .composite(let composite) = value { value = composite[name] ?? .null }
    }
    if case .composite = value { return .null }
    return AttributeConversion.convert(value, from: move.source, to: move.destination)
  }

  private func put(
    _ value: Value, _ path: ArraySlice<String>, _ attribute: AttributeSchema, into current: Value
  ) -> Value {
    guard let name = path.first, let element = attribute.element(named: name) else { return value }
    var composite: CompositeValue
    if case .composite(let known) = current {
      composite = known
    } else {
      composite = CompositeValue(
        names: attribute.elements.map { $0.name }, values: attribute.elements.map { $0.storedDefault })
    }
    composite[name] = put(value, path.dropFirst(), element, into: composite[name] ?? .null)
    return .composite(composite)
  }
}

extension AttributeSchema {
  /// The default as rows hold it: a model may give any number that the type holds.
  var storedDefault: Value { coerce(defaultValue) ?? .null }
}
