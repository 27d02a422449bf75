#if hasFeature(Embedded) && os(none)
  /// The memory that a program without an operating system allocates from.
  ///
  /// Embedded Swift calls `posix_memalign` and `free`. This module defines both, the latter as `cambium_free`, over the
  /// regions that the program hands to ``use(_:byteCount:)``. Do so before the first object is made: until then every
  /// allocation fails.
  ///
  /// A block takes 8 bytes more than was asked for, on a machine of 32 bits, rounded up to a multiple of 16. The heap
  /// takes the smallest free block that is large enough, and joins free neighbours when a block is freed.
  ///
  /// Not safe for several threads or interrupt handlers: use it from one of them alone.
  public enum DeviceHeap {
    /// The bytes that are allocated, with what each block takes besides.
    public private(set) nonisolated(unsafe) static var usedBytes = 0
    /// The most that ``usedBytes`` was since the start, or since ``resetMostUsedBytes()``.
    public private(set) nonisolated(unsafe) static var mostUsedBytes = 0
    /// The number of allocations since the start.
    public private(set) nonisolated(unsafe) static var allocationCount = 0
    // One thread alone uses the heap, so nothing races for this or any other `nonisolated(unsafe)` variable here.
    /// A function that is called with the number of bytes that could not be allocated. The program stops with a trap
    /// when it returns, so this is the place to report the failure, or to reset the device.
    public nonisolated(unsafe) static var whenExhausted: (@convention(c) (_ byteCount: Int) -> Void)?

    /// Begins a new measurement of ``mostUsedBytes``.
    public static func resetMostUsedBytes() { mostUsedBytes = usedBytes }

    /// Adds a region of memory to the heap. Nothing else may use the region from then on. Call this again for a second
    /// bank of memory.
    ///
    /// - Parameters:
    ///   - start: The first byte, at any address.
    ///   - byteCount: The length of the region. A region of less than a few hundred bytes is left alone.
    public static func use(_ start: UnsafeMutableRawPointer, byteCount: Int) {
      var first = UInt(bitPattern: start)
      let end = first &+ UInt(bitPattern: max(0, byteCount))
      if bins == nil {
        // The first region begins with the lists of free blocks.
        first = roundUp(first, to: UInt(MemoryLayout<UInt>.alignment))
        let size = UInt(MemoryLayout<UInt>.stride * binCount)
        guard first &+ size < end, let list = UnsafeMutablePointer<UInt>(bitPattern: first) else { return }
        for bin in 0..<binCount { list[bin] = 0 }
        bins = list
        first &+= size
      }
      // Payloads lie at multiples of 16, each right behind its head.
      let block = roundUp(first &+ headSize, to: grain) &- headSize
      guard end > block &+ leastBlock &+ 2 &* headSize &+ grain else { return }
      // A head of no block, which counts as used, ends the region.
      let size = (end &- headSize &- block) / grain * grain
      let last = Block(address: block &+ size)
      last.previousSize = size
      last.tag = 1
      let whole = Block(address: block)
      whole.previousSize = 0
      whole.tag = size
      insert(whole)
    }

    /// Allocates memory; nil if no free block is large enough.
    static func allocate(_ byteCount: Int, alignment: Int) -> UnsafeMutableRawPointer? {
      // An alignment is a power of two, and Swift never asks for more bytes than `Int` has.
      let padding = UInt(bitPattern: alignment) > grain ? UInt(bitPattern: alignment) &+ leastBlock : 0
      guard byteCount >= 0, byteCount < Int.max / 2, padding < UInt(Int.max / 4) else { return nil }
      let wanted = max(leastBlock, roundUp(UInt(byteCount) &+ headSize, to: grain))
      guard var block = smallest(of: wanted &+ padding) else { return nil }
      remove(block)
      if padding > 0 { block = aligned(block, to: UInt(bitPattern: alignment)) }
      cut(block, to: wanted)
      block.tag |= 1
      usedBytes &+= Int(bitPattern: block.size)
      mostUsedBytes = max(mostUsedBytes, usedBytes)
      allocationCount &+= 1
      return UnsafeMutableRawPointer(bitPattern: block.address &+ headSize)
    }

    /// Frees memory that ``allocate(_:alignment:)`` gave.
    static func free(_ pointer: UnsafeMutableRawPointer) {
      var block = Block(address: UInt(bitPattern: pointer) &- headSize)
      block.tag &= ~1
      usedBytes &-= Int(bitPattern: block.size)
      let next = block.next
      if !next.isUsed {
        remove(next)
        block.tag = block.size &+ next.size
      }
      if block.previousSize > 0, !block.previous.isUsed {
        let previous = block.previous
        remove(previous)
        previous.tag = previous.size &+ block.size
        block = previous
      }
      block.next.previousSize = block.size
      insert(block)
    }

    // MARK: Blocks

    //      0               1 word   2 words      3 words
    //     +---------------+--------+------------+----------------+
    //     | size of block | size   | next free  | former free    |
    //     | before        | used=1 | block      | block          |
    //     +---------------+--------+------------+----------------+
    //     A block that is used has its memory in place of the two links.

    private static let grain: UInt = 16
    private static let headSize = UInt(2 * MemoryLayout<UInt>.size)
    private static let leastBlock: UInt = headSize &+ 16
    private static let binCount = UInt.bitWidth
    /// For each power of two, the address of the first free block of that size up to twice that size; 0 for none.
    private nonisolated(unsafe) static var bins: UnsafeMutablePointer<UInt>?

    private struct Block {
      let address: UInt

      // An address is never zero, because it lies in a region.
      private var words: UnsafeMutablePointer<UInt> { UnsafeMutablePointer(bitPattern: address).unsafelyUnwrapped }
      var previousSize: UInt {
        get { words[0] }
        nonmutating set { words[0] = newValue }
      }
      var tag: UInt {
        get { words[1] }
        nonmutating set { words[1] = newValue }
      }
      var nextFree: UInt {
        get { words[2] }
        nonmutating set { words[2] = newValue }
      }
      var formerFree: UInt {
        get { words[3] }
        nonmutating set { words[3] = newValue }
      }
      var size: UInt { tag & ~1 }
      var isUsed: Bool { tag & 1 == 1 }
      var next: Block { Block(address: address &+ size) }
      var previous: Block { Block(address: address &- previousSize) }
    }

    private static func roundUp(_ value: UInt, to unit: UInt) -> UInt { (value &+ unit &- 1) & ~(unit &- 1) }

    private static func bin(of size: UInt) -> Int { UInt.bitWidth &- 1 &- size.leadingZeroBitCount }

    private static func insert(_ block: Block) {
      guard let bins else { return }
      let bin = bin(of: block.size)
      block.nextFree = bins[bin]
      block.formerFree = 0
      if bins[bin] != 0 { Block(address: bins[bin]).formerFree = block.address }
      bins[bin] = block.address
    }

    private static func remove(_ block: Block) {
      if block.formerFree != 0 {
        Block(address: block.formerFree).nextFree = block.nextFree
      } else if let bins {
        bins[bin(of: block.size)] = block.nextFree
      }
      if block.nextFree != 0 { Block(address: block.nextFree).formerFree = block.formerFree }
    }

    /// The smallest free block of at least `size` bytes.
    private static func smallest(of size: UInt) -> Block? {
      guard let bins else { return nil }
      for bin in bin(of: size)..<binCount {
        var best: Block?
        var address = bins[bin]
        while address != 0 {
          let block = Block(address: address)
          if block.size == size { return block }
          if block.size > size, best.map({ block.size < $0.size }) ?? true { best = block }
          address = block.nextFree
        }
        if let best { return best }
      }
      return nil
    }

    /// Frees what lies before the first address in a block at which an aligned payload can begin. The block has room
    /// for that.
    private static func aligned(_ block: Block, to alignment: UInt) -> Block {
      let payload = block.address &+ headSize
      var start = roundUp(payload, to: alignment)
      if start == payload { return block }
      if start &- payload < leastBlock { start = roundUp(payload &+ leastBlock, to: alignment) }
      let rest = Block(address: start &- headSize)
      let lead = rest.address &- block.address
      rest.previousSize = lead
      rest.tag = block.size &- lead
      rest.next.previousSize = rest.size
      block.tag = lead
      insert(block)
      return rest
    }

    /// Frees what a block has beyond `size` bytes, if that is a block.
    private static func cut(_ block: Block, to size: UInt) {
      guard block.size &- size >= leastBlock else { return }
      let rest = Block(address: block.address &+ size)
      rest.previousSize = size
      rest.tag = block.size &- size
      block.tag = size
      let next = rest.next
      if !next.isUsed {
        remove(next)
        rest.tag = rest.size &+ next.size
      }
      rest.next.previousSize = rest.size
      insert(rest)
    }
  }

  /// What Embedded Swift allocates with.
  @_cdecl("posix_memalign")
  func posixMemalign(
    _ result: UnsafeMutablePointer<UnsafeMutableRawPointer?>, _ alignment: Int, _ byteCount: Int
  ) -> CInt {
    if let memory = DeviceHeap.allocate(byteCount, alignment: alignment) {
      result.pointee = memory
      return 0
    }
    if let report = DeviceHeap.whenExhausted { report(byteCount) }
    // Swift stops a program that cannot make an object, but goes on with a null pointer where other memory is asked
    // for.
    precondition(false, "the heap is exhausted")
    return 12
  }

  /// What `free` has to be: Swift reserves that name. `ld.lld --defsym=free=cambium_free` gives the symbol both names.
  /// wasm-ld has no such option, so that a line of assembly has to call this function there.
  @_cdecl("cambium_free")
  func cambiumFree(_ pointer: UnsafeMutableRawPointer?) {
    if let pointer { DeviceHeap.free(pointer) }
  }
#endif
