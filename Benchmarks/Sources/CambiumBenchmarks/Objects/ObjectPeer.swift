/// What keeps aircraft and log entries as objects, or as what its users have in their place.
protocol ObjectPeer: AnyObject {
  var name: String { get }
  /// Begins an empty store.
  func create() throws
  /// Inserts and saves, durably.
  func insert(_ rows: ArraySlice<Aircraft>) throws
  /// Inserts entries that lead to aircraft, and saves, durably.
  func insert(_ rows: ArraySlice<LogEntry>) throws
  /// All aircraft, every property read.
  func readAll() throws -> Answer
  /// All aircraft as objects, or as structs where there are no objects; nothing of them is looked at. Answers how many.
  func fetchAll() throws -> Answer
  /// The same, one after the other and none of them kept, as the peer does that for very many.
  func walkAll() throws -> Answer
  /// The hours of the first aircraft, changed and saved, durably.
  func change(_ count: Int, to hours: Double) throws
  /// The hours of all aircraft.
  func hours() throws -> Answer
  /// All log entries to their aircraft's tail number; `prefetched`: where an aircraft is read when it is asked for, it
  /// is read with the entries instead.
  func tailNumbers(prefetched: Bool) throws -> Answer
  /// The first aircraft to the distances of their log entries.
  func distances(_ count: Int) throws -> Answer
  /// The first colour of every aircraft, which lies in the aircraft.
  func colours() throws -> Answer
  /// Deletes all aircraft, and with each its log entries; saves, durably.
  func deleteAll() throws
  /// Inserts aircraft that have their colours twice, as a composite and in a livery that they lead to, one for each;
  /// saves, durably.
  func paint(_ rows: ArraySlice<Aircraft>) throws
  /// The first colour of every aircraft that was painted, which lies in the aircraft.
  func embeddedColours() throws -> Answer
  /// The same colours, from the liveries; `prefetched` as above.
  func liveryColours(prefetched: Bool) throws -> Answer
  /// How many aircraft and log entries are left.
  func left() throws -> Answer
  /// Holds all aircraft as after ``fetchAll()``, their hours read, while the block runs.
  func holding(_ body: () -> Void) throws
}

extension Answer {
  /// Counts enough of a row in that nobody can leave a field out; not its number, which objects do not show.
  mutating func addProperties(_ a: Aircraft) { add(a, as: 0) }
}

/// The workloads of objects: inserted, read, changed, walked through, deleted.
func objectWorkloads(_ data: Dataset) -> [Workload<any ObjectPeer>] {
  let count = data.rows
  let some = max(1, count / 10)
  func perRow(_ id: String, _ title: String, _ rows: Int, _ work: @escaping (any ObjectPeer) throws -> Answer)
    -> Workload<any ObjectPeer>
  {
    Workload(
      id, [Line(id, title, .nanoseconds)], check: { peer, _ in try work(peer) },
      run: { peer, _, _ in [id: try seconds { _ = try work(peer) } * 1e9 / Double(rows)] })
  }
  return [
    Workload(
      "insert",
      [
        Line("insert", "\(count) aircraft inserted and saved", .rowsPerSecond),
        Line("relate", "\(count) log entries inserted, each led to its aircraft, and saved", .rowsPerSecond),
      ],
      prepare: { peer, _, _ in try peer.create() },
      checkAfter: { peer, _ in try peer.left() },
      run: { peer, _, _ in
        let first = try seconds { try peer.insert(data.aircraft[...]) }
        let second = try seconds { try peer.insert(data.entries[...]) }
        return ["insert": Double(count) / first, "relate": Double(count) / second]
      }),
    perRow("read", "all fetched and every property read, an aircraft", count) { try $0.readAll() },
    perRow("fetch", "all fetched to objects that decode on access, an aircraft", count) { try $0.fetchAll() },
    perRow("walk", "all gone through as such objects, none of them kept, an aircraft", count) { try $0.walkAll() },
    perRow("colour", "all fetched and a colour of the composite read, an aircraft", count) { try $0.colours() },
    perRow("toOne", "all fetched and led to the aircraft's tail number, a log entry", count) {
      try $0.tailNumbers(prefetched: false)
    },
    perRow("toOnePrefetched", "the same, the aircraft prefetched, a log entry", count) {
      try $0.tailNumbers(prefetched: true)
    },
    perRow("toMany", "an aircraft to the distances of its log entries", some) { try $0.distances(some) },
    Workload(
      "change", [Line("change", "one property of \(some) aircraft changed and saved", .rowsPerSecond)],
      checkAfter: { peer, _ in try peer.hours() },
      run: { peer, _, round in
        ["change": Double(some) / (try seconds { try peer.change(some, to: Double(round) + 0.5) })]
      }),
    Workload(
      "memory", [Line("memory", "memory of an aircraft that is held", .bytes)], rounds: 1,
      run: { peer, _, _ in
        let before = ProcessCounters.allocatedMemory()
        var after = before
        try peer.holding { after = ProcessCounters.allocatedMemory() }
        return ["memory": Double(after - before) / Double(count)]
      }),
    Workload(
      "delete", [Line("delete", "\(count) aircraft deleted with their log entries, and saved", .rowsPerSecond)],
      rounds: 1, checkAfter: { peer, _ in try peer.left() },
      run: { peer, _, _ in ["delete": Double(count) / (try seconds { try peer.deleteAll() })] }),
    Workload(
      "embedded",
      [
        Line(
          "paint", "\(count) aircraft with a composite, and the same colours as an object each, saved", .rowsPerSecond),
        Line("embedded", "of these, all fetched and a colour of the composite read, an aircraft", .nanoseconds),
        Line("ledTo", "the same colour of the object that is led to, a fault, an aircraft", .nanoseconds),
        Line("ledToPrefetched", "the same, prefetched, an aircraft", .nanoseconds),
      ],
      prepare: { peer, _, _ in try peer.create() },
      checkAfter: { peer, _ in
        let colours = try peer.embeddedColours()
        for prefetched in [false, true] where try peer.liveryColours(prefetched: prefetched) != colours {
          throw DifferentColours()
        }
        return colours
      },
      run: { peer, _, _ in
        let paint = try seconds { try peer.paint(data.aircraft[...]) }
        let times = [
          "embedded": try seconds { _ = try peer.embeddedColours() },
          "ledTo": try seconds { _ = try peer.liveryColours(prefetched: false) },
          "ledToPrefetched": try seconds { _ = try peer.liveryColours(prefetched: true) },
        ]
        return times.mapValues { $0 * 1e9 / Double(count) }.merging(["paint": Double(count) / paint]) { $1 }
      }),
  ]
}

/// The colours of the composites are not those that the aircraft lead to.
private struct DifferentColours: Error {}
