import Synchronization

extension TreeView {
  /// Keys of a list that are brought into the cache together.
  private static let chunk = 64

  /// More threads wait for each other's pages.
  private static let mostThreads = 4

  /// Keys whose misses decide whether those behind them are brought by several threads.
  static let stretch = 1024

  /// Whether it may pay to have other threads bring the pages that so many keys lead to: to make a thread takes as long
  /// as a few dozen pages. What ``Store/inOrder(_:mostThreads:make:use:)`` has made ahead is a small part of the cache,
  /// so that nothing is driven out before it is told.
  final func mayBringAhead(_ keys: Int) -> Bool {
    keys >= 4 * Self.stretch && core.threadCount > 1 && allowsConcurrentReads
      && core.cache.capacity >= 2 * Self.chunk * (Self.mostThreads + 2)
  }

  /// Whether so many misses in a stretch of keys are many.
  static func areMany(_ misses: UInt64) -> Bool { misses >= UInt64(stretch / 4) }

  /// Tells the entries of keys as ``forEach(_:of:_:)`` does, on the calling thread, while others bring the pages of
  /// those behind into the cache. What takes long of a page that is not there is the system's call and its checksum,
  /// which several threads can do at a time.
  final func forEachAhead(
    _ access: TreeAccess, _ keys: ArraySlice<UInt64>,
    _ body: (UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
  ) throws(StoreError) {
    // Snapshots may be read by any number of threads, and what a tree was found as does not change.
    nonisolated(unsafe) let (view, access) = (self, access)
    do throws(End) {
      // Who made threads may hold what they did for a while, but not what is called here.
      try withoutActuallyEscaping(body) { (body) throws(End) in
        nonisolated(unsafe) let teller = Teller(view, access, body)
        defer { teller.body = nil }
        let chunks = (keys.count + Self.chunk - 1) / Self.chunk
        try core.inOrder(
          chunks, mostThreads: Self.mostThreads,
          make: { (n, _: Int?) throws(End) in
            view.bring(access, Self.part(keys, n), unless: teller)
            return n
          }, use: { (n) throws(End) in try teller.tell(Self.part(keys, n)) })
        if teller.told < keys.count { throw .failed(.misuse("the host did not call the work that it was given")) }
      }
    } catch {
      if case .failed(let error) = error { throw error }
    }
  }

  /// The keys of a chunk.
  private static func part(_ keys: ArraySlice<UInt64>, _ n: Int) -> ArraySlice<UInt64> {
    keys.dropFirst(n * chunk).prefix(chunk)
  }

  /// Why no more is told.
  private enum End: Error {
    case enough
    case failed(StoreError)
  }

  /// Has the pages that keys lead to in the cache, if they can be read.
  private final func bring(_ access: TreeAccess, _ keys: ArraySlice<UInt64>, unless teller: Teller) {
    let cache = core.cache
    var rest = keys
    // No more in one epoch than the teller reads: the cache has so many frames ready for each.
    while !rest.isEmpty, !teller.isOver {
      let slot = cache.slots.enter(hint)
      defer { cache.slots.leave(slot) }
      var near = NearPages()
      // Whoever tells the entries meets what is wrong with them, behind those that can be read.
      do throws(StoreError) {
        for key in rest.prefix(Self.batch) { _ = try access.find(TreeKey(key), cache, near: &near) }
      } catch { return }
      rest = rest.dropFirst(Self.batch)
    }
  }

  /// Who is told the entries, until the call ends: used by the calling thread alone, but for ``isOver``.
  private final class Teller {
    private let view: TreeView
    private let access: TreeAccess
    var body: ((UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Bool)?
    /// How many keys were gone through.
    private(set) var told = 0
    private var found: [FoundValue?] = []
    private let hasEnded = Atomic(false)

    init(
      _ view: TreeView, _ access: TreeAccess,
      _ body: @escaping (UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) {
      self.view = view
      self.access = access
      self.body = body
    }

    /// Whether nobody waits for more.
    var isOver: Bool { hasEnded.load(ordering: .relaxed) }

    func tell(_ keys: ArraySlice<UInt64>) throws(End) {
      guard let body else { return }
      do throws(StoreError) {
        if try view.forEach(access, keys, &found, body) {
          told += keys.count
          return
        }
      } catch {
        hasEnded.store(true, ordering: .relaxed)
        throw .failed(error)
      }
      hasEnded.store(true, ordering: .relaxed)
      throw .enough
    }
  }
}
