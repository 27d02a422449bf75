import CambiumKernel

/// How far apart two places are.
public enum SpatialMetric: Equatable, Sendable {
  /// As in a plane: the root of the sum of the squares.
  case euclidean
  /// In metres over a sphere, as `distanceToLocation:fromLocation:` has it, of coordinates in degrees.
  case greatCircle(latitudeFirst: Bool = true)
}

/// Distances from one place: those of others, and the least that any place of a cell can have. What is nearer has the
/// lesser measure, which needs no roots: in a plane the square of the distance, on the sphere the haversine of the
/// angle.
struct SpatialDistance: Equatable {
  let metric: SpatialMetric
  let x: Double
  let y: Double
  /// Of the latitude, on the sphere.
  private let cosine: Double

  /// nil for a place without a number: nothing is near to it.
  init?(_ metric: SpatialMetric, fromX x: Double, y: Double) {
    guard x.isFinite, y.isFinite else { return nil }
    self.metric = metric
    self.x = x
    self.y = y
    switch metric {
    case .euclidean: cosine = 0
    case .greatCircle(let latitudeFirst): cosine = ElementaryFunctions.cosine(degrees: latitudeFirst ? x : y)
    }
  }

  /// The latitude and longitude that distances are from; nil in a plane.
  var degrees: (latitude: Double, longitude: Double)? {
    switch metric {
    case .euclidean: return nil
    case .greatCircle(true): return (x, y)
    case .greatCircle(false): return (y, x)
    }
  }

  /// The measure of a place; nil if it has none.
  func measure(_ a: Double, _ b: Double) -> Double? {
    let measure: Double
    switch metric {
    case .euclidean:
      let (dx, dy) = (a - x, b - y)
      measure = dx * dx + dy * dy
    case .greatCircle(true): measure = haversine(a - x, b - y, cosine * ElementaryFunctions.cosine(degrees: a))
    case .greatCircle(false): measure = haversine(b - y, a - x, cosine * ElementaryFunctions.cosine(degrees: b))
    }
    return measure.isNaN || measure < 0 ? nil : measure
  }

  /// The distance of a measure.
  func distance(_ measure: Double) -> Double {
    let root = ElementaryFunctions.squareRoot(measure) ?? 0
    return metric == .euclidean ? root : sphereDiameter * ElementaryFunctions.arcSine(root)
  }

  /// A measure that no place of at most a distance has more than.
  func measure(ofDistance distance: Double) -> Double {
    if metric == .euclidean { return (distance * distance).nextUp }
    let angle = distance / sphereDiameter * (180 / 3.141592653589793)
    if angle >= 90 { return .infinity }
    let sine = ElementaryFunctions.sine(degrees: angle)
    return sine * sine * (1 + 1e-9) + 1e-30
  }

  /// A measure that no place of a cell is below. Places without a measure may be anywhere.
  func least(_ cell: PlaneCell) -> Double {
    let (x0, x1) = (PlaneAxis.bound(UInt64(cell.x)), PlaneAxis.bound(UInt64(cell.lastX) + 1))
    let (y0, y1) = (PlaneAxis.bound(UInt64(cell.y)), PlaneAxis.bound(UInt64(cell.lastY) + 1))
    switch metric {
    case .euclidean:
      // Rounding keeps order, so that what is computed of a place is not below what is computed of the nearest edge.
      let (dx, dy) = (Self.gap(x, x0, x1), Self.gap(y, y0, y1))
      return dx * dx + dy * dy
    case .greatCircle(true): return leastHaversine(x, y, (x0, x1), (y0, y1))
    case .greatCircle(false): return leastHaversine(y, x, (y0, y1), (x0, x1))
    }
  }

  private static func gap(_ value: Double, _ low: Double, _ high: Double) -> Double {
    value < low ? low - value : value > high ? value - high : 0
  }
}

// MARK: The sphere

extension SpatialDistance {
  /// The haversine of the angle from a place to the nearest one between two parallels and two meridians, or a little
  /// less.
  ///
  /// Degrees may be any numbers: the formula goes on round the sphere and beyond the poles, and so does this, but for
  /// places that are meant hardly ever: what lies beyond a pole altogether, or a thousand degrees away, is taken to be
  /// 0 away.
  private func leastHaversine(
    _ latitude: Double, _ longitude: Double, _ parallels: (Double, Double), _ meridians: (Double, Double)
  ) -> Double {
    let reach = 1000.0
    guard latitude.magnitude <= 90, longitude.magnitude < reach, meridians.0 > -reach, meridians.1 < reach,
      let (low, high) = Self.latitudes(parallels)
    else { return 0 }
    let isOnSphere = parallels.0 >= -90 && parallels.1 <= 90
    // Degrees between the place's meridian and the nearest of the area. Beyond a pole, meridians are other ones.
    var turn = 0.0
    if meridians.1 - meridians.0 < 360, isOnSphere {
      let east = Self.wrapped(meridians.0 - longitude)
      let isBetween = east == 0 || 360 - east <= meridians.1 - meridians.0
      // Round the sphere, degrees are right to 13 digits behind the point.
      turn = isBetween ? 0 : max(0, min(east, Self.wrapped(longitude - meridians.1)) - 1e-12)
    }
    let least: Double
    if turn == 0 {
      let sine = ElementaryFunctions.sine(degrees: Self.gap(latitude, low, high) / 2)
      least = sine * sine
    } else {
      least = leastHaversine(latitude, low, high, turn: turn)
    }
    // All terms are positive, and right to some 15 digits; but for those of places beyond a pole.
    return max(0, least * (1 - 1e-12) - (isOnSphere ? 0 : 1e-15))
  }

  /// The same for a piece of a meridian that is `turn` degrees away.
  private func leastHaversine(_ latitude: Double, _ low: Double, _ high: Double, turn: Double) -> Double {
    // The cosine of the angle to the latitude p on the meridian is a sin p + b cos p; the nearest place is where that
    // is greatest: at an end, or between them if it grows at the lower one and falls at the upper.
    let a = ElementaryFunctions.sine(degrees: latitude)
    let b = cosine * ElementaryFunctions.cosine(degrees: turn)
    let (lowCosine, highCosine) = (ElementaryFunctions.cosine(degrees: low), ElementaryFunctions.cosine(degrees: high))
    if a * lowCosine > b * ElementaryFunctions.sine(degrees: low),
      a * highCosine < b * ElementaryFunctions.sine(degrees: high)
    {
      // The sine of the angle there; its haversine is a little more than a quarter of the square.
      let sine = cosine * ElementaryFunctions.sine(degrees: turn)
      return sine * sine / 4
    }
    return min(
      haversine(low - latitude, turn, cosine * lowCosine), haversine(high - latitude, turn, cosine * highCosine))
  }

  /// Degrees from 0 up to 360.
  private static func wrapped(_ degrees: Double) -> Double {
    let rest = degrees - floor(degrees / 360) * 360
    return rest < 360 ? max(0, rest) : 0
  }

  /// The greatest whole number that is not above `number`. (`rounded(.down)` needs a mathematics library on some
  /// targets, which the engine does not import.)
  private static func floor(_ number: Double) -> Double {
    // From 2^52 on, every double is whole.
    guard number.magnitude < 0x1p52 else { return number }
    let truncated = Double(Int64(number))
    return truncated > number ? truncated - 1 : truncated
  }

  /// The latitudes on the sphere that a range of degrees comes to, which may go over one pole; nil for what is not
  /// told.
  private static func latitudes(_ range: (low: Double, high: Double)) -> (Double, Double)? {
    if range.low >= -90, range.high <= 90 { return (range.low, range.high) }
    if range.low >= -90, range.low <= 90, range.high <= 270 { return (min(range.low, 180 - range.high), 90) }
    if range.high >= -90, range.high <= 90, range.low >= -270 { return (-90, max(range.high, -180 - range.low)) }
    return nil
  }
}
