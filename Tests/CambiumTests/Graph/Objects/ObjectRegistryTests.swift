import CambiumEngine
import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// ``ObjectTable`` beside a dictionary, and what a context's registry lets go of.
@Suite struct ObjectRegistryTests {
  private func id(_ row: UInt64, _ entity: UInt32 = 1, _ space: StoreSpace = .none) -> ManagedObjectID {
    ManagedObjectID(space: space, reference: ObjectReference(entity: entity, row: row))
  }

  private func removeReleased(_ table: inout ObjectTable) {
    var (released, next) = ([Unmanaged<ManagedObject>](), 0)
    table.takeReleased(from: &next, most: .max, into: &released)
    for object in released { object.release() }
    table.shrink()
  }

  private func object() -> ManagedObject { ManagedObject(entity: EntityDescription(), insertInto: nil) }

  @Test func tablesAreDictionaries() {
    var random = SplitMix64(seed: testSeed(20_261_122))
    for round in 0..<60 {
      var table = ObjectTable()
      var dictionary: [ManagedObjectID: ManagedObject] = [:]
      // Those that only the table holds, which are known by what they were.
      var lent: [ManagedObjectID: ObjectIdentifier] = [:]
      // Rows that follow one another, and some here and there.
      let range = round % 2 == 0 ? UInt64.random(in: 1...300, using: &random) : UInt64.max >> 1
      let known = (0..<40).map { _ in UInt64.random(in: 0..<range, using: &random) }
      for _ in 0..<1_500 {
        let row =
          range < 1_000 ? UInt64.random(in: 0..<range, using: &random) : known.randomElement(using: &random) ?? 0
        // Temporary identifiers lie at the other end of the numbers.
        let id = id(row | (Bool.random(using: &random) ? 1 << 63 : 0), UInt32.random(in: 1...3, using: &random))
        switch Int.random(in: 0..<40, using: &random) {
        case 0..<18:
          let new = object()
          let old = table.add(new, id)
          #expect(old.map { ObjectIdentifier($0) } == dictionary[id].map { ObjectIdentifier($0) } ?? lent[id])
          dictionary[id] = new
          lent[id] = nil
        case 18..<30:
          let old = table.remove(id)
          #expect(old.map { ObjectIdentifier($0) } == dictionary[id].map { ObjectIdentifier($0) } ?? lent[id])
          dictionary[id] = nil
          lent[id] = nil
        case 30..<38:
          // Given up by all others.
          if let given = dictionary.removeValue(forKey: id) { lent[id] = ObjectIdentifier(given) }
        case 38:
          var released: [Unmanaged<ManagedObject>] = []
          var next = 0
          let most = Int.random(in: 1...40, using: &random)
          while next < table.capacity {
            let before = released.count
            table.takeReleased(from: &next, most: most, into: &released)
            #expect(released.count - before < most + 8)
          }
          table.shrink()
          #expect(Set(released.map { ObjectIdentifier($0.takeUnretainedValue()) }) == Set(lent.values))
          for object in released { object.release() }
          lent = [:]
        default:
          let (held, released) = table.heldObject(id.space, id.reference)
          #expect(held === dictionary[id])
          #expect(released.map { ObjectIdentifier($0) } == lent[id])
          lent[id] = nil
        }
        #expect(
          table.object(id).map { ObjectIdentifier($0) } == dictionary[id].map { ObjectIdentifier($0) } ?? lent[id])
        #expect(table.count == dictionary.count + lent.count)
      }
      let all = Set(dictionary.values.map { ObjectIdentifier($0) }).union(lent.values)
      #expect(Set(table.objects.map { ObjectIdentifier($0) }) == all)
      #expect(table.objects.count == all.count)
    }
  }

  /// Objects that come and go leave no room behind that later ones pay for.
  @Test func tablesDoNotGrowWithWhatIsGone() {
    var random = SplitMix64(seed: testSeed(20_261_126))
    var table = ObjectTable()
    // One at a time.
    for row in 0..<20_000 as Range<UInt64> {
      let new = object()
      _ = table.add(new, id(row * 8))
      _ = table.remove(id(row * 8))
    }
    #expect(table.count == 0 && table.capacity <= 16)
    // Some are kept, and others let go of now and then.
    let kept = (0..<100).map { _ in object() }
    for (row, object) in kept.enumerated() { _ = table.add(object, id(UInt64(row) * 1_000)) }
    for step in 0..<20_000 {
      _ = table.add(object(), id(UInt64.random(in: 0..<1 << 60, using: &random)))
      if step % 100 == 99 { removeReleased(&table) }
      #expect(table.capacity <= 1_024)
    }
    #expect(table.count == 100 && table.capacity <= 1_024)
    withExtendedLifetime(kept) {}
  }

  /// An object that does something at its end.
  private final class Ending: ManagedObject {
    var atEnd: () -> Void = {}
    deinit { atEnd() }
  }

  /// Objects are let go of a few at a time: what one of them does at its end meets a registry that knows all others,
  /// and may make it another table.
  @Test func whoIsLetGoOfMayAddOthers() {
    let registry = ObjectRegistry()
    registry.retainsAll = true
    var kept: [UInt64: ManagedObject] = [:]
    for row in 0..<2_000 as Range<UInt64> {
      let new = Ending(entity: EntityDescription(), insertInto: nil)
      registry.add(new, id(row))
      if row % 3 == 0 { kept[row] = new }
      if row == 700 {
        new.atEnd = { [self] in
          // It is not the last one; what comes has the table grow.
          let others = (0..<2_000 as Range<UInt64>).filter { kept[$0] == nil && registry.peek(id($0)) != nil }
          #expect(others.count > 100 && others.count < 1_332)
          for row in 10_000..<16_000 as Range<UInt64> {
            let new = object()
            registry.add(new, id(row))
            if row % 5 == 0 { kept[row] = new }
          }
        }
      }
    }
    registry.retainsAll = false
    registry.sweep()
    let expected = kept.keys.sorted()
    #expect(expected.count == 667 + 1_200)
    #expect(Set(registry.objects.map { ObjectIdentifier($0) }) == Set(kept.values.map { ObjectIdentifier($0) }))
    #expect(expected.allSatisfy { registry[id($0)] === kept[$0] })
    #expect(registry.count == kept.count)
  }

  /// Each object looks at the next one at its end, at all that are left, or takes it out: they end one behind the
  /// other, and not one within the other, for which a small stack would not do.
  @Test(arguments: ["looked up", "swept", "taken out"]) func endsDoNotNest(how: String) {
    let registry = ObjectRegistry()
    registry.retainsAll = true
    // Blocks have other places than rows, so that next is any.
    let order = (0..<20_000 as Range<UInt64>).map { $0 &* 7_919 % 20_000 }
    let ended = Ends()
    for (place, row) in order.enumerated() {
      let new = Ending(entity: EntityDescription(), insertInto: nil)
      let next = id(order[(place + 1) % order.count])
      new.atEnd = {
        ended.depth += 1
        ended.deepest = max(ended.deepest, ended.depth)
        switch how {
        case "looked up": #expect(registry[next] == nil)
        case "swept": if ended.count % 1_000 == 0 { registry.sweep() }
        default: registry.remove(next)
        }
        ended.depth -= 1
        ended.count += 1
      }
      registry.add(new, id(row))
    }
    registry.retainsAll = false
    registry.sweep()
    #expect(ended.count == order.count && registry.count == 0)
    #expect(ended.deepest == 1)
  }

  private final class Ends {
    var (depth, deepest, count) = (0, 0, 0)
  }

  /// Stores that come and go, and the same rows of many of them.
  @Test func tablesKnowStoresByTheirIdentifiers() throws {
    let directory = try TemporaryDirectory()
    let (first, second) = (try directory.container("a"), try directory.container("b"))
    func space(_ container: PersistentContainer) throws -> StoreSpace {
      try #require(container.persistentStoreCoordinator.persistentStores.first).space
    }
    let spaces = [try space(first), try space(second)]
    var table = ObjectTable()
    let objects = (0..<2_000).map { _ in object() }
    for (place, object) in objects.enumerated() {
      _ = table.add(object, id(UInt64(place / 2), 1, spaces[place % 2]))
    }
    let isFound = objects.indices.allSatisfy { table.object(id(UInt64($0 / 2), 1, spaces[$0 % 2])) === objects[$0] }
    #expect(isFound)
    // What is left of one store is found after the other's objects are gone.
    for place in stride(from: 0, to: 2_000, by: 2) { _ = table.remove(id(UInt64(place / 2), 1, spaces[0])) }
    removeReleased(&table)
    let rest = stride(from: 1, to: 2_000, by: 2).allSatisfy {
      table.object(id(UInt64($0 / 2), 1, spaces[1])) === objects[$0]
    }
    #expect(rest && table.count == 1_000)
    let gone = table.object(id(5, 1, spaces[0]))
    #expect(gone == nil)
  }

  @Test func pendingObjectsAreInTheOrderOfTheirChanges() {
    var random = SplitMix64(seed: testSeed(20_261_124))
    for _ in 0..<50 {
      var list = PendingObjects(.updated)
      var expected: [ManagedObject] = []
      var order: UInt64 = 0
      for _ in 0..<300 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5:
          let new = object()
          order += 1
          new.changeOrder = order
          list.insert(new)
          list.insert(new)
          expected.append(new)
        case 5..<8:
          guard let gone = expected.randomElement(using: &random) else { continue }
          expected.removeAll { $0 === gone }
          let wasThere = (list.remove(gone), list.remove(gone))
          #expect(wasThere == (true, false))
          #expect(gone.pending == .none)
        case 8:
          let gone = expected.filter { _ in Bool.random(using: &random) }
          expected.removeAll { object in gone.contains { $0 === object } }
          list.remove(contentsOf: gone + gone)
        default:
          guard let first = expected.first else { continue }
          // One that comes back is where it was.
          let wasThere = list.remove(first)
          #expect(wasThere)
          list.insert(first)
        }
        #expect(list.count == expected.count && list.isEmpty == expected.isEmpty)
        if Bool.random(using: &random) {
          let ordered = list.ordered()
          #expect(ordered == expected)
        }
      }
      let ordered = list.ordered()
      #expect(ordered == expected)
      #expect(list.values.allSatisfy { $0.pending == .updated })
      list.removeAll()
      #expect(list.isEmpty && expected.allSatisfy { $0.pending == .none })
    }
  }

  @Test func whatNobodyHoldsIsLetGo() throws {
    let directory = try TemporaryDirectory()
    let context = try directory.container().newBackgroundContext()
    try context.performAndWait {
      for number in 0..<2_000 { try context.make("Aircraft", ["tailNumber": "N\(number)"]) }
      try context.save()
    }
    var held: [ManagedObject] = []
    try context.performAndWait {
      let all: [ManagedObject] = try context.all("Aircraft")
      held = Array(all.prefix(10))
      #expect(context.registry.objects.count == 2_000)
      withExtendedLifetime(all) {}
    }
    // At the end of the block.
    #expect(context.registry.count == 10)
    #expect(context.registeredObjects == Set(held))
    // One that is held is the one that is found; one that is not is made anew, even if it is still there.
    try context.performAndWait {
      let known = Set(held)
      let found = try context.all("Aircraft").filter { known.contains($0) }
      #expect(found.count == 10)
    }
    held.removeAll()
    #expect(context.registeredObjects.isEmpty)
    // Changes are held by the context itself.
    try context.performAndWait {
      let first = try context.all("Aircraft").first
      first?.setValue("other", forKey: "tailNumber")
    }
    #expect(context.registeredObjects.count == 1 && context.hasChanges)
    withExtendedLifetime(directory) {}
  }

  /// An object whose end uses the context.
  private final class Noisy: ManagedObject {
    nonisolated(unsafe) static var other: ManagedObjectID?
    nonisolated(unsafe) static var ends = 0

    deinit {
      Noisy.ends += 1
      guard let context = managedObjectContext, let id = Noisy.other else { return }
      _ = context.object(with: id).value(forKey: "name")
    }
  }

  @Test func endsOfObjectsMayUseTheContext() throws {
    let directory = try TemporaryDirectory()
    let model = try ManagedObjectModel {
      Entity("Thing", class: Noisy.self) { Attribute("name", .string) }
      Entity("Other") { Attribute("name", .string) }
    }
    let container = PersistentContainer(name: "noisy", managedObjectModel: model)
    container.persistentStoreDescriptions = [
      PersistentStoreDescription(url: directory.url.appendingPathComponent("noisy"))
    ]
    try container.loadPersistentStores()
    let context = container.newBackgroundContext()
    try context.performAndWait {
      for _ in 0..<1_000 { _ = try context.insertNewObject(forEntityName: "Thing") }
      let other = try context.insertNewObject(forEntityName: "Other")
      try context.save()
      Noisy.other = other.objectID
    }
    for _ in 0..<3 {
      try context.performAndWait { _ = try context.fetch(FetchRequest<ManagedObject>(entityName: "Thing")) }
      #expect(context.registeredObjects.isEmpty)
    }
    #expect(Noisy.ends >= 3_000)
    withExtendedLifetime(directory) {}
  }
}
