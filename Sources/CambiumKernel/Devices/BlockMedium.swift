/// A medium that is read and written in blocks of one length, such as an SD card, or the flash translation layer of a
/// platform. Implement it, and open a store on a ``BlockDevice`` with it.
///
/// A power cut may leave a block that is being written old, new or damaged. Blocks that nobody writes keep their bytes.
/// If a platform cannot promise that a block which was synced survives a later write to the same block, open the store
/// at ``Durability/strict``, and see that blocks are no longer than 4,096 bytes.
///
/// One thread at a time calls.
public protocol BlockMedium: AnyObject, Sendable {
  /// The length of a block in bytes; 512 for most cards.
  var blockBytes: Int { get }

  /// The number of blocks. It does not change.
  var blockCount: UInt64 { get }

  /// Fills `buffer`, which is one or several blocks long, with the blocks from `first` on.
  ///
  /// - Throws: `StoreError.device`, with the platform's error number.
  func read(from first: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError)

  /// Writes `bytes`, which are one or several blocks long, to the blocks from `first` on. They are durable when a
  /// ``sync()`` that begins afterwards has returned.
  ///
  /// - Throws: `StoreError.device`, with the platform's error number.
  func write(_ bytes: UnsafeRawBufferPointer, from first: UInt64) throws(StoreError)

  /// Makes everything written before the call durable.
  ///
  /// - Throws: `StoreError.device`, with the platform's error number.
  func sync() throws(StoreError)
}
