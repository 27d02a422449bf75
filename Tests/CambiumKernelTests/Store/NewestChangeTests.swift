import CambiumTesting
import Testing

@testable import CambiumKernel

/// Which of several changes of a key a cursor shows, in both directions.
@Suite struct NewestChangeTests {
  /// Of each key the pages, the frozen and the active delta, and the transaction itself may have a value.
  @Test func theNewestChangeCounts() throws {
    let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 1))
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    var model: [UInt64: [UInt8]] = [:]
    func change(_ round: UInt8) throws {
      for key in 0..<UInt64(60) where (key >> UInt64(round)) & 1 == 0 {
        if (key + UInt64(round)) % 5 == 0 {
          try t.delete(tree, key)
          model[key] = nil
        } else {
          try t.put(tree, key, [round])
          model[key] = [round]
        }
      }
    }
    try change(0)
    try t.commit()
    try store.checkpoint()
    for round in UInt8(1)...3 {
      t = try store.beginWrite()
      try change(round)
      if round == 3 { break }
      try t.commit()
      if round == 2 { continue }
      // What is committed so far is frozen; the checkpoint goes no further.
      try store.takeTurn()
      try store.beginCheckpoint()
      store.endTurn()
      #expect(store.current.frozen != nil)
    }
    try Self.expect(model, t, tree)
    // A cursor shows its transaction as it was when the cursor was made.
    let cursor = try t.cursor(tree)
    let before = model
    try change(4)
    try t.put(tree, 99, [9])
    try Self.expect(before, cursor)
    t.rollBack()
  }

  private static func expect(_ model: [UInt64: [UInt8]], _ view: TreeView, _ tree: TreeID) throws {
    try expect(model, try view.cursor(tree))
  }

  private static func expect(_ model: [UInt64: [UInt8]], _ cursor: Cursor) throws {
    let keys = model.keys.sorted()
    for (isForward, expected) in [(true, keys), (false, keys.reversed())] {
      var found: [UInt64] = []
      var more = isForward ? try cursor.seekFirst() : try cursor.seekLast()
      while more, found.count <= keys.count {
        found.append(cursor.integerKey)
        #expect(try cursor.value() == model[cursor.integerKey], "key \(cursor.integerKey), forward: \(isForward)")
        if found.count % 3 == 2 {
          // There and back again.
          #expect(isForward ? try cursor.previous() : try cursor.next())
          #expect(cursor.integerKey == found[found.count - 2])
          #expect(isForward ? try cursor.next() : try cursor.previous())
        }
        more = isForward ? try cursor.next() : try cursor.previous()
      }
      #expect(found == expected, "forward: \(isForward)")
    }
  }
}
