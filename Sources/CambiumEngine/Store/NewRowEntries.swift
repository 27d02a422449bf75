import CambiumKernel

/// What indexes are to have of new rows that a transaction writes one behind the other, as who loads many does: the
/// kernel gathers such rows and takes them into pages many at a time, and meanwhile, while their bytes are at hand,
/// other threads gather their entries.
final class NewRowEntries: TailObserver {
  /// It owns this.
  private unowned(unsafe) let transaction: EntityTransaction
  /// What threads gather, by the tree of the rows.
  private var gatherers: [TreeID: [IndexGatherer]] = [:]
  /// Those that take rows at present.
  private var taking: [IndexGatherer] = []
  /// Memory that takes what was gathered, in bytes.
  @exclusivity(unchecked) private(set) var bytes = 0

  init(_ transaction: EntityTransaction) {
    self.transaction = transaction
    transaction.transaction.observer = self
  }

  func willTake(from tree: TreeID, parts: Int) {
    guard let plan = transaction.store.plans.values.first(where: { $0.rows == tree && !$0.sharesRows }) else {
      // `RowWriter` does not ask for this of such a tree.
      return transaction.breakOff(.misuse("rows were gathered whose indexes nobody keeps"))
    }
    var made = gatherers[tree] ?? []
    while made.count < parts { made.append(IndexGatherer(transaction, [plan])) }
    gatherers[tree] = made
    taking = made
  }

  func take(_ values: TailValues, part: Int) {
    if part < taking.count { taking[part].take(values) }
  }

  func didTake() {
    for gatherer in taking { if let failure = gatherer.failure { transaction.breakOff(failure) } }
    taking = []
    bytes = parts.reduce(0) { $0 + $1.batchedBytes }
  }

  /// Has those that gathered, who are asked to make it or to forget it.
  private var parts: [EntityTransaction] {
    gatherers.ordered { $0.key < $1.key }.flatMap { $0.value.map { $0.part } }
  }

  /// Hands out who has gathered something; nothing is left then.
  func takeAll() -> [EntityTransaction] {
    bytes = 0
    return parts
  }

  /// Nothing more is to be told.
  func end() {
    if transaction.transaction.observer === self { transaction.transaction.observer = nil }
    for part in parts { part.end() }
    gatherers = [:]
  }
}
