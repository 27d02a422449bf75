/// A tree of what one transaction has put, or of the keys that it has deleted, apart from the tree that it was put
/// into, or deleted from; see ``WriteTransaction/runs``.
struct SpilledRun {
  var state: TreeState
  /// Whether its entries are deletions; their values are empty.
  var isDeletions: Bool

  /// Where there are more runs of a tree, it takes them in before anything is deleted from it: each is looked into for
  /// what is there.
  static let mostToSearch = 8
}

/// Reads a run from its first entry to its last, as changes like those of lists, and gives its pages up as it goes.
///
/// Nothing else reaches the pages of a run.
final class RunCursor {
  private struct Frame {
    var level: UInt8
    var count: Int
    var index: Int
  }

  private let context: MergeContext
  private let tree: TreeID
  private let state: TreeState
  private let isDeletions: Bool
  @exclusivity(unchecked) private var frames: [Frame] = []
  /// Copies of the pages on the path, by level.
  @exclusivity(unchecked) private var pages: [UnsafeMutableRawPointer] = []
  /// Where the key of the present entry is written.
  private let scratch: UnsafeMutableRawPointer
  /// Good until the next one is asked for.
  @exclusivity(unchecked) private(set) var change: MergeChange?
  /// Why the run ended before its end.
  @exclusivity(unchecked) private(set) var failure: StoreError?

  init(_ context: MergeContext, _ tree: TreeID, _ run: SpilledRun) {
    self.context = context
    self.tree = tree
    state = run.state
    isDeletions = run.isDeletions
    scratch = .allocate(byteCount: context.pageSize, alignment: 16)
  }

  deinit {
    scratch.deallocate()
    for page in pages { page.deallocate() }
  }

  func seekFirst() {
    if state.root.isNone { return }
    attempt { () throws(StoreError) in try descend(state.root, state.level) }
  }

  func next() {
    attempt { () throws(StoreError) in
      while let top = frames.indices.last {
        frames[top].index += 1
        let frame = frames[top]
        if frame.index < frame.count {
          if frame.level == 0 { return show(frame.index) }
          return try descend(child(UnsafeRawPointer(pages[Int(frame.level)]), frame.index), frame.level - 1)
        }
        frames.removeLast()
      }
      change = nil
    }
  }

  private func attempt(_ body: () throws(StoreError) -> Void) {
    do throws(StoreError) { try body() } catch {
      failure = error
      frames = []
      change = nil
    }
  }

  /// To the first entry below a page.
  private func descend(_ ref: PageRef, _ level: UInt8) throws(StoreError) {
    var ref = ref
    var level = level
    while true {
      while pages.count <= Int(level) { pages.append(.allocate(byteCount: context.pageSize + 16, alignment: 16)) }
      let page = pages[Int(level)]
      try context.copy(ref, tree: tree, level: level, kind: state.kind, to: page)
      context.space.release(ref.address, ref.length)
      frames.append(Frame(level: level, count: UnsafeRawPointer(page).pageCount, index: 0))
      if level == 0 { break }
      ref = child(UnsafeRawPointer(page), 0)
      level -= 1
    }
    show(0)
  }

  private func child(_ page: UnsafeRawPointer, _ i: Int) -> PageRef {
    state.kind == .integer ? IntegerInner(page).ref(i) : BytesInner(page).ref(i)
  }

  /// Makes an entry of the leaf the present change.
  private func show(_ i: Int) {
    let page = UnsafeRawPointer(pages[0])
    let key: TreeKey
    let value: UnsafeRawBufferPointer
    let isStub: Bool
    if state.kind == .integer {
      let leaf = IntegerLeaf(page)
      key = TreeKey(leaf.key(i))
      (value, isStub) = (leaf.value(i), leaf.isStub(i))
    } else {
      let leaf = BytesLeaf(page)
      let count = leaf.copyKey(i, to: scratch)
      key = TreeKey(UnsafeRawBufferPointer(start: scratch, count: count))
      (value, isStub) = (leaf.value(i), leaf.isStub(i))
    }
    change = MergeChange(key: key, value: value, op: isDeletions ? .delete : isStub ? .putStub : .put)
  }
}
