/// A checkpoint under way: the merge of a frozen delta (and of a large transaction's own changes) into the trees, and
/// the publication of the result.
///
/// Phases, in order, each left only when its condition holds:
/// 1. merging: tree after tree, then the tree of extents.
/// 2. directory: written behind the pages.
/// 3. first sync: one that began after all of this was written has returned.
/// 4. superblock: written to the older slot.
/// 5. second sync: one that began after that has returned. Only now what the publication supersedes may be used again.
final class Checkpoint {
  enum Phase {
    case merging
    case directory
    case firstSync(ticket: UInt64)
    case superblock
    case secondSync(ticket: UInt64)
    case done
  }

  /// What a transaction that is committed by this checkpoint brings along.
  struct Input {
    var own: DeltaTable
    var spilled: [TreeID: TreeState]
    var figures: FigureTable
    /// Asked for its counters when the directory is written.
    var transaction: WriteTransaction
  }

  var phase = Phase.merging
  let publication: UInt64
  /// The newest commit in it.
  let sequence: UInt64
  /// The newest commit in the frozen delta.
  let frozenSequence: UInt64
  let base: Generation
  let context: MergeContext
  let input: Input?
  /// Whether what was committed since a retained commit is given up; see
  /// ``Store/beginWrite(restoring:keepsRetained:)``.
  var restores: Bool { input?.transaction.restoring != nil }
  let plan: RelocationPlan
  /// Values that are written in another form on the way.
  let conversion: ValueConversion?
  /// Where the log stood when the delta was frozen. What comes behind is not in the checkpoint. Log segments before
  /// this one hold nothing that is needed once the checkpoint is durable.
  let mark: LogPiece
  var trees: [TreeID: TreeState]
  var queue: [TreeID] = []
  var merge: (tree: TreeID, merge: TreeMerge)?
  var sweep: TreeSweep?
  var extentsQueued = false
  var superblock: Superblock?
  var directoryPages: [PageRef] = []
  var retain: RetainedEntry?
  /// The retained commits once this is published.
  var retainedAfter: [RetainedEntry] = []
  /// Restores the accounts if the checkpoint has to be given up.
  let savedTable: SegmentTable

  init(
    publication: UInt64, sequence: UInt64, frozenSequence: UInt64, base: Generation, context: MergeContext,
    input: Input?, plan: RelocationPlan, conversion: ValueConversion? = nil, mark: LogPiece, savedTable: SegmentTable
  ) {
    self.publication = publication
    self.sequence = sequence
    self.frozenSequence = frozenSequence
    self.base = base
    self.context = context
    self.input = input
    self.plan = plan
    self.conversion = conversion
    self.mark = mark
    self.savedTable = savedTable
    trees = base.trees
    for (id, t) in input?.spilled ?? [:] { trees[id] = t }
    var ids = Set(base.frozen?.trees ?? [])
    for id in input?.own.trees ?? [] { ids.insert(id) }
    for (id, _) in input?.figures.entries ?? [] { ids.insert(id) }
    for id in plan.marks.keys { ids.insert(id) }
    if let conversion { ids.insert(conversion.tree) }
    ids.remove(.extents)
    queue = ids.ordered().reversed()
  }
}

/// Walks the inner pages of a dropped tree and releases all of its pages.
final class TreeSweep {
  let tree: TreeID
  private let context: MergeContext
  private let kind: TreeKind
  private let readsLeaves: Bool
  private var stack: [(ref: PageRef, level: UInt8)] = []
  private let buffer: UnsafeMutableRawPointer

  init(tree: TreeID, state: TreeState, context: MergeContext) {
    self.tree = tree
    self.context = context
    kind = state.kind
    readsLeaves = state.largeValues > 0
    buffer = .allocate(byteCount: context.pageSize, alignment: 16)
    if !state.root.isNone { stack.append((state.root, state.level)) }
  }

  deinit { buffer.deallocate() }

  func step(budget: inout Int) throws(StoreError) -> Bool {
    while budget > 0 {
      guard let (ref, level) = stack.popLast() else { return true }
      context.space.release(ref.address, ref.length)
      if level == 0, !readsLeaves { continue }
      budget -= 1
      try context.copy(ref, tree: tree, level: level, kind: kind, to: buffer)
      let page = UnsafeRawPointer(buffer)
      let count = page.pageCount
      if level == 0 {
        for i in 0..<count {
          let isStub = kind == .integer ? IntegerLeaf(page).isStub(i) : BytesLeaf(page).isStub(i)
          guard isStub else { continue }
          let value = kind == .integer ? IntegerLeaf(page).value(i) : BytesLeaf(page).value(i)
          if let stub = LargeValueStub(value) { context.freeValue(stub.id) }
        }
        continue
      }
      for i in 0..<count {
        let child = kind == .integer ? IntegerInner(page).ref(i) : BytesInner(page).ref(i)
        stack.append((child, level - 1))
      }
    }
    return stack.isEmpty
  }
}
