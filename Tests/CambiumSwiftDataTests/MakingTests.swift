import CambiumSwiftData
import Foundation
import Synchronization
import Testing

/// Its initial values make a model of another class.
@Model final class Pot {
  var size = 1
  var colour: String? = "none"
  @Relationship(inverse: \Lid.pot) var lid: Lid? = Lid()

  init() {}
}

@Model final class Lid {
  var weight = 5
  var pot: Pot?

  init() {}
}

/// How models are made for rows whose classes have initial values.
@Suite struct MakingTests {
  private static let count = 50

  private func filled() throws -> ModelContainer {
    let container = try ModelContainer(for: Pot.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    for number in 0..<Self.count {
      let pot = Pot()
      #expect(pot.size == 1 && pot.colour == "none" && pot.lid?.weight == 5)
      pot.size = number
      pot.colour = nil
      pot.lid?.weight = number + 100
      context.insert(pot)
    }
    try context.save()
    return container
  }

  /// What is wrong with the models of a context of its own, made in each way.
  private static func problem(_ container: ModelContainer) throws -> String? {
    let context = ModelContext(container)
    let pots = try context.fetch(FetchDescriptor<Pot>(sortBy: [SortDescriptor(\.size)]))
    if pots.map(\.size) != Array(0..<count) { return "sizes \(pots.map(\.size))" }
    if pots.contains(where: { $0.colour != nil }) { return "an initial colour" }
    // The lids are made one by one.
    if pots.compactMap({ $0.lid?.weight }) != Array(100..<100 + count) { return "weights" }
    let fresh = Pot()
    if fresh.size != 1 || fresh.colour != "none" || fresh.lid?.weight != 5 { return "no initial values" }
    if try context.fetchCount(FetchDescriptor<Lid>()) != count || context.hasChanges { return "models too many" }
    let other = ModelContext(container)
    var sizes = 0
    try other.enumerate(FetchDescriptor<Pot>()) { pot in
      // Within the block nothing is being made.
      if Pot().size == 1 { sizes += pot.size }
    }
    return sizes == count * (count - 1) / 2 ? nil : "sizes one after the other"
  }

  @Test func initialValuesArePassedOver() throws { #expect(try Self.problem(try filled()) == nil) }

  /// One thread has the place where rows are handed over, and the others have task-local values.
  @Test func severalThreadsMakeModelsAtOnce() throws {
    let container = try filled()
    let problems = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<10 {
        do {
          if let found = try Self.problem(container) { problems.withLock { $0.append(found) } }
        } catch {
          problems.withLock { $0.append("\(error)") }
        }
      }
    }
    #expect(problems.withLock { $0 } == [])
  }
}
