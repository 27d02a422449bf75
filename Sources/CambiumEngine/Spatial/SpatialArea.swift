import CambiumKernel

/// A rectangle: the places whose coordinates lie between two numbers each, those included.
public struct SpatialBox: Equatable, Sendable {
  // Ordered bits (`KeyEncoder.orderedBits`), so that not-a-number is below every number, as it is for predicates.
  var lowX: UInt64
  var highX: UInt64
  var lowY: UInt64
  var highY: UInt64

  /// The places from `x.lowerBound` to `x.upperBound` on the first axis and from `y.lowerBound` to `y.upperBound` on
  /// the second; infinite bounds don't confine.
  public init(x: ClosedRange<Double>, y: ClosedRange<Double>) {
    lowX = KeyEncoder.orderedBits(x.lowerBound)
    highX = KeyEncoder.orderedBits(x.upperBound)
    lowY = KeyEncoder.orderedBits(y.lowerBound)
    highY = KeyEncoder.orderedBits(y.upperBound)
  }

  init(x: (low: UInt64, high: UInt64), y: (low: UInt64, high: UInt64)) {
    (lowX, highX) = x
    (lowY, highY) = y
  }

  func contains(_ x: Double, _ y: Double) -> Bool {
    let (a, b) = (KeyEncoder.orderedBits(x), KeyEncoder.orderedBits(y))
    return a >= lowX && a <= highX && b >= lowY && b <= highY
  }
}

/// The places that a search asks for.
enum SpatialArea {
  case box(SpatialBox)
  /// Those that are not further away than a measure, and those of which that cannot be said.
  case around(SpatialDistance, measure: Double)

  func contains(_ x: Double, _ y: Double) -> Bool {
    switch self {
    case .box(let box): return box.contains(x, y)
    case .around(let distance, let measure): return distance.measure(x, y).map { $0 <= measure } ?? true
    }
  }
}

/// How the places of a cell lie to an area.
enum SpatialRelation {
  case outside
  /// Some may be in the area.
  case across
  /// All are in the area.
  case inside
}

/// An area in steps of the axes, for comparing cells with it.
struct SpatialFrame {
  let area: SpatialArea
  private(set) var lowX: UInt32 = 0
  private(set) var highX: UInt32 = .max
  private(set) var lowY: UInt32 = 0
  private(set) var highY: UInt32 = .max
  /// Whether the area has no places at all.
  private(set) var isEmpty = false

  init(_ area: SpatialArea) {
    self.area = area
    guard case .box(let box) = area else { return }
    isEmpty = box.lowX > box.highX || box.lowY > box.highY
    lowX = Self.step(box.lowX)
    highX = Self.step(box.highX)
    lowY = Self.step(box.lowY)
    highY = Self.step(box.highY)
  }

  private static func step(_ bits: UInt64) -> UInt32 { PlaneAxis.step(KeyPlace.number(ofOrderedBits: bits)) }

  func relation(_ cell: PlaneCell) -> SpatialRelation {
    if case .around(let distance, let measure) = area { return distance.least(cell) > measure ? .outside : .across }
    let (x, y, lastX, lastY) = (cell.x, cell.y, cell.lastX, cell.lastY)
    if lastX < lowX || x > highX || lastY < lowY || y > highY { return .outside }
    // Of the steps at the edges, only some places are in the area.
    return x > lowX && lastX < highX && y > lowY && lastY < highY ? .inside : .across
  }
}
