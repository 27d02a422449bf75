import CambiumKernel

/// How far apart two places are.
public enum SpatialMetric: Equatable, Sendable {
  /// As in a plane: the root of the sum of the squares.
  case euclidean
  /// In metres over a sphere, as `distanceToLocation:fromLocation:` has it, of coordinates in degrees.
  case greatCircle(latitudeFirst: Bool = true)
}

/// Distances from one place: those of others, and the least that any place of a cell can have. What is nearer has the lesser
/// measure; in a plane that is the square of the distance, which needs no root.
struct SpatialDistance: Equatable {
  let metric: SpatialMetric
  let x: Double
  let y: Double

  /// nil for a place without a number: nothing is near to it.
  init?(_ metric: SpatialMetric, fromX x: Double, y: Double) {
    guard x.isFinite, y.isFinite else { return nil }
    self.metric = metric
    self.x = x
    self.y = y
  }

  /// The measure of a place; nil if it has none.
  func measure(_ a: Double, _ b: Double) -> Double? {
    let measure: Double
    switch metric {
    case .euclidean:
      let (dx, dy) = (a - x, b - y)
      measure = dx * dx + dy * dy
    case .greatCircle(let latitudeFirst):
      guard let metres = latitudeFirst ? greatCircle(a, b, x, y) : greatCircle(b, a, y, x) else { return nil }
      measure = metres
    }
    return measure.isNaN ? nil : measure
  }

  /// The distance of a measure.
  func distance(_ measure: Double) -> Double {
    metric == .euclidean ? ElementaryFunctions.squareRoot(measure) ?? 0 : measure
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
    case .greatCircle(true): return Self.leastMetres(x, y, (x0, x1), (y0, y1))
    case .greatCircle(false): return Self.leastMetres(y, x, (y0, y1), (x0, x1))
    }
  }

  private static func gap(_ value: Double, _ low: Double, _ high: Double) -> Double {
    value < low ? low - value : value > high ? value - high : 0
  }
}

// MARK: The sphere

/// The way between two places over a sphere of 6,371,008.8 m (the mean radius of the ellipsoid of WGS 84), in metres; nil
/// where rounding leaves no number.
func greatCircle(_ latitude: Double, _ longitude: Double, _ toLatitude: Double, _ toLongitude: Double) -> Double? {
  let sine = ElementaryFunctions.sine(degrees: (toLatitude - latitude) / 2)
  let turn = ElementaryFunctions.sine(degrees: (toLongitude - longitude) / 2)
  let cosines = ElementaryFunctions.cosine(degrees: latitude) * ElementaryFunctions.cosine(degrees: toLatitude)
  guard let chord = ElementaryFunctions.squareRoot(sine * sine + cosines * turn * turn) else { return nil }
  return 2 * 6_371_008.8 * ElementaryFunctions.arcSine(chord)
}

extension SpatialDistance {
  /// The metres from a place to the nearest one between two parallels and two meridians, a little less.
  ///
  /// Degrees may be any numbers: the formula goes on round the sphere and beyond the poles, and so does this, but for places
  /// that are meant hardly ever: what lies beyond a pole altogether, or a million degrees away, is taken to be 0 away.
  private static func leastMetres(
    _ latitude: Double, _ longitude: Double, _ parallels: (Double, Double), _ meridians: (Double, Double)
  ) -> Double {
    let reach = 1e6
    guard latitude.magnitude <= 90, longitude.magnitude < reach, meridians.0 > -reach, meridians.1 < reach,
      let (low, high) = latitudes(parallels)
    else { return 0 }
    // Degrees between the place's meridian and the nearest of the area. Beyond a pole, meridians are other ones.
    var turn = 0.0
    if meridians.1 - meridians.0 < 360, parallels.0 >= -90, parallels.1 <= 90 {
      let east = wrapped(meridians.0 - longitude)
      let isBetween = east == 0 || 360 - east <= meridians.1 - meridians.0
      turn = isBetween ? 0 : min(east, wrapped(longitude - meridians.1))
    }
    let apart =
      turn == 0
      ? 2 * radius * ElementaryFunctions.arcSine(ElementaryFunctions.sine(degrees: gap(latitude, low, high) / 2))
      : metres(latitude, low, high, turn: turn)
    // Sines are right to some 15 digits, an angle near a half turn that is computed of them to 8.
    return max(0, apart * (1 - 1e-7) - 1e-6)
  }

  private static let radius = 6_371_008.8

  /// The metres to the nearest place on a piece of a meridian that is `turn` degrees away.
  private static func metres(_ latitude: Double, _ low: Double, _ high: Double, turn: Double) -> Double {
    // The cosine of the angle to the latitude p on the meridian is a sin p + b cos p; the nearest place is where that is
    // greatest: at an end, or between them if it grows at the lower one and falls at the upper.
    let a = ElementaryFunctions.sine(degrees: latitude)
    let cosine = ElementaryFunctions.cosine(degrees: latitude)
    let b = cosine * ElementaryFunctions.cosine(degrees: turn)
    func slope(_ p: Double) -> Double {
      a * ElementaryFunctions.cosine(degrees: p) - b * ElementaryFunctions.sine(degrees: p)
    }
    if slope(low) > 0, slope(high) < 0 {
      return radius * ElementaryFunctions.arcSine(cosine * ElementaryFunctions.sine(degrees: turn).magnitude)
    }
    return min(greatCircle(latitude, 0, low, turn) ?? 0, greatCircle(latitude, 0, high, turn) ?? 0)
  }

  /// Degrees from 0 up to 360.
  private static func wrapped(_ degrees: Double) -> Double {
    let rest = degrees - (degrees / 360).rounded(.down) * 360
    return rest < 360 ? max(0, rest) : 0
  }

  /// The latitudes on the sphere that a range of degrees comes to, which may go over one pole; nil for what is not told.
  private static func latitudes(_ range: (low: Double, high: Double)) -> (Double, Double)? {
    if range.low >= -90, range.high <= 90 { return (range.low, range.high) }
    if range.low >= -90, range.low <= 90, range.high <= 270 { return (min(range.low, 180 - range.high), 90) }
    if range.high >= -90, range.high <= 90, range.low >= -270 { return (-90, max(range.high, -180 - range.low)) }
    return nil
  }
}
