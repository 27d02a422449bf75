import Foundation

/// The notes of the other stack that a stack has seen.
final class SeenNotes {
  /// How many there are.
  private(set) var count = 0

  /// Notes that a note of the other stack was seen. They must come in the order in which they were saved.
  func note(_ stack: String, _ number: Int, expected: String) {
    guard stack == expected, number == count else {
      print("note \(number) of \(stack) came where note \(count) of \(expected) was due")
      exit(1)
    }
    count += 1
  }

  /// Looks for the other stack's notes until `wanted` are seen. Gives up after two minutes without any.
  func wait(for wanted: Int, _ look: () throws -> Void) throws {
    var idleSince = Date()
    var last = count
    while count < wanted, Date().timeIntervalSince(idleSince) < 120 {
      try look()
      if count > last { (last, idleSince) = (count, Date()) }
      Thread.sleep(forTimeInterval: 0.01)
    }
  }
}
