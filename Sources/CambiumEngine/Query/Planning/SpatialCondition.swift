import CambiumKernel

/// What conditions of a predicate, all of which have to hold, say about the places that a spatial index has.
struct SpatialCondition {
  /// No row outside of the area meets the conditions. Of those inside, the others are asked.
  let area: SpatialArea
  /// The conditions, by place, that hold for the rows inside, and for no others.
  let covered: [Int]

  /// The areas that the conditions confine the places to: a box, and one around each place that a distance is asked of.
  /// None, if rows without a place may meet the conditions: the index lacks those.
  static func all(_ conjuncts: [Conjunct], _ maker: KeyMaker) -> [SpatialCondition] {
    guard maker.isSpatial, maker.paths.count == 2 else { return [] }
    var found: [SpatialCondition] = []
    for conjunct in conjuncts {
      // A row without a distance may be in the area, so that all are asked.
      if let area = around(conjunct, maker) { found.append(SpatialCondition(area: area, covered: [])) }
    }
    let x = Bounds(maker.paths[0], maker.types[0], conjuncts)
    let y = Bounds(maker.paths[1], maker.types[1], conjuncts)
    if x.isConfined, y.isConfined {
      let box = SpatialBox(x: (x.low, x.high), y: (y.low, y.high))
      found.append(SpatialCondition(area: .box(box), covered: x.covered + y.covered))
    }
    return found
  }

  // MARK: Boxes

  /// What conditions on a path let through.
  private struct Bounds {
    /// The least and the greatest ordered bits.
    var low: UInt64 = 0
    var high = KeyEncoder.orderedBits(.infinity)
    /// Whether there is a condition that null does not meet.
    var isConfined = false
    var covered: [Int] = []

    init(_ path: String, _ type: AttributeType?, _ conjuncts: [Conjunct]) {
      for (place, conjunct) in conjuncts.enumerated() where conjunct.isPlain {
        guard let about = conjunct.about, about.path == path else { continue }
        switch about.comparator {
        case .equal, .less, .lessOrEqual, .greater, .greaterOrEqual:
          guard let (bits, isExact) = bits(about.value, type) else { continue }
          isConfined = true
          // What the bound may be rounded from is in.
          let step: UInt64 = isExact ? 1 : 0
          switch about.comparator {
          case .greater: low = max(low, bits &+ step)
          case .less: high = min(high, bits &- step)
          case .greaterOrEqual: low = max(low, bits)
          case .lessOrEqual: high = min(high, bits)
          default: (low, high) = (max(low, bits), min(high, bits))
          }
          if isExact { covered.append(place) }
        case .between:
          guard case .list(let ends) = about.value, ends.count == 2, let first = bits(ends[0], type),
            let last = bits(ends[1], type)
          else { continue }
          isConfined = true
          low = max(low, first.bits)
          high = min(high, last.bits)
          if first.isExact, last.isExact { covered.append(place) }
        default: continue
        }
      }
    }

    /// The ordered bits of a constant as a coordinate, and whether values compare with it as their coordinates with the
    /// bits; nil for null and what does not compare with the attribute.
    private func bits(_ value: Value, _ type: AttributeType?) -> (bits: UInt64, isExact: Bool)? {
      var isExact: Bool
      let number: Double
      switch (value, type) {
      case (.date(let seconds), .date): (number, isExact) = (seconds, true)
      case (_, .date): return nil
      case (.double(let double), _): (number, isExact) = (double, type == .double || type == .float)
      case (.float(let float), _): (number, isExact) = (Double(float), type == .double || type == .float)
      case (.integer(let integer), _):
        // Beyond, several integers have one double.
        (number, isExact) = (Double(integer), type != .decimal && integer.magnitude < 1 << 53)
      case (.decimal, _):
        // The nearest double, as in the index: what is greater has none that is less.
        guard let nearest = value.nearestDouble else { return nil }
        (number, isExact) = (nearest, false)
      default: return nil
      }
      if number.isNaN { isExact = false }
      return (KeyEncoder.orderedBits(number), isExact)
    }
  }

  // MARK: Distances

  /// The places that a condition on their distance from a constant place lets through.
  private static func around(_ conjunct: Conjunct, _ maker: KeyMaker) -> SpatialArea? {
    guard case .comparison(let c) = conjunct.predicate, c.modifier == .direct, c.options.isEmpty else { return nil }
    let distance: SpatialDistance
    let comparator: Comparator
    let value: Value
    if case .constant(let constant) = c.right, let its = SpatialDistance(c.left, maker) {
      (distance, comparator, value) = (its, c.comparator, constant)
    } else if case .constant(let constant) = c.left, let its = SpatialDistance(c.right, maker),
      let mirrored = c.comparator.mirrored
    {
      (distance, comparator, value) = (its, mirrored, constant)
    } else {
      return nil
    }
    var metres: Double?
    switch comparator {
    case .less, .lessOrEqual, .equal: metres = number(value)
    case .between: if case .list(let ends) = value, ends.count == 2 { metres = number(ends[1]) }
    default: break
    }
    guard let metres, !metres.isNaN else { return nil }
    // Not below 0: what has no number for a distance is less than any, and in cells of which nothing is known.
    return .around(distance, measure: distance.measure(ofDistance: max(0, metres)))
  }

  private static func number(_ value: Value) -> Double? {
    switch value {
    case .integer, .double, .float, .decimal: return value.nearestDouble
    default: return nil
    }
  }
}

extension SpatialDistance {
  /// The distance that an expression computes: of the places that a spatial index has, from one that is given. nil if
  /// it is anything else.
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
