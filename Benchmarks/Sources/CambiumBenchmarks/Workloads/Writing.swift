/// Changes: many in one transaction, and one in each.
func writingWorkloads(_ context: RunContext) -> [MainWorkload] {
  let many = max(500, context.rows / 10)
  let singles = max(200, context.rows / 1000)

  /// Rows that no other round or line touches are not needed for updates, only for deletions.
  func line(
    _ name: String, _ title: String, _ count: Int, _ change: @escaping (any Peer, [Int], Int) throws -> Void, part: Int,
    sorted: Bool, rounds: Int? = nil
  ) -> MainWorkload {
    MainWorkload(
      name, [Line(name, title, .rowsPerSecond)], rounds: rounds,
      checkAfter: { peer, context in try peer.digest(context.rows) },
      run: { peer, context, round in
        var ids = context.data.distinctIDs(count, part: part + round)
        if sorted { ids.sort() }
        let time = try seconds { try change(peer, ids, round) }
        return [name: Double(count) / time]
      })
  }

  return [
    line(
      "update", "update of a plain column, 10% of the rows, one durable transaction, ids in order", many,
      { peer, ids, round in try peer.setHours(ids: ids, Double(round) + 0.5, oneByOne: false) }, part: 0, sorted: true),
    line(
      "update-indexed", "update of an indexed column, 10% of the rows, one durable transaction, ids in order", many,
      { peer, ids, round in try peer.setPrimary(ids: ids, Aircraft.colour(UInt64(50 + round))) }, part: 3, sorted: true),
    line(
      "update-single", "random updates, each in a durable transaction of its own", singles,
      { peer, ids, round in try peer.setHours(ids: ids, Double(round) + 0.25, oneByOne: true) }, part: 5, sorted: false),
    line(
      "delete", "deletion of 10% of the rows, one durable transaction, ids in order", many,
      { peer, ids, _ in try peer.delete(ids: ids, oneByOne: false) }, part: 0, sorted: true, rounds: 3),
    line(
      "delete-single", "random deletions, each in a durable transaction of its own", singles,
      // Behind the rows that the line before deleted.
      { peer, ids, _ in try peer.delete(ids: ids, oneByOne: true) }, part: context.rows * 2 / 5 / singles,
      sorted: false, rounds: 3),
  ]
}
