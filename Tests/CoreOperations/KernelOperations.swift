import CambiumKernel
import CambiumSystem

/// Operations of the kernel, on a store in memory: syncs cost nothing there.
enum KernelOperations {
  private static let environment = SystemEnvironment()
  private static let rows: UInt64 = 20_000

  private static func make(
    _ options: StoreOptions = StoreOptions()
  ) throws -> (store: Store, device: MemoryDevice, tree: TreeID) {
    let device = MemoryDevice()
    let store = try Store.create(on: device, environment: environment, options: options)
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    return (store, device, tree)
  }

  private static func fill(_ store: Store, _ tree: TreeID, _ keys: Range<UInt64>) throws {
    let value = [UInt8](repeating: 3, count: 120)
    let t = try store.beginWrite()
    for key in keys { try t.put(tree, key, value) }
    try t.commit()
  }

  /// Keys in an order that looks like chance.
  private static func key(_ i: Int) -> UInt64 { UInt64(i) &* 7_919 % rows }

  private static func require(_ holds: Bool) throws { if !holds { throw StoreError.misuse("a wrong answer") } }

  static func get(_ count: Int) throws {
    let (store, _, tree) = try make()
    try fill(store, tree, 0..<rows)
    try store.checkpoint()
    let view = try store.snapshot()
    try counted { for i in 0..<count { try require(try view.value(tree, key(i))?.count == 120) } }
  }

  static func scan(_ count: Int) throws {
    let (store, _, tree) = try make()
    try fill(store, tree, 0..<rows)
    try store.checkpoint()
    let view = try store.snapshot()
    try counted {
      for _ in 0..<count {
        let cursor = try view.cursor(tree)
        var (more, found) = (try cursor.seekFirst(), UInt64(0))
        while more {
          found += 1
          more = try cursor.next()
        }
        try require(found == rows)
      }
    }
  }

  static func commit(_ count: Int) throws {
    let (store, _, tree) = try make()
    let value = [UInt8](repeating: 3, count: 120)
    try counted {
      for i in 0..<count {
        let t = try store.beginWrite()
        try t.put(tree, key(i), value)
        try t.commit()
      }
    }
  }

  static func bulkLoad(_ count: Int) throws {
    let (store, _, tree) = try make()
    try counted {
      try fill(store, tree, 0..<UInt64(count))
      try store.checkpoint()
    }
  }

  static func checkpoint(_ count: Int) throws {
    let (store, _, tree) = try make()
    try fill(store, tree, 0..<rows)
    try store.checkpoint()
    for i in 0..<count {
      for j in 0..<500 {
        let t = try store.beginWrite()
        try t.put(tree, key(i * 500 + j), [UInt8](repeating: 4, count: 120))
        try t.commit()
      }
      try counted { try store.checkpoint() }
    }
  }

  /// A store that was not closed, with 1,000 commits in its log.
  static func open(_ count: Int) throws {
    var options = StoreOptions()
    options.logBytes = 8 << 20
    let (store, device, tree) = try make(options)
    for i in 0..<1_000 { try fill(store, tree, UInt64(i)..<UInt64(i + 1)) }
    let image = device.contents()
    for _ in 0..<count {
      let copy = MemoryDevice(copying: image)
      try counted {
        let opened = try Store.open(on: copy, environment: environment, options: options)
        try require(try opened.snapshot().count(tree) == 1_000)
      }
    }
  }
}
