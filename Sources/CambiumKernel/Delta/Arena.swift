/// Memory that is given out piece by piece and freed all at once.
struct Arena: ~Copyable {
  private var chunks: [UnsafeMutableRawPointer] = []
  private var next: UnsafeMutableRawPointer?
  private var left = 0
  private var chunkSize = 4096
  /// The first chunk has the usual size, and not that of a large piece.
  private var firstIsChunk = false
  /// Bytes held, used or not.
  private(set) var bytes = 0

  deinit { for chunk in chunks { chunk.deallocate() } }

  /// Takes everything back; the first chunk is kept.
  mutating func reset() {
    guard let first = chunks.first, bytes >= 4096, firstIsChunk else {
      for chunk in chunks { chunk.deallocate() }
      chunks.removeAll()
      (next, left, chunkSize, bytes) = (nil, 0, 4096, 0)
      return
    }
    for chunk in chunks.dropFirst() { chunk.deallocate() }
    chunks.removeLast(chunks.count - 1)
    (next, left, chunkSize, bytes) = (first, 4096, 8192, 4096)
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

  /// `count` bytes that begin with a cache line.
  mutating func allocateLines(_ count: Int) -> UnsafeMutableRawPointer {
    let line = 64
    if let p = next {
      let off = Int(bitPattern: p) & (line - 1)
      if off != 0, line - off <= left {
        next = p + (line - off)
        left -= line - off
      }
    }
    return allocate(roundUp(count, to: line))
  }

  @inline(never)
  private mutating func allocateChunk(_ size: Int) -> UnsafeMutableRawPointer {
    if size > chunkSize / 4 {
      // A large piece gets a chunk of its own, and the current chunk goes on being used.
      let chunk = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
      if chunks.isEmpty { firstIsChunk = false }
      chunks.append(chunk)
      bytes += size
      return chunk
    }
    let chunk = UnsafeMutableRawPointer.allocate(byteCount: chunkSize, alignment: 64)
    if chunks.isEmpty { firstIsChunk = chunkSize == 4096 }
    chunks.append(chunk)
    bytes += chunkSize
    next = chunk + size
    left = chunkSize - size
    if chunkSize < 1 << 20 { chunkSize *= 2 }
    return chunk
  }
}
