import CambiumEngine
import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// ``IDMap`` beside a dictionary, and what a context's registry lets go of.
@Suite struct ObjectRegistryTests {
  private func id(_ row: UInt64, _ entity: UInt32 = 1) -> ManagedObjectID {
    ManagedObjectID(space: StoreSpace.none, reference: ObjectReference(entity: entity, row: row))
  }

  @Test func mapsAreDictionaries() {
    var random = SplitMix64(seed: testSeed(20_261_122))
    for _ in 0..<100 {
      var map: IDMap<Int> = [:]
      var dictionary: [ManagedObjectID: Int] = [:]
      let range = UInt64.random(in: 1...300, using: &random)
      for step in 0..<600 {
        // Temporary identifiers lie at the other end of the numbers.
        let id = id(
          UInt64.random(in: 0..<range, using: &random) | (Bool.random(using: &random) ? 1 << 63 : 0),
          UInt32.random(in: 1...3, using: &random))
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<6: #expect(map.updateValue(step, forKey: id) == dictionary.updateValue(step, forKey: id))
        case 6..<10: #expect(map.removeValue(forKey: id) == dictionary.removeValue(forKey: id))
        case 10:
          let removed = map.removeAll { $0 % 5 == 0 }
          #expect(removed.sorted() == dictionary.values.filter { $0 % 5 == 0 }.sorted())
          dictionary = dictionary.filter { $1 % 5 != 0 }
        default:
          let found = map.value(id) { $0 % 2 == 0 }
          #expect(found.element == dictionary[id])
          #expect(found.isOut == (dictionary[id].map { $0 % 2 == 0 } ?? false))
        }
        #expect(map[id] == dictionary[id])
        #expect(map.count == dictionary.count && map.isEmpty == dictionary.isEmpty)
      }
      #expect(Set(map.keys) == Set(dictionary.keys))
      #expect(map.values.sorted() == dictionary.values.sorted())
      for (id, value) in map { #expect(dictionary[id] == value) }
    }
  }

  /// Entries that were not removed are in the order in which they came.
  @Test func mapsKeepTheOrder() {
    var map: IDMap<UInt64> = [:]
    for row in 0..<1_000 as Range<UInt64> { map[id(row)] = row }
    for row in stride(from: 0, to: 1_000, by: 3) { map[id(UInt64(row))] = nil }
    for row in 1_000..<2_000 as Range<UInt64> { map[id(row)] = row }
    #expect(map.values == (0..<2_000).filter { $0 >= 1_000 || $0 % 3 != 0 })
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
