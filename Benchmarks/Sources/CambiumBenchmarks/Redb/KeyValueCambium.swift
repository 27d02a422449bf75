import CambiumKernel
import CambiumSystem
import Foundation

/// One tree of Cambium's kernel.
final class KeyValueCambium: KeyValuePeer {
  let name = "cambium"
  private let path: String
  private let environment = SystemEnvironment()
  private var open: (store: Store, tree: TreeID)?

  init(directory: String) { path = directory + "/cambium.store" }

  private func opened() throws -> (store: Store, tree: TreeID) {
    guard let open else { throw NotSupported() }
    return open
  }

  func create() throws {
    try close()
    try? FileManager.default.removeItem(atPath: path)
    var options = StoreOptions()
    options.cacheBytes = Pair.cacheBytes
    options.logBytes = Tuning.logBytes
    let made = options
    let environment = environment
    let device = try FileDevice.create(at: path) { (device) throws(StoreError) in
      try Store.format(device, environment: environment, options: made)
    }
    device.close()
    let store = try Store.open(on: FileDevice(path: path), environment: environment, options: options)
    let t = try store.beginWrite()
    let tree = try t.createTree(.bytes)
    try t.commit()
    open = (store, tree)
  }

  func close() throws {
    try open?.store.close()
    open = nil
  }

  func put(_ pairs: Range<Int>) throws {
    let (store, tree) = try opened()
    let pair = Pair()
    defer { pair.free() }
    let t = try store.beginWrite()
    for i in pairs { try t.put(tree, pair.key(i), pair.value(i)) }
    try t.commit()
  }

  func remove(_ pairs: Range<Int>) throws {
    let (store, tree) = try opened()
    let pair = Pair()
    defer { pair.free() }
    let t = try store.beginWrite()
    for i in pairs { try t.delete(tree, pair.key(i)) }
    try t.commit()
  }

  func get(_ pairs: [Int]) throws -> Answer { try reader().get(pairs) }

  func ranges(_ pairs: [Int], count: Int) throws -> Answer {
    let (store, tree) = try opened()
    let pair = Pair()
    defer { pair.free() }
    var answer = Answer()
    let cursor = try store.snapshot().cursor(tree)
    for i in pairs {
      var left = count
      var more = try cursor.seek(pair.key(i))
      while more {
        try cursor.withValue { (b) throws(StoreError) in answer.add(value: b) }
        left -= 1
        if left == 0 { break }
        more = try cursor.next()
      }
    }
    return answer
  }

  func count() throws -> Int {
    let (store, tree) = try opened()
    return Int(try store.snapshot().count(tree))
  }

  func compact() throws { try opened().store.compact() }

  func fileBytes() throws -> UInt64 {
    try opened().store.checkpoint()
    return fileSize(path)
  }

  func reader() throws -> any KeyValueReader {
    let (store, tree) = try opened()
    return Reader(snapshot: try store.snapshot(), tree: tree)
  }

  private final class Reader: KeyValueReader, @unchecked Sendable {
    private let snapshot: Snapshot
    private let tree: TreeID

    init(snapshot: Snapshot, tree: TreeID) {
      self.snapshot = snapshot
      self.tree = tree
    }

    func get(_ pairs: [Int]) throws -> Answer {
      let pair = Pair()
      defer { pair.free() }
      var answer = Answer()
      for i in pairs {
        _ = try snapshot.withValue(tree, pair.key(i)) { (b) throws(StoreError) in answer.add(value: b) }
      }
      return answer
    }

    func close() {}
  }
}
