import CambiumKernel
import CambiumTesting

@testable import CambiumKernelTests

/// Does everything with a store that may be wrong in any way. Errors are answers; what is looked for are traps, hangs,
/// and stores that contradict themselves although `check()` finds nothing.
struct StoreExercise {
  static let capacityBytes: UInt64 = 8 << 20

  let bytes: [UInt8]
  /// Chooses what is written.
  var seed: UInt64 = 1

  func problem() -> String? { readOnlyProblem() ?? writingProblem() }

  // MARK: Reading only

  private func readOnlyProblem() -> String? {
    let device = MemoryDevice(copying: bytes, capacityBytes: Self.capacityBytes)
    var options = DamageStore.options
    options.isReadOnly = true
    do throws(StoreError) {
      let store = try Store.open(on: device, environment: TestEnvironment(seed: 6), options: options)
      let isSound = try store.check().problems.isEmpty
      let view = try store.snapshot()
      for id in view.trees() {
        if let problem = try contradiction(view, id), isSound { return "tree \(id): \(problem)" }
      }
      for commit in try store.retainedCommits() {
        let view = try store.snapshot(retained: commit.id)
        for id in view.trees() { _ = try contradiction(view, id) }
      }
    } catch {
      switch error {
      case .corrupt, .notAStore, .unsupportedFormat: break
      default: return "reading ended with \(error)"
      }
    }
    return device.contents() == bytes ? nil : "reading only changed the file"
  }

  /// Walks a tree both ways and looks its keys up; answers what does not fit.
  private func contradiction(_ view: TreeView, _ id: TreeID) throws(StoreError) -> String? {
    guard let kind = view.kind(of: id) else { return "it is listed and not there" }
    _ = try view.count(id)
    _ = try view.counter(id, 1)
    var problem: String?
    let cursor = try view.cursor(id)
    var keys: [[UInt8]] = []
    var more = try cursor.seekFirst()
    while more {
      let key = kind == .integer ? modelKey(cursor.integerKey) : [UInt8](cursor.key)
      if let last = keys.last, !ModelTree.less(last, key) { problem = "keys do not ascend" }
      let value = try cursor.value()
      if keys.count < 64 {
        let found = kind == .integer ? try view.value(id, cursor.integerKey) : try view.value(id, key)
        if found != value { problem = "a key of a cursor leads to another value" }
      }
      keys.append(key)
      more = try cursor.next()
    }
    var back = 0
    more = try cursor.seekLast()
    while more {
      let key = kind == .integer ? modelKey(cursor.integerKey) : [UInt8](cursor.key)
      if back < keys.count, keys[keys.count - 1 - back] != key { problem = "backward meets other keys" }
      back += 1
      more = try cursor.previous()
    }
    if back != keys.count { problem = "\(keys.count) entries forward, \(back) backward" }
    return problem
  }

  // MARK: Writing

  private func writingProblem() -> String? {
    let device = MemoryDevice(copying: bytes, capacityBytes: Self.capacityBytes)
    guard let store = open(device) else { return nil }
    let isSound = (try? store.check().problems.isEmpty) == true
    var written: [(TreeID, UInt64)] = []
    do throws(StoreError) {
      written = try write(store)
    } catch { return nil }
    if isSound, let problem = missing(written, store) { return problem }
    do throws(StoreError) {
      try store.checkpoint()
      if seed % 2 == 0 { try store.compact() }
      let reportedSound = try store.check().problems.isEmpty
      if isSound, !reportedSound { return "a sound store is damaged by writing" }
      if isSound, let problem = missing(written, store) { return "after a checkpoint, \(problem)" }
      if seed % 3 == 0 { _ = try store.retain(reason: "kept") }
      try store.close()
    } catch { return nil }
    guard let again = open(device) else { return isSound ? "a sound store cannot be opened after writing" : nil }
    return isSound ? missing(written, again).map { "after opening again, \($0)" } : nil
  }

  private func open(_ device: MemoryDevice) -> Store? {
    try? Store.open(on: device, environment: TestEnvironment(seed: seed), options: DamageStore.options)
  }

  /// Answers the keys of integer trees that were put.
  private func write(_ store: Store) throws(StoreError) -> [(TreeID, UInt64)] {
    let t = try store.beginWrite()
    defer { t.rollBack() }
    var written: [(TreeID, UInt64)] = []
    for id in t.trees() {
      for n in UInt64(0)..<6 {
        if t.kind(of: id) == .integer {
          let key = n &* 211 &+ seed
          try t.put(id, key, [UInt8](repeating: 7, count: n == 5 ? 3000 : 9))
          written.append((id, key))
          try t.delete(id, n &* 33 &+ seed)
          written.removeAll { $0 == (id, n &* 33 &+ seed) }
        } else {
          try t.put(id, Array("name \(n &+ seed)".utf8), [4])
          try t.delete(id, Array("name \(n) of \(n)".utf8))
        }
      }
    }
    _ = try t.createTree(.bytes)
    if seed % 5 == 0, let id = t.trees().first {
      try t.dropTree(id)
      written.removeAll { $0.0 == id }
    }
    try t.commit()
    return written
  }

  private func missing(_ written: [(TreeID, UInt64)], _ store: Store) -> String? {
    guard let view = try? store.snapshot() else { return "no snapshot" }
    for (id, key) in written {
      do throws(StoreError) {
        if try view.value(id, key)?.first != 7 { return "a row that was written is not there" }
      } catch { return nil }
    }
    return nil
  }
}
