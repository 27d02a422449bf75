/// The memory of a cache's frames: pieces that grow with the cache, so that a store that is opened for a few pages takes
/// little, and a large cache comes in pieces that the host can back by huge pages, where it has them.
struct FrameMemory: ~Copyable {
  /// The largest piece, and what huge pages usually measure.
  private static let largest = 2 << 20

  private let environment: any StoreEnvironment
  /// Of a frame with its header, a multiple of two lines of the processor's cache.
  private let stride: Int
  private var pieces: [(start: UnsafeMutableRawPointer, bytes: Int)] = []
  private var used = 0

  init(_ environment: any StoreEnvironment, pageSize: Int) {
    self.environment = environment
    stride = Self.stride(pageSize)
  }

  /// What a frame takes of memory.
  static func stride(_ pageSize: Int) -> Int { roundUp(Frame.headerSize + pageSize, to: 128) }

  deinit { for piece in pieces { environment.freeMemory(piece.start, byteCount: piece.bytes) } }

  /// Memory for another frame. At most `more` are still wanted, with this one.
  mutating func next(atMost more: Int) -> Frame {
    if let piece = pieces.last, used + stride <= piece.bytes {
      used += stride
      return Frame.initialize(piece.start + used - stride)
    }
    let before = pieces.last?.bytes ?? 8 * stride
    let bytes = max(stride, min(before * 2, Self.largest, more * stride))
    let piece = (start: environment.allocateMemory(byteCount: bytes), bytes: bytes)
    pieces.append(piece)
    used = stride
    return Frame.initialize(piece.start)
  }

  /// A frame beyond the number that the cache may have, to be given back by ``free(_:)``.
  func extra() -> Frame { Frame.initialize(.allocate(byteCount: stride, alignment: 128)) }

  /// Gives a frame of ``extra()`` back.
  func free(_ frame: Frame) {
    frame.dropHints()
    frame.p.deallocate()
  }
}
