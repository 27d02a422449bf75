import CambiumTesting

@testable import CambiumKernel

/// Commits to a store on a simulated flash, and a model of what was acknowledged.
final class FlashWorkload {
  let chip: SimulatedFlash
  let spareSectors: Int?
  var options = StoreOptions.small
  private let environment: TestEnvironment
  private var random: SplitMix64
  private var store: Store?
  private var tree = TreeID(rawValue: 0)
  /// The rows of the commits that were acknowledged.
  private(set) var rows: [UInt64: [UInt8]] = [:]
  /// The rows if the commit under way is there as well.
  private var attempted: [UInt64: [UInt8]] = [:]
  private(set) var commits = 0
  /// Commits that were there after a power cut although they were not acknowledged.
  private(set) var unacknowledged = 0
  /// How often dead room had to be given back.
  private(set) var compactions = 0

  struct Lost: Error { let text: String }

  init(_ chip: SimulatedFlash, spareSectors: Int? = nil, seed: UInt64) {
    self.chip = chip
    self.spareSectors = spareSectors
    environment = TestEnvironment(seed: seed)
    random = SplitMix64(seed: seed)
  }

  func device() throws(StoreError) -> FlashDevice { try FlashDevice(chip, spareSectors: spareSectors) }

  func create() throws(StoreError) {
    let store = try Store.create(on: device(), environment: environment, options: options)
    let t = try store.beginWrite()
    tree = try t.createTree(.integer)
    try t.commit()
    self.store = store
  }

  /// Opens the store, and throws ``Lost`` unless it has the rows that were acknowledged; those of the commit that was
  /// under way may be there as well.
  func reopen(isReadOnly: Bool = false) throws {
    store = nil
    var options = options
    options.isReadOnly = isReadOnly
    let opened = try Store.open(on: device(), environment: environment, options: options)
    let found = try Self.rows(of: opened, tree)
    if found != rows {
      guard found == attempted else {
        throw Lost(text: "\(found.count) rows, of \(rows.count) acknowledged, after \(commits) commits")
      }
      unacknowledged += 1
      rows = found
    }
    attempted = rows
    store = opened
  }

  static func rows(of store: Store, _ tree: TreeID) throws -> [UInt64: [UInt8]] {
    var found: [UInt64: [UInt8]] = [:]
    let view = try store.snapshot()
    let cursor = try view.cursor(tree)
    var isValid = try cursor.seekFirst()
    while isValid {
      if let value = try cursor.value() { found[cursor.integerKey] = value }
      isValid = try cursor.next()
    }
    guard try view.count(tree) == UInt64(found.count) else { throw Lost(text: "a count is wrong") }
    return found
  }

  func check() throws {
    guard try store?.check().problems.isEmpty ?? false else { throw Lost(text: "the store is damaged") }
  }

  func close() throws(StoreError) {
    try store?.close()
    store = nil
  }

  /// Puts rows that nothing changes afterwards.
  func fill(_ count: Int) throws(StoreError) {
    for n in 0..<UInt64(count) { try put([(1 << 32 + n, random.bytes(900))]) }
  }

  /// One commit of rows. If the room that commits keep is used up, dead room is given back first, as the error advises.
  func put(_ new: [(key: UInt64, value: [UInt8]?)]) throws(StoreError) {
    do throws(StoreError) { try commit(new) } catch {
      guard case .reserveExhausted = error, let store else { throw error }
      compactions += 1
      try store.compact()
      try commit(new)
    }
  }

  private func commit(_ new: [(key: UInt64, value: [UInt8]?)]) throws(StoreError) {
    guard let store else { throw .closed }
    let t = try store.beginWrite()
    attempted = rows
    for (key, value) in new {
      attempted[key] = value
      if let value { try t.put(tree, key, value) } else { try t.delete(tree, key) }
    }
    try t.commit()
    rows = attempted
    commits += 1
  }

  /// One commit by chance; now and then a checkpoint, or closing and opening again.
  func step(keys: Int) throws(StoreError) {
    guard let store else { throw .closed }
    var new: [(key: UInt64, value: [UInt8]?)] = []
    for _ in 0...random.below(3) {
      let length = random.oneIn(60) ? 1500 + random.below(4000) : random.below(150)
      new.append((UInt64(random.below(keys)), random.oneIn(6) ? nil : random.bytes(length)))
    }
    try put(new)
    if random.oneIn(50) { try store.checkpoint() }
    if random.oneIn(120) {
      try store.close()
      self.store = nil
      self.store = try Store.open(on: device(), environment: environment, options: options)
    }
  }
}
