import CambiumKernel

/// What ``EntityStore/check()`` found.
public struct EngineCheckReport: Sendable {
  /// Findings of the kernel: pages, checksums, accounts.
  public var kernel: CheckReport
  /// Findings of the engine, a sentence each, at most ``limit``.
  public var problems: [String] = []
  /// What relationships say that does not fit, a sentence each, at most ``limit``: one leads to an object that is gone,
  /// though a rule takes it back from there, or to one that does not lead back. That is no damage: a migration leaves
  /// it that gives a relationship an inverse, or another rule, and whoever writes one side only.
  public var relationships: [String] = []
  /// Rows visited.
  public var rows = 0
  /// Entries of indexes, constraints and relationship trees visited.
  public var entries = 0

  /// No more findings of the engine than this are gathered.
  public static let limit = 1000

  /// Whether nothing was found, ``relationships`` aside.
  public var isSound: Bool { kernel.problems.isEmpty && problems.isEmpty }

  mutating func add(_ text: String) { if problems.count < Self.limit { problems.append(text) } }

  mutating func add(relationship text: String) {
    if relationships.count < Self.limit { relationships.append(text) }
  }

  /// Runs a part of the check, and notes what it throws as a finding, unless that says nothing of what is stored.
  mutating func noting(
    _ place: @autoclosure () -> String, _ body: (inout EngineCheckReport) throws(EngineError) -> Void
  ) throws(EngineError) {
    do throws(EngineError) { try body(&self) } catch {
      if error.isOfTheMoment { throw error }
      add("\(place()): \(error.description)")
    }
  }
}

extension EngineError {
  /// Whether it says nothing of what is stored, but that the store cannot be asked now.
  fileprivate var isOfTheMoment: Bool {
    switch self {
    case .modelChanged, .cancelled: return true
    case .store(let error):
      switch error {
      case .closed, .suspended, .snapshotExpired, .forked, .busy, .poisoned, .fileLost: return true
      default: return false
      }
    default: return false
    }
  }
}

extension EntityStore {
  /// Checks the file (see `Store.check()`), then, as of one commit, every row, every index, constraint and relationship
  /// tree against the rows, both ways; and where rows lead: that it is there, unless a rule says that it need not be,
  /// and that it leads back.
  ///
  /// Keeps the keys of all indexes, constraints and to-one relationships that are kept both ways in memory. O(n log n).
  ///
  /// - Throws: ``EngineError/store(_:)`` when the store is closed or suspended, also meanwhile, and the like;
  ///   ``EngineError/modelChanged``. Damage is reported, not thrown.
  public func check() throws(EngineError) -> EngineCheckReport {
    // Of now, and not of a model that another process may have given the store when the file has been gone through.
    var view: EntityView?
    var unreadable: EngineError?
    do throws(EngineError) { view = try self.view() } catch {
      if error.isOfTheMoment { throw error }
      unreadable = error
    }
    var report = EngineCheckReport(kernel: try storing { () throws(StoreError) in try kernel.check() })
    if let unreadable { report.add("the model cannot be read: \(unreadable.description)") }
    if let view { try check(view, &report) }
    return report
  }

  private func check(_ view: EntityView, _ report: inout EngineCheckReport) throws(EngineError) {
    var expected: [TreeID: Set<[UInt8]>] = [:]
    let makers = plans.values.flatMap { $0.makers }
    for maker in makers { expected[maker.tree] = [] }
    for plan in plans.values {
      for (_, _, tree) in plan.backTrees { expected[tree] = [] }
    }
    var relationships = RelationshipCheck(view)
    var seen: Set<TreeID> = []
    for entity in schema.entities where entity.parentID == nil {
      // Several hierarchies may have their rows in one tree.
      let tree = try rows(of: entity.id)
      guard seen.insert(tree).inserted else { continue }
      try report.noting(entity.name) { (report) throws(EngineError) in
        try view.rows(tree: tree) { (row) throws(EngineError) in
          report.rows += 1
          try report.noting("\(row.entity.name) \(row.reference.row)") { (report) throws(EngineError) in
            let plan = try plan(row.reference.entity)
            if plan.rows != tree { throw .corrupt("the row is in the tree of another hierarchy") }
            try checkRow(row, view, &expected)
            try relationships.check(row, plan, &report)
          }
          return true
        }
      }
    }
    try relationships.finish(&report)
    // Indexes that are being built have what lies before a row, and may have more.
    var filledTo: [TreeID: UInt64] = [:]
    try report.noting("the catalogue") { (report) throws(EngineError) in
      let catalogue = try Catalogue(view.trees)
      for (index, row) in catalogue.building { if let tree = catalogue.indexes[index] { filledTo[tree] = row } }
    }
    for tree in expected.keys.ordered() {
      let keys = expected.removeValue(forKey: tree) ?? []
      try report.noting("tree \(tree.rawValue)") { (report) throws(EngineError) in
        try checkTree(tree, keys, filledTo[tree], view, &report)
      }
    }
  }

  private func checkRow(
    _ row: Row, _ view: EntityView, _ expected: inout [TreeID: Set<[UInt8]>]
  ) throws(EngineError) {
    try row.withView { (record) throws(StoreError) in try record.validate() }
    let plan = try plan(row.reference.entity)
    for maker in plan.makers {
      if let partial = maker.partial, try !PathReader(view: view).matches(partial, row) { continue }
      var encoder = KeyEncoder(limit: kernel.maxKeyLength)
      let anyNull = try row.withView { (record) throws(StoreError) in try maker.appendParts(record, to: &encoder) }
      if anyNull, maker.isSpatial { continue }
      encoder.append(rowID: row.reference.row)
      expected[maker.tree]?.insert(encoder.bytes)
    }
    for (relationship, _, tree) in plan.backTrees {
      guard let target = try row.reference(relationship) else { continue }
      expected[tree]?.insert(linkKey(target.row, row.reference.row))
    }
  }

  private func checkTree(
    _ tree: TreeID, _ keys: Set<[UInt8]>, _ filledTo: UInt64?, _ view: EntityView, _ report: inout EngineCheckReport
  ) throws(EngineError) {
    var missing = keys
    try storing { () throws(StoreError) in
      let cursor = try view.trees.cursor(tree)
      var more = try cursor.seekFirst()
      while more {
        report.entries += 1
        let key = Array(cursor.key)
        if missing.remove(key) == nil {
          report.add("tree \(tree.rawValue): an entry without a row that has its values")
        }
        more = try cursor.next()
      }
    }
    if let filledTo {
      for key in missing {
        let row = try key.withUnsafeBytesEngine { (k) throws(EngineError) in
          try storing { () throws(StoreError) in try KeyDecoder.rowID(atEndOf: k).id }
        }
        if row >= filledTo { missing.remove(key) }
      }
    }
    if !missing.isEmpty { report.add("tree \(tree.rawValue): \(missing.count) rows are missing") }
  }
}
