import Synchronization

/// Something that happened to a tree as a whole: newest first in a list.
///
///      0      8          16      24
///     +------+----------+-------+
///     | next | sequence | total |
///     +------+----------+-------+
struct DeltaEvent: DeltaAddress {
  enum Kind {
    case created
    case dropped
    /// `total` is the change to the number of entries since this table began.
    case count
  }

  static let size = 24
  let p: UnsafeMutableRawPointer

  @inline(__always)
  init(p: UnsafeMutableRawPointer) { self.p = p }

  @inline(__always) var next: DeltaEvent? { DeltaEvent(word: UnsafeRawPointer(p).load(as: UInt.self)) }
  @inline(__always) var sequence: UInt64 { UnsafeRawPointer(p).load(fromByteOffset: 8, as: UInt64.self) }
  @inline(__always) var total: Int64 { UnsafeRawPointer(p).load(fromByteOffset: 16, as: Int64.self) }

  static func initialize(_ p: UnsafeMutableRawPointer, next: UInt, sequence: UInt64, total: Int64) -> DeltaEvent {
    p.zero(size)
    p.storeBytes(of: next, as: UInt.self)
    p.storeBytes(of: sequence, toByteOffset: 8, as: UInt64.self)
    p.storeBytes(of: total, toByteOffset: 16, as: Int64.self)
    return DeltaEvent(p: p)
  }

  /// The newest event of the list that begins at `newest` with a sequence of at most `upTo`.
  @inline(__always)
  static func newest(_ newest: UnsafeMutablePointer<Atomic<UInt>>, upTo: UInt64) -> DeltaEvent? {
    var event = DeltaEvent(word: newest.pointee.load(ordering: .acquiring))
    while let e = event, e.sequence > upTo { event = e.next }
    return event
  }
}

/// What a counter of a tree came to, newest first. Each has a list of its own: one that hardly ever changes is asked
/// for by every view, and must not be searched for behind the changes of one that every commit adds to.
///
///      0      8        16
///     +------+--------+-------+
///     | next | newest | index |
///     +------+--------+-------+
struct DeltaCounter: DeltaAddress {
  static let size = 24
  let p: UnsafeMutableRawPointer

  @inline(__always)
  init(p: UnsafeMutableRawPointer) { self.p = p }

  /// The next counter of the tree.
  @inline(__always) var next: DeltaCounter? { DeltaCounter(word: UnsafeRawPointer(p).load(as: UInt.self)) }
  @inline(__always) var newest: UnsafeMutablePointer<Atomic<UInt>> {
    (p + 8).assumingMemoryBound(to: Atomic<UInt>.self)
  }
  @inline(__always) var index: UInt32 { UnsafeRawPointer(p).load(fromByteOffset: 16, as: UInt32.self) }

  static func initialize(_ p: UnsafeMutableRawPointer, next: UInt, _ index: UInt32) -> DeltaCounter {
    p.zero(size)
    p.storeBytes(of: next, as: UInt.self)
    p.storeBytes(of: index, toByteOffset: 16, as: UInt32.self)
    let counter = DeltaCounter(p: p)
    counter.newest.initialize(to: Atomic(0))
    return counter
  }
}

extension DeltaList {
  @inline(__always)
  func wasCreated(upTo: UInt64) -> Bool { DeltaEvent.newest(events(.created), upTo: upTo) != nil }
  @inline(__always)
  func wasDropped(upTo: UInt64) -> Bool { DeltaEvent.newest(events(.dropped), upTo: upTo) != nil }

  /// How much the number of entries changed up to a sequence, since the table began.
  func countChange(upTo: UInt64) -> Int64 { DeltaEvent.newest(events(.count), upTo: upTo)?.total ?? 0 }

  /// How much a counter changed up to a sequence, since the table began. Takes time for each other counter of the tree,
  /// and for each later change of this one.
  func counterChange(_ index: UInt32, upTo: UInt64) -> Int64 {
    guard let counter = counter(index) else { return 0 }
    return DeltaEvent.newest(counter.newest, upTo: upTo)?.total ?? 0
  }

  /// Counter `index`, if it changed since the table began.
  func counter(_ index: UInt32) -> DeltaCounter? {
    var counter = DeltaCounter(word: counters.pointee.load(ordering: .acquiring))
    while let c = counter, c.index != index { counter = c.next }
    return counter
  }

  /// The numbers of the counters that changed.
  func counterIndexes(upTo: UInt64) -> [UInt32] {
    var found: [UInt32] = []
    var counter = DeltaCounter(word: counters.pointee.load(ordering: .acquiring))
    while let c = counter {
      if DeltaEvent.newest(c.newest, upTo: upTo) != nil { found.append(c.index) }
      counter = c.next
    }
    return found
  }
}
