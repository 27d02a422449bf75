import CambiumKernel

/// What conditions of a predicate, all of which have to hold, say about the places that a spatial index has.
struct SpatialCondition {
  /// No row outside of the area meets the conditions. Of those inside, the predicate is asked.
  let area: SpatialArea

  /// nil if the conditions don't confine the places, or rows without a place may meet them: the index lacks those.
  init?(_ conjuncts: [Comparison], _ maker: KeyMaker) {
    guard maker.isSpatial, maker.paths.count == 2 else { return nil }
    for comparison in conjuncts {
      if let area = Self.around(comparison, maker) {
        self.area = area
        return
      }
    }
    guard let x = Self.bounds(maker.paths[0], maker.types[0], conjuncts),
      let y = Self.bounds(maker.paths[1], maker.types[1], conjuncts)
    else { return nil }
    area = .box(SpatialBox(x: x, y: y))
  }

  // MARK: Boxes

  /// The least and the greatest ordered bits of what conditions on a path let through; nil if there are none that null does
  /// not meet.
  private static func bounds(
    _ path: String, _ type: AttributeType?, _ conjuncts: [Comparison]
  ) -> (low: UInt64, high: UInt64)? {
    var low: UInt64 = 0
    var high = KeyEncoder.orderedBits(.infinity)
    var isConfined = false
    for c in conjuncts where c.modifier == .direct && c.options.isEmpty {
      guard let (comparator, value) = constant(c, comparedWith: .keyPath(path)) else { continue }
      switch comparator {
      case .equal, .less, .lessOrEqual, .greater, .greaterOrEqual:
        guard let bits = bits(value, type) else { continue }
        isConfined = true
        // Bounds are taken as inclusive: coordinates are rounded, and the predicate is asked anyway.
        if comparator != .less, comparator != .lessOrEqual { low = max(low, bits) }
        if comparator != .greater, comparator != .greaterOrEqual { high = min(high, bits) }
      case .between:
        guard case .list(let ends) = value, ends.count == 2, let first = bits(ends[0], type),
          let last = bits(ends[1], type)
        else { continue }
        isConfined = true
        low = max(low, first)
        high = min(high, last)
      default: continue
      }
    }
    return isConfined ? (low, high) : nil
  }

  /// The ordered bits of a constant as a coordinate of an attribute; nil for null and what does not compare with it.
  private static func bits(_ value: Value, _ type: AttributeType?) -> UInt64? {
    switch (value, type) {
    case (.date(let seconds), .date): return KeyEncoder.orderedBits(seconds)
    case (_, .date): return nil
    // The nearest double, as in the index: what is greater has none that is less.
    case (.integer, _), (.double, _), (.float, _), (.decimal, _): return value.nearestDouble.map(KeyEncoder.orderedBits)
    default: return nil
    }
  }

  /// The constant that an expression is compared with, and how, with the expression on the left.
  private static func constant(_ c: Comparison, comparedWith side: Expression) -> (Comparator, Value)? {
    if c.left == side, case .constant(let value) = c.right { return (c.comparator, value) }
    guard c.right == side, case .constant(let value) = c.left, let comparator = mirrored(c.comparator) else {
      return nil
    }
    return (comparator, value)
  }

  private static func mirrored(_ comparator: Comparator) -> Comparator? {
    switch comparator {
    case .equal: return .equal
    case .less: return .greater
    case .lessOrEqual: return .greaterOrEqual
    case .greater: return .less
    case .greaterOrEqual: return .lessOrEqual
    default: return nil
    }
  }

  // MARK: Distances

  /// The places that a comparison of their distance from a constant place lets through.
  private static func around(_ c: Comparison, _ maker: KeyMaker) -> SpatialArea? {
    guard c.modifier == .direct, c.options.isEmpty else { return nil }
    for side in [c.left, c.right] {
      guard let distance = SpatialDistance(side, maker), let (comparator, value) = constant(c, comparedWith: side)
      else { continue }
      var metres: Double?
      switch comparator {
      case .less, .lessOrEqual, .equal: metres = number(value)
      case .between: if case .list(let ends) = value, ends.count == 2 { metres = number(ends[1]) }
      default: break
      }
      // Not below 0: what has no number for a distance is less than any, and in cells of which nothing is known.
      if let metres, !metres.isNaN { return .around(distance, measure: max(0, metres.nextUp)) }
    }
    return nil
  }

  private static func number(_ value: Value) -> Double? {
    switch value {
    case .integer, .double, .float, .decimal: return value.nearestDouble
    default: return nil
    }
  }
}

extension SpatialDistance {
  /// The distance that an expression computes: of the places that a spatial index has, from one that is given. nil if it is
  /// anything else.
  init?(_ expression: Expression, _ maker: KeyMaker) {
    guard maker.isSpatial, case .function(let name, let arguments) = expression, arguments.count == 2,
      name == PredicateFunction.distance.name
    else { return nil }
    for (place, other) in [(arguments[0], arguments[1]), (arguments[1], arguments[0])] {
      guard case .constant(let value) = other, let from = PredicateFunction.place(value),
        let latitudeFirst = Self.isLatitudeFirst(place, maker)
      else { continue }
      self.init(
        .greatCircle(latitudeFirst: latitudeFirst), fromX: latitudeFirst ? from.latitude : from.longitude,
        y: latitudeFirst ? from.longitude : from.latitude)
      return
    }
    return nil
  }

  /// The distance that an order goes by, if a spatial index has the places; nil if not.
  init?(_ sort: EngineSort, _ maker: KeyMaker) {
    guard let origin = sort.origin, let latitudeFirst = Self.isLatitudeFirst(.keyPath(sort.keyPath), maker) else {
      return nil
    }
    self.init(
      .greatCircle(latitudeFirst: latitudeFirst), fromX: latitudeFirst ? origin.latitude : origin.longitude,
      y: latitudeFirst ? origin.longitude : origin.latitude)
  }

  /// Whether an index has a place's latitude and longitude, or the other way round; nil if it has other paths.
  private static func isLatitudeFirst(_ place: Expression, _ maker: KeyMaker) -> Bool? {
    // Dates are coordinates, but no degrees.
    guard maker.paths.count == 2, maker.types.allSatisfy({ $0?.isNumeric ?? false }) else { return nil }
    let latitude: String
    let longitude: String
    switch place {
    case .keyPath(let path):
      latitude = path + ".latitude"
      longitude = path + ".longitude"
    case .list(let parts):
      guard parts.count == 2, case .keyPath(let first) = parts[0], case .keyPath(let second) = parts[1] else {
        return nil
      }
      latitude = first
      longitude = second
    default: return nil
    }
    if maker.paths[0] == latitude, maker.paths[1] == longitude { return true }
    return maker.paths[0] == longitude && maker.paths[1] == latitude ? false : nil
  }
}
