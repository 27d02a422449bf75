import CambiumKernel

extension EntityView {
  /// Of the rows that are looked at, the distinct values by an index may take one in so many; else a scan costs less.
  private static var rowsPerAsked: Double { 16 }

  /// The index whose parts are the distinct values that a request with a condition asks for; nil if there is none, or
  /// so few rows that a scan costs less.
  func distinctIndex(_ request: EngineValuesFetch, _ design: ValuesDesign) throws(EngineError) -> KeyMaker? {
    guard request.fetch.usesIndexes, request.fetch.predicate != nil else { return nil }
    let planner = try FetchPlanner(self, request.fetch.entity, costs: request.fetch.costs)
    if planner.plan.sharesRows || planner.rowCount < 4096 { return nil }
    return planner.makers.first { maker in
      guard maker.partial == nil, maker.paths.count == design.read.count else { return false }
      for expression in design.read {
        guard case .keyPath(let path) = expression, maker.paths.contains(path) else { return false }
      }
      return true
    }
  }

  /// The slots of each distinct result, in the order in which their first objects come. Of the rows with the same key
  /// one after the other is asked until the condition holds for one; the others are passed over. Nil if keys were
  /// cut, or if so many rows had to be asked that a scan costs less.
  func distinctSlots(
    by maker: KeyMaker, _ request: EngineValuesFetch, _ design: ValuesDesign
  ) throws(EngineError) -> [[Value]]? {
    let plan = try store.plan(request.fetch.entity.id)
    guard let predicate = try checked(request.fetch) else { return nil }
    _ = try settle()
    let paths = PathReader(view: self)
    paths.prepare(for: predicate)
    let sieve = try RowSieve(
      self, plan, predicate, includesSubentities: request.fetch.includesSubentities, paths)
    let reader = ValuesReader(self, design.read)
    // Asking row by row costs more than a scan does for a row, and is given up before it costs as much as the usual
    // way.
    var unordered = request.fetch
    unordered.sort = []
    unordered.limit = nil
    let usual = try choose(unordered).cost / request.fetch.costs.strayRow
    let rows = Double(try storing { () throws(StoreError) in try trees.count(plan.rows) })
    var left = Int(min(usual / 2, rows / Self.rowsPerAsked, 1e9))
    let longestWhole = store.kernel.maxKeyLength - 48
    var found: [(row: UInt64, slots: [Value])] = []
    let cursor = try storing { () throws(StoreError) in try trees.cursor(maker.tree) }
    var isAtEntry = try storing { () throws(StoreError) in try cursor.seekFirst() }
    var key: [UInt8] = []
    while isAtEntry {
      if let isCancelled = request.fetch.isCancelled, isCancelled() { throw .cancelled }
      let entry = cursor.key
      let (row, end) = try storing { () throws(StoreError) in try KeyDecoder.rowID(atEndOf: entry) }
      left -= 1
      if end > longestWhole || left < 0 { return nil }
      key.removeAll(keepingCapacity: true)
      key.append(contentsOf: UnsafeRawBufferPointer(rebasing: entry[..<end]))
      var holds = false
      _ = try offer(row, plan, sieve) { (row) throws(EngineError) in
        var slots: [Value] = []
        try reader.read(row, into: &slots)
        found.append((row.reference.row, slots))
        holds = true
        return false
      }
      if !holds, !isPlanted(.distinctRowsPassedOver) {
        isAtEntry = try storing { () throws(StoreError) in try cursor.next() }
        continue
      }
      guard let next = KeyRange.upperBound(ofPrefix: key) else { break }
      isAtEntry = try next.withUnsafeBytesEngine { (b) throws(EngineError) in
        try storing { () throws(StoreError) in try cursor.seek(b) }
      }
    }
    found.sort { $0.row < $1.row }
    return found.map { $0.slots }
  }
}
