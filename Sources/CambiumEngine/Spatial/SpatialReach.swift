import CambiumKernel

/// Where the places lie that are no further away than a measure: rectangles that they are in, and the stretches of the
/// curve that go through those.
///
/// On the sphere that is said of common degrees alone, latitudes from -128 up to 128 and longitudes from -192 up to
/// 192, which are whole cells. Of those, some have two names: what lies beyond a pole or the antimeridian has
/// rectangles of its own.
struct SpatialReach {
  /// Stretches of codes, ascending, with gaps between them.
  private(set) var stretches: [(first: UInt64, last: UInt64)] = []
  private let distance: SpatialDistance
  /// What a coordinate may differ by at most.
  private var xReach = Double.infinity
  private var yReach = Double.infinity

  /// The common degrees.
  private static let mostLatitude: Double = 128
  private static let mostLongitude: Double = 192

  /// Whether distances from a place can be told by rectangles.
  static func serves(_ distance: SpatialDistance) -> Bool {
    guard let (latitude, longitude) = distance.degrees else { return true }
    return latitude.magnitude <= 89 && longitude.magnitude <= 180
  }

  init(_ distance: SpatialDistance) { self.distance = distance }

  /// Takes in the places of a measure. Answers whether it can be said where those are.
  mutating func take(_ measure: Double) -> Bool {
    stretches.removeAll(keepingCapacity: true)
    guard let root = Self.rootAbove(measure) else { return false }
    guard let (latitude, longitude) = distance.degrees else {
      // Below 1e-162, squares are 0.
      (xReach, yReach) = (root + 1e-150, root + 1e-150)
      add(
        (distance.x - xReach).nextDown, (distance.x + xReach).nextUp, (distance.y - yReach).nextDown,
        (distance.y + yReach).nextUp)
      gather()
      return true
    }
    // The haversine is the square of the sine of half the angle. The margin, about a metre, is far more than what
    // rounding does to measures, also to those of places beyond a pole, which are right to 1e-15 and not to so many
    // digits.
    guard root <= 0.5 else { return false }
    let halfTurn = 180 / 3.141592653589793
    let angle = 2 * ElementaryFunctions.arcSine(root) * halfTurn + 1e-5
    guard latitude.magnitude + angle < 90 else { return false }
    // Where the circle touches a meridian.
    let sine = ElementaryFunctions.sine(degrees: angle) / ElementaryFunctions.cosine(degrees: latitude)
    guard sine < 1 else { return false }
    let turn = ElementaryFunctions.arcSine(sine) * halfTurn + 1e-5
    (xReach, yReach) = (angle, turn)
    for pole in [0.0, 180, -180] {
      let (low, high) =
        pole == 0 ? (latitude - angle, latitude + angle) : (pole - latitude - angle, pole - latitude + angle)
      if low >= Self.mostLatitude || high < -Self.mostLatitude { continue }
      for round in [-360.0, 0, 360] {
        let east = longitude + round + pole
        if east - turn >= Self.mostLongitude || east + turn < -Self.mostLongitude { continue }
        addDegrees(low, high, east - turn, east + turn)
      }
    }
    gather()
    return true
  }

  /// Whether a place is surely not in reach. On the sphere, places that are not of common degrees never are.
  @inline(__always)
  func excludes(_ x: Double, _ y: Double) -> Bool {
    switch distance.metric {
    case .euclidean: return !((x - distance.x).magnitude <= xReach && (y - distance.y).magnitude <= yReach)
    case .greatCircle(true): return excludes(x - distance.x, y - distance.y, x, y)
    case .greatCircle(false): return excludes(y - distance.y, x - distance.x, y, x)
    }
  }

  /// By its latitude and longitude, and what they differ by from those of the place.
  @inline(__always)
  private func excludes(_ north: Double, _ east: Double, _ latitude: Double, _ longitude: Double) -> Bool {
    if latitude.magnitude <= 90 {
      if north.magnitude > xReach { return true }
      if east.magnitude > yReach, east.magnitude < 360 - yReach { return true }
    }
    return !Self.isCommon(latitude, longitude)
  }

  private static func isCommon(_ latitude: Double, _ longitude: Double) -> Bool {
    latitude >= -mostLatitude && latitude < mostLatitude && longitude >= -mostLongitude && longitude < mostLongitude
  }

  // MARK: What is not of common degrees

  /// The codes of places that are not of common degrees; none in a plane, where all are alike.
  var uncommon: [(first: UInt64, last: UInt64)] {
    switch distance.metric {
    case .euclidean: return []
    case .greatCircle(true): return Self.beyondLatitudeFirst
    case .greatCircle(false): return Self.beyondLongitudeFirst
    }
  }

  // Of the 256 cells of 64 steps of a degree each way that there would be if all of the plane were degrees.
  private static let beyondLatitudeFirst = stretches([
    (0, 37), (44, 112), (115, 123), (132, 140), (143, 211), (218, 255),
  ])
  private static let beyondLongitudeFirst = stretches([
    (0, 39), (46, 119), (121, 122), (133, 134), (136, 209), (216, 255),
  ])

  private static func stretches(_ cells: [(UInt64, UInt64)]) -> [(first: UInt64, last: UInt64)] {
    cells.map { (first: $0 << 56, last: $1 << 56 | (1 << 56 - 1)) }
  }

  // MARK: Stretches

  private mutating func addDegrees(_ south: Double, _ north: Double, _ west: Double, _ east: Double) {
    let (south, north) = (max(south, -Self.mostLatitude), min(north, Self.mostLatitude.nextDown))
    let (west, east) = (max(west, -Self.mostLongitude), min(east, Self.mostLongitude.nextDown))
    if case .greatCircle(true) = distance.metric {
      add(south, north, west, east)
    } else {
      add(west, east, south, north)
    }
  }

  /// Adds the cells that a rectangle lies in, of a size that there are at most three beside each other.
  private mutating func add(_ lowX: Double, _ highX: Double, _ lowY: Double, _ highY: Double) {
    let (x0, x1) = (PlaneAxis.step(lowX), PlaneAxis.step(highX))
    let (y0, y1) = (PlaneAxis.step(lowY), PlaneAxis.step(highY))
    guard x0 <= x1, y0 <= y1 else { return }
    let side = max(x1 - x0, y1 - y0)
    let level = UInt8(max(0, 31 - side.leadingZeroBitCount))
    let size: UInt64 = 1 << (2 * UInt64(level))
    for x in x0 >> UInt32(level)...x1 >> UInt32(level) {
      for y in y0 >> UInt32(level)...y1 >> UInt32(level) {
        let first = PlaneCell.code(x << UInt32(level), y << UInt32(level), level: level)
        stretches.append((first, first + (size - 1)))
      }
    }
  }

  /// Puts the stretches in order, and those together that touch.
  private mutating func gather() {
    stretches.sort { $0.first < $1.first }
    var count = 0
    for stretch in stretches {
      if count > 0, stretch.first <= stretches[count - 1].last || stretch.first == stretches[count - 1].last + 1 {
        stretches[count - 1].last = max(stretches[count - 1].last, stretch.last)
      } else {
        stretches[count] = stretch
        count += 1
      }
    }
    stretches.removeLast(stretches.count - count)
  }

  /// A little more than the root of a number that is not below 0; nil for what is none.
  private static func rootAbove(_ x: Double) -> Double? {
    guard x >= 0 else { return nil }
    if x == .infinity { return x }
    if x < 1e-300 { return 1e-150 }
    // Half the exponent is right to a tenth; what Newton's steps give is not below the root, but for rounding.
    var root = Double(bitPattern: x.bitPattern >> 1 + 0x1FF8_0000_0000_0000)
    for _ in 0..<4 { root = (root + x / root) / 2 }
    return root * (1 + 1e-12)
  }
}
