import CambiumKernel

// Values that are converted one by one, when rows are written anew.

extension EntityMigration {
  /// What an attribute of the destination is in a row of the source; nil if its type does not hold the value, unless
  /// there is something to take the place of each part that does not fit.
  func value(
    of attribute: AttributeSchema, from: AttributeSchema?, in row: Row, standIn: Value? = nil
  ) throws(EngineError) -> Value? {
    var value: Value? = try from.map { (from) throws(EngineError) in try row.value(from) } ?? .null
    if let from, let found = value {
      value = AttributeConversion.convert(found, from: from, to: attribute, standIn: standIn)
    }
    var nulls: [AttributeMove] = []
    for move in match.moves where move.destinationPath.first == attribute.name {
      guard let current = value, let moved = try self.moved(move, in: row, standIn) else { return nil }
      if moved.isNull {
        nulls.append(move)
      } else {
        value = put(moved, move.destinationPath.dropFirst(), attribute, into: current)
      }
    }
    // An element of a composite that nothing goes into does not make it one, and is null in one that there is.
    for move in nulls { value = put(.null, move.destinationPath.dropFirst(), attribute, into: value ?? .null) }
    if value?.isNull ?? false || isPlanted(.defaultOverStoredValue), from == nil || !attribute.isOptional {
      return attribute.storedDefault
    }
    return value
  }

  private func moved(_ move: AttributeMove, in row: Row, _ standIn: Value?) throws(EngineError) -> Value? {
    AttributeConversion.convert(
      try unmoved(move, in: row), from: move.source, to: move.destination, standIn: standIn)
  }

  /// What is to change its level, as it is in the source.
  private func unmoved(_ move: AttributeMove, in row: Row) throws(EngineError) -> Value {
    guard let first = move.sourcePath.first, let attribute = source.attribute(named: first) else { return .null }
    var value = try row.value(attribute)
    for name in move.sourcePath.dropFirst() {
      // What is not there has no elements.
      if case .composite(let composite) = value { value = composite[name] ?? .null } else { return .null }
    }
    return value
  }

  /// The paths in an attribute of the destination, and their types, that do not hold what a row has for them.
  func misfits(
    of attribute: AttributeSchema, from: AttributeSchema?, in row: Row
  ) throws(EngineError) -> [(path: String, type: AttributeType)] {
    var found: [(path: String, type: AttributeType)] = []
    if let from {
      found = AttributeConversion.misfits(try row.value(from), from: from, to: attribute, path: attribute.name)
    }
    for move in match.moves where move.destinationPath.first == attribute.name {
      found += AttributeConversion.misfits(
        try unmoved(move, in: row), from: move.source, to: move.destination, path: move.destinationText)
    }
    return found
  }

  /// The paths of elements that are needed, and null in a composite that is there.
  func missingElements(of attribute: AttributeSchema, in value: Value, path: String) -> [String] {
    guard case .composite(let composite) = value else { return [] }
    var found: [String] = []
    // The depth is bounded by the schema.
    for element in attribute.elements {
      let value = composite[element.name] ?? .null
      let path = path + "." + element.name
      if value.isNull, neededElements.contains(element.id) { found.append(path) }
      found += missingElements(of: element, in: value, path: path)
    }
    return found
  }

  private func put(
    _ value: Value, _ path: ArraySlice<String>, _ attribute: AttributeSchema, into current: Value
  ) -> Value {
    guard let name = path.first, let element = attribute.element(named: name) else {
      return value.isNull && !attribute.isOptional ? attribute.storedDefault : value
    }
    if value.isNull, current.isNull { return current }
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
