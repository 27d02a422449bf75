/// A flash chip as its driver sees it: sectors that are erased as a whole, and then programmed once, piece by piece.
/// Implement it, and open a store on a ``FlashDevice`` with it.
///
/// Erased bytes are 0xFF. A power cut during an erasure or a programming may leave any bytes in the part that was being
/// changed, and changes no other part. Each method returns false if the chip reports a failure. One thread at a time
/// calls, and each call waits until the chip is done.
public protocol FlashChip: AnyObject, Sendable {
  /// The number of sectors that the store may use.
  var sectorCount: Int { get }

  /// The bytes of a sector, the least that can be erased: a multiple of 256, and at least 1,024. Most chips have 4,096.
  var sectorBytes: Int { get }

  /// Fills `buffer` with bytes of a sector from `offset` on.
  func read(_ sector: Int, at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Bool

  /// Programs erased bytes of a sector from `offset` on. The device programs every byte once at most before it erases
  /// the sector again; `offset` and the length are multiples of 32, and the bytes lie in one page of 256.
  func program(_ sector: Int, at offset: Int, _ bytes: UnsafeRawBufferPointer) -> Bool

  /// Erases a sector.
  func erase(_ sector: Int) -> Bool
}
