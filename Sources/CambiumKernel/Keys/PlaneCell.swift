/// A square of a plane whose axes have 2^32 steps each (``PlaneAxis``), on Hilbert's curve: the curve goes through each
/// step of a cell before it leaves the cell, and the cells that it goes through one after the other share an edge.
///
///     1--2    Each cell has four, in the order in which the curve goes through them. Within 1 and 2 they are
///     |  |    laid out like this again, within 0 with the axes exchanged, within 3 with both turned about as
///     0  3    well. The code of a place is the 32 numbers that lead to it, two bits each.
///
/// All places of a cell have codes in one range, and a range of codes is a range of keys.
public struct PlaneCell: Equatable, Sendable {
  /// How often the cell can be divided: its sides have 2^level steps.
  public private(set) var level: UInt8
  /// The least step on the first axis.
  public private(set) var x: UInt32
  /// The least step on the second axis.
  public private(set) var y: UInt32
  /// The least code.
  public private(set) var code: UInt64
  private var isSwapped: Bool
  private var isFlipped: Bool

  /// The whole plane.
  public static let plane = PlaneCell(level: 32, x: 0, y: 0, code: 0, isSwapped: false, isFlipped: false)

  private init(level: UInt8, x: UInt32, y: UInt32, code: UInt64, isSwapped: Bool, isFlipped: Bool) {
    self.level = level
    self.x = x
    self.y = y
    self.code = code
    self.isSwapped = isSwapped
    self.isFlipped = isFlipped
  }

  /// The code of a place; with a level, the least one of the cell of that level that it is in.
  public static func code(_ x: UInt32, _ y: UInt32, level least: UInt8 = 0) -> UInt64 {
    var code: UInt64 = 0
    var isSwapped = false
    var flip: UInt32 = 0
    var level: UInt32 = 32
    let least = UInt32(min(least, 32))
    while level > least {
      level &-= 1
      var a = (x &>> level & 1) ^ flip
      var b = (y &>> level & 1) ^ flip
      if isSwapped { (a, b) = (b, a) }
      code = code &<< 2 | UInt64((3 &* a) ^ b)
      if b == 0 {
        flip ^= a
        isSwapped = !isSwapped
      }
    }
    // Shifting by all 64 bits gives 0.
    return code << (2 * UInt64(least))
  }

  /// The greatest step on the first axis.
  public var lastX: UInt32 { x | mask }
  /// The greatest step on the second axis.
  public var lastY: UInt32 { y | mask }
  /// The greatest code.
  public var lastCode: UInt64 { level >= 32 ? .max : code | (1 &<< (2 &* UInt64(level)) &- 1) }

  private var mask: UInt32 { level >= 32 ? .max : 1 &<< UInt32(level) &- 1 }

  /// One of the four cells of this one, in the order of the curve; the cell itself if it has but one place.
  public func child(_ number: Int) -> PlaneCell {
    guard level > 0 else { return self }
    let number = UInt32(truncatingIfNeeded: number) & 3
    let a = number &>> 1
    let b: UInt32 = number == 1 || number == 2 ? 1 : 0
    let flip: UInt32 = isFlipped ? 1 : 0
    let below = level &- 1
    return PlaneCell(
      level: below,
      x: x | ((isSwapped ? b : a) ^ flip) &<< UInt32(below),
      y: y | ((isSwapped ? a : b) ^ flip) &<< UInt32(below),
      code: code | UInt64(number) &<< (2 &* UInt64(below)),
      isSwapped: b == 0 ? !isSwapped : isSwapped,
      isFlipped: b == 0 && a == 1 ? !isFlipped : isFlipped)
  }

  /// The cell of another level that a place is in.
  public static func holding(_ x: UInt32, _ y: UInt32, level: UInt8) -> PlaneCell {
    let code = code(x, y)
    var cell = plane
    while cell.level > level { cell = cell.child(Int(truncatingIfNeeded: code &>> (2 &* UInt64(cell.level &- 1)))) }
    return cell
  }
}
