/// Values of a tree that are to be written in another form which means the same: in its pages, a stretch of keys at a
/// time (``Store/convert(_:)``).
///
/// No commit says so, and nothing goes through the log: a checkpoint that finds a value in one form leaves it in the
/// other. So whoever reads the tree has to understand both forms, before and afterwards, and whoever writes to it
/// meanwhile writes the new one.
///
///     keys         | ... | start ........................ next | ...
///     afterwards   | as  | in the new form, but for `left`     | as they were
///                  | they were
public final class ValueConversion: @unchecked Sendable {
  // Unchecked: once the store has it, it belongs to who has the turn to write.

  /// Answers whether a value is to be replaced, and with what.
  public typealias Body = (UInt64, UnsafeRawBufferPointer, ConvertedValue) throws(StoreError) -> Bool

  /// The tree. Its keys are integers.
  public let tree: TreeID
  /// The key to begin at.
  public let start: UInt64
  /// No more values are looked at.
  public let maximum: Int
  /// How many were.
  @exclusivity(unchecked) public private(set) var count = 0
  /// Those among them that lie outside of the pages, and were left as they are.
  @exclusivity(unchecked) public private(set) var left: [UInt64] = []
  /// The key to go on at; nil if there is none behind those that were looked at.
  @exclusivity(unchecked) public private(set) var next: UInt64?

  /// Whether others had the turn to write meanwhile.
  @exclusivity(unchecked) public internal(set) var isBesideOthers = false

  /// Nothing more is converted.
  @exclusivity(unchecked) private(set) var isStopped = false
  /// Whether a thread takes the checkpoint that does it further, so that commits need not. With the turn.
  var isDriven = false
  /// The leaves that were in the cache and have successors there.
  @exclusivity(unchecked) var replaced: [PageRef] = []
  let value = ConvertedValue()
  private let body: Body
  @exclusivity(unchecked) private var last: UInt64?
  private static let mostLeft = 1024

  /// A conversion that `body` does: it is told keys and values in order, sets the other form, and answers whether there
  /// is one. It may be called on any thread that writes, and must not use the store.
  public init(_ tree: TreeID, from start: UInt64, maximum: Int, _ body: @escaping Body) {
    self.tree = tree
    self.start = start
    self.maximum = max(1, maximum)
    self.body = body
  }

  /// Ends it before the next value. With the turn.
  func stop() {
    if isStopped { return }
    isStopped = true
    guard let last else { return next = start }
    if last < .max { next = last + 1 }
  }

  /// Notes that there are no more values.
  func end() { isStopped = true }

  /// Whether values before a key, or of any, may still be converted.
  @inline(__always)
  func covers(below high: UInt64?) -> Bool {
    if isStopped { return false }
    guard let high else { return true }
    return high > start
  }

  /// Looks at the next value; answers whether ``value`` takes its place.
  @inline(__always)
  func converts(_ key: UInt64, _ bytes: UnsafeRawBufferPointer, isStub: Bool) throws(StoreError) -> Bool {
    if isStopped || key < start { return false }
    if count == maximum || left.count == Self.mostLeft {
      isStopped = true
      next = key
      return false
    }
    count += 1
    last = key
    if isStub {
      left.append(key)
      return false
    }
    return try body(key, bytes, value)
  }
}

extension ValueConversion {
  /// Adds the entries of a leaf from the `i`th on to a run, in the form that they have afterwards, until there are none
  /// left or the run has more than so many bytes. Answers whether it ended at one whose other form, ``value``, is
  /// longer than a page holds.
  ///
  /// In one place, so that nothing is counted for an entry but by the body.
  @inline(never)
  func add(
    _ leaf: IntegerLeaf, _ i: inout Int, to run: inout EntryRun, inline: Int, atMost: Int
  ) throws(StoreError) -> Bool {
    let value = self.value
    while i < leaf.count, run.payload <= atMost {
      let key = leaf.key(i)
      let stored = leaf.value(i)
      let isStub = leaf.isStub(i)
      if try converts(key, stored, isStub: isStub) {
        let bytes = value.bytes
        if bytes.count > inline { return true }
        run.append(TreeKey(key), value: bytes, isStub: false)
      } else {
        run.append(TreeKey(key), value: stored, isStub: isStub)
      }
      i &+= 1
    }
    return false
  }
}

/// The other form of a value, as a ``ValueConversion`` sets it.
public final class ConvertedValue {
  @exclusivity(unchecked) private var memory = GrowingBytes()

  init() {}

  deinit { memory.deallocate() }

  var bytes: UnsafeRawBufferPointer { memory.bytes }

  /// Sets the value.
  public func set(_ value: UnsafeRawBufferPointer) {
    memory.removeAll()
    memory.append(value)
  }

  /// Begins a value of `count` bytes, all of which the caller writes before anything else happens.
  @inline(__always)
  func begin(_ count: Int) -> UnsafeMutableRawBufferPointer {
    memory.removeAll()
    return UnsafeMutableRawBufferPointer(start: memory.add(count), count: count)
  }
}
