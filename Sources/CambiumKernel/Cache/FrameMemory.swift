/// The memory of a cache's frames: pieces that grow with the cache, so that a store that is opened for a few pages
/// takes little, and a large cache comes in pieces that the host can back by huge pages, where it has them.
struct FrameMemory: ~Copyable {
  /// The largest piece, and what huge pages usually measure.
  private static let largest = 2 << 20

  private let environment: any StoreEnvironment
  /// Of a frame with its header, a multiple of two lines of the processor's cache.
  private let stride: Int
  private let firstBytes: Int
  private var pieces: [(start: UnsafeMutableRawPointer, bytes: Int)] = []
  private var used = 0
  /// The next piece, if it was made ready before it is needed.
  private var spare: (start: UnsafeMutableRawPointer, bytes: Int)?

  /// - Parameter capacity: How many frames there may be.
  init(_ environment: any StoreEnvironment, pageSize: Int, capacity: Int) {
    self.environment = environment
    stride = Self.stride(pageSize)
    firstBytes = max(1, min(8, capacity / 4)) * stride
  }

  /// What a frame takes of memory.
  static func stride(_ pageSize: Int) -> Int { roundUp(Frame.headerSize + pageSize, to: 128) }

  deinit {
    for piece in pieces { environment.freeMemory(piece.start, byteCount: piece.bytes) }
    if let spare { environment.freeMemory(spare.start, byteCount: spare.bytes) }
  }

  /// Gives all memory back. Nobody uses a frame any more.
  mutating func freeAll() {
    for piece in pieces { environment.freeMemory(piece.start, byteCount: piece.bytes) }
    if let spare { environment.freeMemory(spare.start, byteCount: spare.bytes) }
    (pieces, spare, used) = ([], nil, 0)
  }

  /// Memory for another frame. At most `more` are still wanted, with this one.
  mutating func next(atMost more: Int) -> Frame {
    if let piece = pieces.last, used + stride <= piece.bytes {
      used += stride
      return Frame.initialize(piece.start + used - stride)
    }
    let bytes = nextBytes(more)
    let piece = spare ?? (start: environment.allocateMemory(byteCount: bytes), bytes: bytes)
    spare = nil
    pieces.append(piece)
    used = stride
    return Frame.initialize(piece.start)
  }

  private func nextBytes(_ more: Int) -> Int {
    let wanted = pieces.last.map { $0.bytes * 2 } ?? firstBytes * 2
    return max(stride, min(wanted, Self.largest, more * stride))
  }

  /// The size of a piece that will be needed soon; 0 if there is one, or none is wanted soon. At most `more` frames are
  /// wanted.
  func wantedBytes(atMost more: Int) -> Int {
    guard spare == nil, more > 0, let piece = pieces.last, used + min(Self.soon, piece.bytes / 2) > piece.bytes else {
      return 0
    }
    let left = (piece.bytes - used) / stride
    return more > left ? nextBytes(more - left) : 0
  }

  /// What is left of a piece when the next one is wanted soon.
  private static let soon = 256 << 10

  /// Memory for frames, which was made ready with nothing held. Answers false if it is not needed any more, as others
  /// have taken what was to come after it.
  mutating func add(_ start: UnsafeMutableRawPointer, _ bytes: Int, atMost more: Int) -> Bool {
    guard bytes <= wantedBytes(atMost: more) else { return false }
    spare = (start, bytes)
    return true
  }

  /// A frame beyond the number that the cache may have, to be given back by ``free(_:)``.
  static func extra(_ pageSize: Int) -> Frame {
    Frame.initialize(.allocate(byteCount: stride(pageSize), alignment: 128))
  }

  /// Gives a frame of ``extra()`` back.
  func free(_ frame: Frame) {
    frame.dropHints()
    frame.p.deallocate()
  }
}
