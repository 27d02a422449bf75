import CambiumKernel

/// The entries of a spatial index, nearest first, those equally near by row: found one after the other, so that only
/// the cells around the nearest ones are read.
///
/// A heap has entries by their measure and cells by the least measure that an entry of theirs can have. If the first of
/// all is an entry, nothing that was not looked at can be nearer; if it is a cell, its entries take its place, or its
/// four parts if there are many.
struct NearestPlaces: ~Copyable {
  /// A place and its distance.
  struct Found {
    var row: UInt64
    var measure: Double

    /// Whether it comes before another one.
    func precedes(_ other: Found) -> Bool {
      measure != other.measure ? measure < other.measure : row < other.row
    }
  }

  /// How many entries a cell may have that is not divided. Reading an entry takes a tenth of the time of a seek.
  private static let patience = 8

  private struct Item {
    var measure: Double
    /// nil for an entry.
    var cell: PlaneCell?
    var row: UInt64

    /// Cells come before entries of the same measure: they may have one of a lesser row.
    func precedes(_ other: Item) -> Bool {
      if measure != other.measure { return measure < other.measure }
      if (cell == nil) != (other.cell == nil) { return cell != nil }
      return row < other.row
    }
  }

  private let cursor: Cursor
  private let distance: SpatialDistance
  /// Nothing that is further away is looked for.
  private let limit: Double
  private var heap: [Item] = []
  /// Of the cell that is looked at.
  private var entries: [(x: Double, y: Double, row: UInt64)] = []
  /// How many entries were read, some of them more than once.
  private(set) var readCount = 0

  init(_ cursor: Cursor, _ distance: SpatialDistance, upTo limit: Double = .infinity) {
    self.cursor = cursor
    self.distance = distance
    self.limit = limit
    push(Item(measure: 0, cell: .plane, row: 0))
  }

  /// The next one; nil at the end. Entries that have no distance are left out.
  mutating func next() throws(StoreError) -> Found? {
    while let item = pop() {
      guard let cell = item.cell else { return Found(row: item.row, measure: item.measure) }
      try open(cell)
    }
    return nil
  }

  private mutating func open(_ cell: PlaneCell) throws(StoreError) {
    var more = try cursor.seek(KeyPlace.firstKey(code: cell.code))
    var first: UInt64?
    var recent: UInt64 = 0
    entries.removeAll(keepingCapacity: true)
    while more {
      let place = try KeyPlace(atStartOf: cursor.key)
      guard place.code <= cell.lastCode else { break }
      first = first ?? place.code
      recent = place.code
      readCount &+= 1
      // Which of them count is known when it is known whether the cell is divided.
      entries.append((place.x, place.y, try KeyDecoder.rowID(atEndOf: cursor.key).id))
      if cell.level > 0, entries.count > Self.patience { break }
      more = try cursor.next()
    }
    guard let first else { return }
    guard cell.level > 0, entries.count > Self.patience else {
      for (x, y, row) in entries {
        if let measure = distance.measure(x, y) { push(Item(measure: measure, cell: nil, row: row)) }
      }
      return
    }
    // Numbers that people use take up few of the cells that there are for all numbers: those that have all of the
    // entries in one part are passed over. The last entry is asked for where those that were read are in one part.
    var cell = cell
    let shift = 2 * UInt64(cell.level - 1)
    let last = first >> shift == recent >> shift ? try lastCode(of: cell) ?? cell.lastCode : cell.lastCode
    while cell.level > 0 {
      var only: PlaneCell?
      for number in 0..<4 {
        let part = cell.child(number)
        if part.code <= first, part.lastCode >= last { only = part }
      }
      guard let only else { break }
      cell = only
    }
    if cell.level == 0 {
      // All of them are in one place.
      push(Item(measure: distance.least(cell), cell: cell, row: 0))
      return
    }
    for number in 0..<4 {
      let part = cell.child(number)
      // There is nothing before the first entry, nor behind the last one.
      if part.lastCode >= first, part.code <= last {
        push(Item(measure: distance.least(part), cell: part, row: 0))
      }
    }
  }

  /// The code of the last entry of a cell that has some.
  private func lastCode(of cell: PlaneCell) throws(StoreError) -> UInt64? {
    let more: Bool
    if cell.lastCode == .max {
      more = try cursor.seekLast()
    } else {
      more = try KeyPlace.firstKey(code: cell.lastCode + 1).withUnsafeBytesEngine { (b) throws(StoreError) in
        try cursor.seek(before: b)
      }
    }
    return more ? try KeyPlace(atStartOf: cursor.key).code : nil
  }

  private mutating func push(_ item: Item) {
    guard item.measure <= limit else { return }
    heap.append(item)
    var at = heap.count - 1
    while at > 0 {
      let above = (at - 1) / 2
      guard heap[at].precedes(heap[above]) else { return }
      heap.swapAt(at, above)
      at = above
    }
  }

  private mutating func pop() -> Item? {
    guard let first = heap.first, let last = heap.popLast() else { return nil }
    if heap.isEmpty { return first }
    heap[0] = last
    var at = 0
    while true {
      var least = at
      for below in (2 * at + 1)...(2 * at + 2) where below < heap.count && heap[below].precedes(heap[least]) {
        least = below
      }
      if least == at { return first }
      heap.swapAt(at, least)
      at = least
    }
  }
}
