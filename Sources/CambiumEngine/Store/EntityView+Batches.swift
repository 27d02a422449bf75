import CambiumKernel
import Synchronization

extension EntityView {
  /// So many threads take part in copying rows that one caller looks at: more of them copy no sooner.
  static var mostCopying: Int { 4 }
  /// Of fewer objects, or in smaller batches, the calling thread copies the rows: to make threads, and to hand batches
  /// on, takes as long.
  private static var leastShared: Int { 1024 }
  private static var leastBatch: Int { 16 }
  /// So many bytes of rows that nobody has come to yet are enough: what is behind is copied when it is its turn.
  private static var mostBytesAhead: Int { 16 << 20 }

  /// Calls `body` with copies of the rows of some objects, a batch after the other and on the calling thread, until it
  /// answers false. Threads of the host's copy those of the batches behind meanwhile, six batches and some megabytes
  /// ahead at most, where views may be read by several. The rows of a batch are in no order that means anything, each
  /// once; those that are not there are left out. `body` may take long, and do anything but close the store.
  ///
  /// - Parameters:
  ///   - references: The objects, each once.
  ///   - first: With which of them to begin.
  ///   - size: How many a batch has; more than none.
  ///   - body: Is told which of the objects they are as well.
  /// - Throws: what reading throws, behind the batches before; what `body` throws; ``EngineError/misuse(_:)`` if the
  ///   host does not call what it is given to run concurrently.
  public func forEachBatch(
    of references: [ObjectReference], from first: Int, size: Int,
    _ body: (FoundRows, Range<Int>) throws(EngineError) -> Bool
  ) throws(EngineError) {
    try forEachBatch(of: references, from: first, size: size, mostBytesAhead: Self.mostBytesAhead, body)
  }

  /// The same with another bound of what is copied ahead.
  func forEachBatch(
    of references: [ObjectReference], from first: Int, size: Int, mostBytesAhead: Int,
    _ body: (FoundRows, Range<Int>) throws(EngineError) -> Bool
  ) throws(EngineError) {
    guard size > 0, first >= 0, first < references.count else { return }
    let count = (references.count - first - 1) / size + 1
    // Views of snapshots may be used by any number of threads.
    nonisolated(unsafe) let view = self
    @Sendable func batch(_ n: Int) -> Range<Int> {
      // None is behind the last: neither the product nor the sum overflows.
      let start = first + n * size
      return start..<(start + min(size, references.count - start))
    }
    let isShared =
      trees.allowsConcurrentReads && store.kernel.threadCount > 1 && references.count - first >= Self.leastShared
      && size >= Self.leastBatch && count > 1
    let ahead = BytesAhead()
    var used = 0
    do throws(End) {
      // Who made threads may hold what they did for a while, but not what is called here.
      try withoutActuallyEscaping(body) { (body) throws(End) in
        nonisolated(unsafe) let listener = Listener(body)
        defer { listener.body = nil }
        try store.kernel.inOrder(
          count, mostThreads: isShared ? Self.mostCopying : 1,
          make: { (n, spare: CopiedBatch?) throws(End) in
            let batch = batch(n)
            let copied = spare ?? CopiedBatch()
            (copied.objects, copied.error) = (batch, nil)
            copied.isWhole = !isShared || ahead.isLess(than: mostBytesAhead)
            if !copied.isWhole { return copied }
            do throws(EngineError) {
              copied.rows = try view.copies(of: references[batch])
              copied.rows.isCopiedAhead = isShared
              ahead.add(copied.rows.byteCount)
            } catch { copied.error = error }
            return copied
          },
          use: { (copied) throws(End) in
            used += 1
            ahead.add(-copied.rows.byteCount)
            if !copied.isWhole {
              do throws(EngineError) { copied.rows = try view.copies(of: references[copied.objects]) } catch {
                throw .failed(error)
              }
            }
            try listener.take(copied)
          })
      }
    } catch {
      switch error {
      case .enough: return
      case .failed(let error): throw error
      }
    }
    if used < count { throw .misuse("the host did not call the work that it was given") }
  }

  /// Copies of the rows of some objects, by the calling thread alone.
  private func copies(of references: ArraySlice<ObjectReference>) throws(EngineError) -> FoundRows {
    var found = FoundRows()
    for (entity, rows) in Self.rowsByEntity(references) {
      try add(sortedNumbers(rows)[...], of: entity, to: &found)
    }
    return found
  }

  /// The rows of a batch, or why they could not be read.
  private final class CopiedBatch: @unchecked Sendable {
    // `@unchecked`: used by one thread at a time, which the line hands it to.
    var objects = 0..<0
    var rows = FoundRows()
    /// Whether its rows were copied; if not, whoever comes to it does so.
    var isWhole = true
    var error: EngineError?
  }

  /// How many bytes of rows have been copied that nobody has come to.
  private final class BytesAhead: Sendable {
    private let count = Atomic<Int>(0)

    func isLess(than most: Int) -> Bool { count.load(ordering: .relaxed) < most }
    func add(_ bytes: Int) { count.wrappingAdd(bytes, ordering: .relaxed) }
  }

  /// Why no more is told.
  private enum End: Error {
    case enough
    case failed(EngineError)
  }

  /// Who is told batches, until the call ends.
  private final class Listener {
    /// Used by the calling thread alone.
    var body: ((FoundRows, Range<Int>) throws(EngineError) -> Bool)?

    init(_ body: @escaping (FoundRows, Range<Int>) throws(EngineError) -> Bool) { self.body = body }

    func take(_ copied: CopiedBatch) throws(End) {
      if let error = copied.error { throw .failed(error) }
      guard let body else { return }
      let rows = copied.rows
      // Whoever copies the next ones need not keep these.
      copied.rows = FoundRows()
      let goesOn: Bool
      do throws(EngineError) { goesOn = try body(rows, copied.objects) } catch { throw .failed(error) }
      if !goesOn { throw .enough }
    }
  }
}
