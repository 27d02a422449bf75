/// Memory that is given out piece by piece and freed all at once.
///
/// It comes in chunks, each twice as long as the one before, up to a limit.
struct Arena: ~Copyable {
  private var chunks: [UnsafeMutableRawPointer] = []
  private var next: UnsafeMutableRawPointer?
  private var left = 0
  private let firstChunk: Int
  private let largestChunk: Int
  private var chunkSize: Int
  /// The first chunk has the usual size, and not that of a large piece.
  private var firstIsChunk = false
  /// Bytes held, used or not.
  private(set) var bytes = 0

  /// - Parameter largestChunk: The bytes that are asked for at a time at most, unless a single piece is longer.
  init(largestChunk: Int = Arena.usualLargest) {
    self.largestChunk = largestChunk
    firstChunk = min(4096, largestChunk)
    chunkSize = firstChunk
  }

  #if _pointerBitWidth(_64)
    private static let alignment = 64
  #else
    /// A greater one would leave holes in a small heap.
    private static let alignment = 16
  #endif

  /// With more at a time, allocations cost no less.
  static let usualLargest = 1 << 20

  deinit { for chunk in chunks { chunk.deallocate() } }

  /// Takes everything back; the first chunk is kept.
  mutating func reset() {
    guard let first = chunks.first, bytes >= firstChunk, firstIsChunk else {
      for chunk in chunks { chunk.deallocate() }
      chunks.removeAll()
      (next, left, chunkSize, bytes) = (nil, 0, firstChunk, 0)
      return
    }
    for chunk in chunks.dropFirst() { chunk.deallocate() }
    chunks.removeLast(chunks.count - 1)
    (next, left, chunkSize, bytes) = (first, firstChunk, min(firstChunk * 2, largestChunk), firstChunk)
  }

  /// `count` bytes, aligned to 8.
  @inline(__always)
  mutating func allocate(_ count: Int) -> UnsafeMutableRawPointer {
    let size = (count &+ 7) & ~7
    if size <= left, let p = next {
      next = p + size
      left &-= size
      return p
    }
    return allocateChunk(size)
  }

  /// `count` bytes that begin with a cache line. A machine of 32 bits is taken to have none, and little memory.
  mutating func allocateLines(_ count: Int) -> UnsafeMutableRawPointer {
    #if _pointerBitWidth(_64)
      let line = 64
      if let p = next {
        let off = Int(bitPattern: p) & (line - 1)
        if off != 0, line - off <= left {
          next = p + (line - off)
          left -= line - off
        }
      }
      return allocate(roundUp(count, to: line))
    #else
      return allocate(count)
    #endif
  }

  @inline(never)
  private mutating func allocateChunk(_ size: Int) -> UnsafeMutableRawPointer {
    if size > chunkSize / 4 {
      // A large piece gets a chunk of its own, and the current chunk goes on being used.
      let chunk = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: Self.alignment)
      if chunks.isEmpty { firstIsChunk = false }
      chunks.append(chunk)
      bytes += size
      return chunk
    }
    let chunk = UnsafeMutableRawPointer.allocate(byteCount: chunkSize, alignment: Self.alignment)
    if chunks.isEmpty { firstIsChunk = chunkSize == firstChunk }
    chunks.append(chunk)
    bytes += chunkSize
    next = chunk + size
    left = chunkSize - size
    chunkSize = min(chunkSize * 2, largestChunk)
    return chunk
  }
}
