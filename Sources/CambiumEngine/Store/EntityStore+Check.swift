import CambiumKernel

/// What ``EntityStore/check()`` found.
public struct EngineCheckReport: Sendable {
  /// Findings of the kernel: pages, checksums, accounts.
  public var kernel: CheckReport
  /// Findings of the engine, a sentence each, at most ``limit``.
  public var problems: [String] = []
  /// Rows visited.
  public var rows = 0
  /// Entries of indexes, constraints and relationship trees visited.
  public var entries = 0

  /// No more findings of the engine than this are gathered.
  public static let limit = 1000

  /// Whether nothing was found.
  public var isSound: Bool { kernel.problems.isEmpty && problems.isEmpty }

  mutating func add(_ text: String) { if problems.count < Self.limit { problems.append(text) } }
}

extension EntityStore {
  /// Checks the file (see `Store.check()`), then every row, every index, constraint and relationship tree against the
  /// rows, both ways, and that to-one references lead to rows that are there.
  ///
  /// - Throws: ``EngineError/store(_:)`` when the store is closed and the like; damage is reported, not thrown.
  public func check() throws(EngineError) -> EngineCheckReport {
    let kernelReport = try storing { () throws(StoreError) in try kernel.check() }
    var report = EngineCheckReport(kernel: kernelReport)
    let view = try view()
    var expected: [TreeID: Set<[UInt8]>] = [:]
    let makers = plans.values.flatMap { $0.makers }
    for maker in makers { expected[maker.tree] = [] }
    for plan in plans.values {
      for (_, _, tree) in plan.backTrees { expected[tree] = [] }
    }
    for entity in schema.entities where entity.parentID == nil {
      do throws(EngineError) {
        try view.rows(entity: entity) { (row) throws(EngineError) in
          report.rows += 1
          do throws(EngineError) { try checkRow(row, view, &expected, &report) } catch {
            report.add("\(row.entity.name) \(row.reference.row): \(error.description)")
          }
          return true
        }
      } catch { report.add("\(entity.name): \(error.description)") }
    }
    // Indexes that are being built have what lies before a row, and may have more.
    var filledTo: [TreeID: UInt64] = [:]
    let catalogue = try Catalogue(view.trees)
    for (index, row) in catalogue.building { if let tree = catalogue.indexes[index] { filledTo[tree] = row } }
    for (tree, keys) in expected.sorted(by: { $0.key < $1.key }) {
      do throws(EngineError) { try checkTree(tree, keys, filledTo[tree], view, &report) } catch {
        report.add("tree \(tree.rawValue): \(error.description)")
      }
    }
    return report
  }

  private func checkRow(
    _ row: Row, _ view: EntityView, _ expected: inout [TreeID: Set<[UInt8]>], _ report: inout EngineCheckReport
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
    for relationship in plan.entity.allRelationships where !relationship.isToMany && !relationship.isTransient {
      guard let target = try row.reference(relationship) else { continue }
      if try view.row(target) == nil, relationship.deleteRule != .noAction {
        report.add("\(plan.entity.name) \(row.reference.row): '\(relationship.name)' leads to no object")
      }
    }
    for (relationship, _, tree) in plan.backTrees {
      guard let target = try row.reference(relationship) else { continue }
      var encoder = KeyEncoder()
      encoder.append(rowID: target.row)
      encoder.append(rowID: row.reference.row)
      expected[tree]?.insert(encoder.bytes)
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
