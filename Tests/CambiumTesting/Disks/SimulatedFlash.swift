import CambiumKernel

/// A NOR flash in memory, whose power can be cut in the midst of an operation, and whose sectors can wear.
///
/// Bits go from one to zero when bytes are programmed, and back when a sector is erased. After a power cut every
/// operation fails until ``powerOn()``. One thread at a time uses it.
public final class SimulatedFlash: FlashChip, @unchecked Sendable {
  // Unchecked: one thread at a time, as it says.

  /// How a sector fails.
  public enum Wear: CaseIterable, Sendable {
    /// The chip says that it could not erase it, and leaves it as it was.
    case eraseFails
    /// The chip says that it could not program it, and has done a part.
    case programFails
    /// The chip says nothing, and some bits of what is programmed are wrong.
    case readsBackWrong
  }

  /// The number of sectors.
  public let sectorCount: Int
  /// The bytes of a sector.
  public let sectorBytes: Int
  private var bytes: [UInt8]
  private var random: SplitMix64
  private var isOn = true
  private var operationsLeft: Int?
  /// How often each sector was erased.
  public private(set) var erasures: [Int]
  /// Erasures and programmings so far.
  public private(set) var operationCount = 0
  /// Bytes that were programmed although they were not erased, which no driver may ask for.
  public private(set) var overwrittenBytes = 0
  /// Sectors that fail.
  public var worn: [Int: Wear] = [:]

  /// Makes an erased flash.
  public init(sectorCount: Int, sectorBytes: Int = 4096, seed: UInt64) {
    self.sectorCount = sectorCount
    self.sectorBytes = sectorBytes
    bytes = [UInt8](repeating: 0xFF, count: sectorCount * sectorBytes)
    erasures = [Int](repeating: 0, count: sectorCount)
    random = SplitMix64(seed: seed)
  }

  /// Cuts the power in the midst of the operation that comes after so many others.
  public func cutPower(afterOperations count: Int) { operationsLeft = count }

  /// Gives the chip its power back.
  public func powerOn() {
    isOn = true
    operationsLeft = nil
  }

  /// Whether the power was cut.
  public var isOff: Bool { !isOn }

  /// Fills `buffer` with bytes of a sector.
  public func read(_ sector: Int, at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
    guard isOn, sector < sectorCount, offset + buffer.count <= sectorBytes else { return false }
    let start = sector * sectorBytes + offset
    bytes.withUnsafeBytes {
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + buffer.count]))
    }
    return true
  }

  /// Clears the bits that are zero in `new`.
  public func program(_ sector: Int, at offset: Int, _ new: UnsafeRawBufferPointer) -> Bool {
    guard isOn, sector < sectorCount, offset + new.count <= sectorBytes else { return false }
    let start = sector * sectorBytes + offset
    for i in 0..<new.count where bytes[start + i] != 0xFF { overwrittenBytes += 1 }
    var whole = new.count
    let isCut = isLast()
    if isCut || worn[sector] == .programFails { whole = random.below(new.count + 1) }
    for i in 0..<whole { bytes[start + i] &= new[i] }
    // The byte that was being programmed has some of its bits.
    if whole < new.count { bytes[start + whole] &= new[whole] | UInt8(truncatingIfNeeded: random.next()) }
    if worn[sector] == .readsBackWrong { bytes[start + random.below(new.count)] ^= 1 << UInt8(random.below(8)) }
    return !isCut && worn[sector] != .programFails
  }

  /// Sets all bits of a sector.
  public func erase(_ sector: Int) -> Bool {
    guard isOn, sector < sectorCount else { return false }
    let isCut = isLast()
    if worn[sector] == .eraseFails { return false }
    erasures[sector] += 1
    let start = sector * sectorBytes
    switch isCut ? random.below(3) : 3 {
    case 0: break
    case 1:
      // A part of the sector, of which any bits may still be zero.
      let from = random.below(sectorBytes)
      for i in from..<sectorBytes { bytes[start + i] |= UInt8(truncatingIfNeeded: random.next()) }
    case 2:
      for i in 0..<sectorBytes { bytes[start + i] |= UInt8(truncatingIfNeeded: random.next()) }
    default:
      for i in 0..<sectorBytes { bytes[start + i] = 0xFF }
    }
    return !isCut
  }

  /// Whether the power goes in the midst of this operation.
  private func isLast() -> Bool {
    operationCount += 1
    guard let left = operationsLeft else { return false }
    operationsLeft = left - 1
    if left > 0 { return false }
    isOn = false
    return true
  }
}
