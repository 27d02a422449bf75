/// How values of one attribute become values of another.
public enum AttributeConversion {
  /// A value of `from` as one of `to`: numbers become numbers of the other type (fractions are cut off towards zero,
  /// everything but zero is true), elements of composites are matched by name and renaming identifier, new ones take
  /// their defaults; null stays null. Other types have to be the same, or such that ``AttributeSchema/coerce(_:)``
  /// takes the value. `nil` if `to` does not hold the value.
  public static func convert(_ value: Value, from: AttributeSchema, to: AttributeSchema) -> Value? {
    convert(value, from: from, to: to, standIn: nil)
  }

  /// The same, with something in the place of each value that `to`, or an element of it, does not hold.
  static func convert(_ value: Value, from: AttributeSchema, to: AttributeSchema, standIn: Value?) -> Value? {
    if value.isNull { return .null }
    if from.type == .composite {
      guard to.type == .composite, case .composite(let composite) = value else { return standIn }
      var values: [Value] = []
      // The depth is bounded by the schema.
      for (place, element) in matchedElements(to, from).enumerated() {
        let new = to.elements[place]
        guard let element else {
          values.append(new.storedDefault)
          continue
        }
        let converted = convert(composite[element.name] ?? .null, from: element, to: new, standIn: standIn)
        guard let converted else { return nil }
        values.append(converted.isNull && !new.isOptional ? new.storedDefault : converted)
      }
      return .composite(CompositeValue(names: to.elements.map { $0.name }, values: values))
    }
    if from.type == to.type { return value }
    if from.type.isNumeric && to.type.isNumeric { return NumericConversion.convert(value, to: to.type) ?? standIn }
    return to.coerce(value) ?? standIn
  }

  /// Where ``convert(_:from:to:)`` fails, and with what type: a path of names that begins with `path`, one for each
  /// value that `to`, or an element of it, does not hold.
  static func misfits(
    _ value: Value, from: AttributeSchema, to: AttributeSchema, path: String
  ) -> [(path: String, type: AttributeType)] {
    guard from.type == .composite, to.type == .composite, case .composite(let composite) = value else {
      return convert(value, from: from, to: to) == nil ? [(path, to.type)] : []
    }
    var found: [(path: String, type: AttributeType)] = []
    // The depth is bounded by the schema.
    for (place, element) in matchedElements(to, from).enumerated() {
      guard let element else { continue }
      let new = to.elements[place]
      found += misfits(composite[element.name] ?? .null, from: element, to: new, path: path + "." + new.name)
    }
    return found
  }
}
