import CambiumEngine

// Rows of many new objects are encoded ahead by other threads, while the one that saves writes those that are ready.
extension SaveWriter {
  /// Of fewer objects it takes longer to have threads than to encode them.
  private static let leastAhead = 2048
  /// So many are encoded at a time: enough that to hand them on does not count, and few enough to be near when they are
  /// written.
  private static let sizeOfRun = 128

  /// Inserts the rows of all new objects, in their order.
  func insertAll(_ t: EntityTransaction) throws(EngineError) {
    let objects = batch.insertions
    guard objects.count >= Self.leastAhead, t.encodesAhead else {
      return try objects.lend { (place, object) throws(EngineError) in
        try insert(object, at: place, t)
      }
    }
    // The objects are looked at by several threads, and changed by none, as long as this takes: it calls nothing of the
    // application's.
    nonisolated(unsafe) let source = try InsertionSource(self)
    nonisolated(unsafe) let t = t
    try t.encodeAhead(
      (objects.count + Self.sizeOfRun - 1) / Self.sizeOfRun,
      encode: { (number, spare: InsertionRun?) throws(EngineError) in
        let run = spare ?? InsertionRun()
        let first = number * Self.sizeOfRun
        try run.encode(source, first..<min(first + Self.sizeOfRun, source.objects.count), t)
        return run
      },
      write: { [self] (run) throws(EngineError) in
        for (number, row) in run.rows.enumerated() {
          let place = run.first + number
          let reference = permanent[place]
          if row >= 0, let encoder = run.encoder {
            try writer(reference.entity, of: objects[place], t).save(encoder, row, as: reference)
          } else {
            try insert(objects[place], at: place, t)
          }
        }
      })
  }
}

/// The new objects of a save, and what encoding their rows has to know.
private struct InsertionSource {
  let objects: [ManagedObject]
  /// Where their to-one relationships lead, in the order of the objects and, of each, of its changes; and where an
  /// object's begin.
  private(set) var targets: [ObjectReference] = []
  private(set) var firstTargets: [Int] = []
  private let links: [Int: PendingLinks]

  init(_ writer: SaveWriter) throws(EngineError) {
    objects = writer.batch.insertions
    links = writer.links
    firstTargets.reserveCapacity(objects.count)
    var targets: [ObjectReference] = []
    var firstTargets: [Int] = []
    firstTargets.reserveCapacity(objects.count)
    try objects.lend { (_, object) throws(EngineError) in
      firstTargets.append(targets.count)
      guard object.changesToOne else { return }
      let info = object.info
      try object.toOneChanges.forEach { (place, id) throws(EngineError) in
        guard let id, let r = info.relationships[place].relationship, !r.isTransient else { return }
        targets.append(try writer.resolve(id))
      }
    }
    (self.targets, self.firstTargets) = (targets, firstTargets)
  }

  /// Whether nothing is written of an object but its row.
  func isRowAlone(_ place: Int) -> Bool { links.isEmpty || links[place]?.lists.isEmpty != false }
}

/// Rows of some new objects that follow one another.
private final class InsertionRun: @unchecked Sendable {
  // `@unchecked`: whoever has it for the time being uses it alone.

  /// No rows are added to as many bytes: as much as 128 rows of common sizes have, several times over.
  private static let mostBytes = 256 << 10

  /// The place of the first object.
  private(set) var first = 0
  /// The number of each object's row among those of ``encoder``; -1 of one whose row the thread that saves makes
  /// itself.
  private(set) var rows: [Int] = []
  /// Encodes the rows of objects that have a home in common, which is that of the first one.
  private(set) var encoder: RowEncoder?
  /// Objects keep their homes as long as a save writes.
  private var home: ObjectHome?
  /// The keys of the properties of the home's entity.
  private var keys: OverlayKeys?

  func encode(_ source: InsertionSource, _ places: Range<Int>, _ t: EntityTransaction) throws(EngineError) {
    first = places.lowerBound
    rows.removeAll(keepingCapacity: true)
    encoder?.removeAll()
    if let home = source.objects[first].home, home !== self.home { try begin(home, t) }
    guard let encoder, let home, let keys else { return rows = places.map { _ in -1 } }
    for place in places {
      let isEncoded = try source.objects.lend(place) { (object) throws(EngineError) in
        // Rows with large values are made one by one: runs of them would fill the memory.
        guard object.withHome({ $0 === home }) == true, object.heldOverlay != nil, source.isRowAlone(place),
          encoder.byteCount < Self.mostBytes
        else { return false }
        var nextTarget = source.firstTargets[place]
        rows.append(encoder.count)
        try object.withOverlay { (overlay) throws(EngineError) in
          try keys.encode(overlay, encoder) { _ in
            defer { nextTarget += 1 }
            return source.targets[nextTarget]
          }
        }
        return true
      }
      if !isEncoded { rows.append(-1) }
    }
  }

  private func begin(_ home: ObjectHome, _ t: EntityTransaction) throws(EngineError) {
    let info = home.info
    encoder = try t.encoder(info.schema)
    keys = OverlayKeys(info)
    self.home = home
  }
}
