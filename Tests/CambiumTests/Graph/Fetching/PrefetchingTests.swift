import Foundation
import Testing

@testable import Cambium

/// What is read with a fetch of what relationships lead to.
@Suite struct PrefetchingTests {
  class Town: ManagedObject {
    @Managed var name: String
    @Managed var streets: Set<Street>
    @Managed var rivers: Set<River>
    var awoken = 0
    override func awakeFromFetch() { awoken += 1 }
  }

  final class City: Town {
    @Managed var mayor: String?
  }

  final class Street: ManagedObject {
    @Managed var name: String
    @Managed var town: Town?
    @Managed var crossing: Street?
  }

  final class River: ManagedObject {
    @Managed var name: String
    @Managed var towns: [Town]
  }

  final class Goer: ManagedObject {
    nonisolated(unsafe) static var atEnd: (() -> Void)?
    @Managed var next: Goer?
    @Managed var other: Goer?
    deinit { Self.atEnd?() }
  }

  final class Way: ManagedObject {
    @Managed var place: Place?
  }

  final class Place: ManagedObject {
    @Managed var name: String
    @Managed var ways: Set<Way>
  }

  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Town", class: Town.self) {
        Attribute("name", .string)
        ToMany("streets", "Street", inverse: "town")
        ToMany("rivers", "River", inverse: "towns")
      }
      Entity("City", parent: "Town", class: City.self) { Attribute("mayor", .string) }
      Entity("Street", class: Street.self) {
        Attribute("name", .string)
        ToOne("town", "Town", inverse: "streets")
        ToOne("crossing", "Street")
      }
      Entity("River", class: River.self) {
        Attribute("name", .string)
        ToMany("towns", "Town", inverse: "rivers", ordered: true)
      }
    }
  }

  /// Streets of towns, some of which are cities, and rivers through these.
  static func container(streets: Int = 60, towns: Int = 7) throws -> PersistentContainer {
    let container = try memoryContainer(model())
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let places = try (0..<towns).map { try context.make($0 % 3 == 2 ? "City" : "Town", ["name": "T\($0)"]) }
      var last: ManagedObject?
      for n in 0..<streets {
        let street = try context.make("Street", ["name": "S\(n)", "crossing": last])
        if n % 10 != 9 { try street.set(places[n * 31 % towns], forKey: "town") }
        last = n % 4 == 3 ? nil : street
      }
      for n in 0..<3 {
        let river = try context.make("River", ["name": "R\(n)"])
        try river.set([places[n], places[n + 2]], forKey: "towns")
      }
      try context.save()
    }
    return container
  }

  private static func request(_ paths: [String]) -> FetchRequest<Street> {
    let request = FetchRequest<Street>()
    request.relationshipKeyPathsForPrefetching = paths
    request.sortDescriptors = [FetchSortDescriptor(key: "name")]
    return request
  }

  /// The objects of an entity that the context has, with their rows.
  private static func present(_ context: ManagedObjectContext, _ entity: String) -> Set<String> {
    Set(
      context.registeredObjects.filter { $0.entity.isKindOf(entity: context.entity(entity)) && $0.heldRow != nil }.map {
        "\($0.objectID)"
      })
  }

  private static func all(_ container: PersistentContainer, _ entity: String) throws -> Set<String> {
    let context = container.newBackgroundContext()
    return Set(try context.all(entity).map { "\($0.objectID)" })
  }

  @Test func destinationsAreThereUntilTheBlockEnds() throws {
    let container = try Self.container()
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let streets = try context.fetch(Self.request(["town.rivers"]))
      #expect(streets.count == 60)
      #expect(streets.allSatisfy { $0.isFault })
      #expect(try Self.present(context, "Town") == Self.all(container, "Town"))
      #expect(try Self.present(context, "River") == Self.all(container, "River"))
      // They are what is found, faults, and not awake.
      let town = try #require(streets.first { $0.name == "S0" }?.town)
      #expect(town.isFault && town.awoken == 0 && town.heldRow != nil)
      #expect(town.name == "T0" && town.awoken == 1)
    }
    #expect(context.registeredObjects.isEmpty)
    // Without it, nothing is there that nobody has asked for.
    try context.performAndWait {
      let streets = try context.fetch(Self.request([]))
      #expect(Self.present(context, "Town").isEmpty)
      withExtendedLifetime(streets) {}
    }
  }

  @Test func toManyRelationshipsAreFollowed() throws {
    let container = try Self.container()
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let request = FetchRequest<River>()
      request.relationshipKeyPathsForPrefetching = ["towns.streets.crossing", "towns"]
      request.predicate = try FetchPredicate(format: "name == 'R1'")
      let rivers = try context.fetch(request)
      #expect(rivers.count == 1)
      let other = container.newBackgroundContext()
      let expected = try other.performAndWait { () -> (Set<String>, Set<String>) in
        let river = try #require(try other.fetch(FetchRequest<River>()).first { $0.name == "R1" })
        let streets = river.towns.flatMap { $0.streets }
        return (
          Set(river.towns.map { "\($0.objectID)" }),
          Set((streets + streets.compactMap { $0.crossing }).map { "\($0.objectID)" })
        )
      }
      #expect(Self.present(context, "Town") == expected.0)
      #expect(Self.present(context, "Street") == expected.1)
    }
  }

  @Test func unsavedChangesAreFollowed() throws {
    let container = try Self.container()
    let context = container.newBackgroundContext()
    try context.performAndWait {
      var streets = try context.fetch(Self.request([]))
      let new = try #require(try context.insertNewObject(forEntityName: "Town") as? Town)
      new.name = "new"
      for street in streets { street.town = street.name == "S1" ? nil : new }
      let other = try #require(streets.first { $0.name == "S2" })
      context.delete(other)
      streets = try context.fetch(Self.request(["town", "crossing.town"]))
      #expect(streets.count == 59)
      #expect(context.making.prefetched.objects.contains(new))
      // What was left is not read: nothing leads there any more.
      #expect(Self.present(context, "Town").isEmpty)
      #expect(Set(context.updatedObjects.compactMap { $0 as? Street }) == Set(streets))
      context.rollback()
      streets = try context.fetch(Self.request(["town"]))
      #expect(try Self.present(context, "Town") == Self.all(container, "Town"))
      #expect(!context.hasChanges)
    }
  }

  /// Fetches beside the context, also those that are done as a whole on its queue, since they have to see unsaved
  /// changes.
  @Test(arguments: [false, true]) func besideTheContext(isChanged: Bool) async throws {
    let container = try Self.container()
    let context = container.newBackgroundContext()
    if isChanged { try await context.perform { _ = try context.make("Street", ["name": "Z"]) } }
    let found: (streets: Int, towns: Set<String>, rivers: Set<String>) = try await withCheckedThrowingContinuation {
      continuation in
      do {
        try context.execute(
          AsynchronousFetchRequest(Self.request(["town.rivers"])) { result in
            if let error = result.operationError { return continuation.resume(throwing: error) }
            // In the block that the objects were made in.
            continuation.resume(
              returning: (
                result.finalResult?.count ?? 0, Self.present(context, "Town"), Self.present(context, "River")
              ))
          })
      } catch { continuation.resume(throwing: error) }
    }
    #expect(found.streets == (isChanged ? 61 : 60))
    #expect(try found.towns == Self.all(container, "Town"))
    #expect(try found.rivers == Self.all(container, "River"))
  }

  @Test func whatIsGoneIsLeftOut() throws {
    let container = try Self.container()
    let context = container.newBackgroundContext()
    let other = container.newBackgroundContext()
    // A relationship without an inverse leads to what is deleted all the same.
    try other.performAndWait {
      for street in try other.fetch(Self.request([])) where street.name == "S4" || street.name == "S8" {
        other.delete(street)
      }
      try other.save()
    }
    try context.performAndWait {
      let streets = try context.fetch(Self.request(["crossing"]))
      #expect(streets.count == 58)
      #expect(Self.present(context, "Street").count == 58)
      #expect(context.recordedErrors.isEmpty)
    }
  }

  private static func first(_ towns: [Town]) -> Town? {
    towns.min { $0.objectID.description < $1.objectID.description }
  }

  /// What was prefetched before is as new as the fetch, within a block and outside of any.
  @Test(arguments: [false, true]) func theNewestCommitIsPrefetched(isInBlock: Bool) throws {
    let container = try Self.container()
    let context = container.newBackgroundContext()
    let other = container.newBackgroundContext()
    func change(_ name: String) throws {
      try other.performAndWait {
        let town = try #require(Self.first(try other.fetch(FetchRequest<Town>())))
        town.name = name
        try other.save()
      }
    }
    func check() throws {
      for name in ["first", "second"] {
        try change(name)
        let streets = try context.fetch(Self.request(["town"]))
        let town = try #require(Self.first(streets.compactMap { $0.town }))
        #expect(town.name == name)
      }
    }
    if isInBlock { try context.performAndWait { try check() } } else { try check() }
  }

  /// Prefetched objects of an entity without a class are plain, so that a property of another class does not read them.
  @Test func anEntityWithoutAClassIsOfPlainObjects() throws {
    let model = try ManagedObjectModel {
      Entity("Place") {
        Attribute("name", .string)
        ToMany("ways", "Way", inverse: "place")
      }
      Entity("Way", class: Way.self) { ToOne("place", "Place", inverse: "ways") }
    }
    let directory = try TemporaryDirectory()
    do {
      let writing = try directory.container(model: model).newBackgroundContext()
      for n in 0..<6 {
        let place = try writing.make("Place", ["name": "P\(n)"])
        try writing.make("Way", ["place": place])
      }
      try writing.save()
    }
    let context = try directory.container(model: model).newBackgroundContext()
    try context.performAndWait {
      let request = FetchRequest<Way>()
      request.relationshipKeyPathsForPrefetching = ["place"]
      let ways = try context.fetch(request)
      #expect(ways.count == 6 && ways.allSatisfy { $0.place == nil })
      #expect(context.recordedErrors.last?.message.contains("in the model") == true)
    }
  }

  /// Controllers fetch within calls of their own, which are no blocks.
  @Test func controllersHoldWhatTheLastFetchPrefetched() throws {
    let container = try Self.container()
    let context = container.viewContext
    let controller = FetchedResultsController(fetchRequest: Self.request(["town"]), managedObjectContext: context)
    for _ in 0..<3 {
      try controller.performFetch()
      #expect(context.making.prefetched.objects.count == 7)
    }
    // A block that ends lets go of it.
    context.performAndWait {}
    #expect(context.making.prefetched.objects.isEmpty)
  }

  /// Objects whose end resets the context, or fetches and prefetches anew, while it lets go of what was prefetched.
  @Test(.serialized, arguments: [false, true]) func whatEndsMayComeBack(resets: Bool) throws {
    let model = try ManagedObjectModel {
      Entity("Goer", class: Goer.self) {
        ToOne("next", "Goer")
        ToOne("other", "Goer")
      }
    }
    let container = try memoryContainer(model)
    let context = container.newBackgroundContext()
    let request = FetchRequest<Goer>()
    request.relationshipKeyPathsForPrefetching = ["next.next.other", "other", "next"]
    defer { Goer.atEnd = nil }
    try context.performAndWait {
      let goers = (0..<20).map { _ in Goer(context: context) }
      for (n, goer) in goers.enumerated() { (goer.next, goer.other) = (goers[(n + 1) % 20], goers[n * 7 % 20]) }
      try context.save()
    }
    var ends = 0
    for _ in 0..<4 {
      Goer.atEnd = {
        ends += 1
        if ends % 3 != 0 { return }
        if resets { context.reset() } else { _ = try? context.fetch(request) }
      }
      try context.performAndWait {
        let new = Goer(context: context)
        let found = try context.fetch(request)
        new.next = found.first
        found.first?.next = new
        _ = try context.fetch(request)
        context.rollback()
      }
      _ = try context.fetch(request)
    }
    Goer.atEnd = nil
    #expect(ends > 20)
    context.reset()
    #expect(try context.fetch(request).allSatisfy { $0.next != nil && $0.other != nil })
  }

  @Test func manyAreReadByThreads() throws {
    let container = try Self.container(streets: 9_000, towns: 5_000)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let streets = try context.fetch(Self.request(["town", "crossing"]))
      let towns = Set(streets.compactMap { $0.town?.objectID })
      #expect(towns.count > 2_048)
      #expect(Self.present(context, "Town") == Set(towns.map { "\($0)" }))
      for street in streets where street.name.hasSuffix("7") {
        let n = try #require(Int(street.name.dropFirst()))
        #expect(street.town?.name == "T\(n * 31 % 5_000)")
        #expect(street.crossing?.name == (n % 4 == 0 ? nil : "S\(n - 1)"))
      }
    }
  }

  @Test func outsideOfBlocksTheLastFetchHolds() throws {
    let container = try Self.container()
    let context = container.newBackgroundContext()
    var streets = try context.fetch(Self.request(["town"]))
    #expect(try Self.present(context, "Town") == Self.all(container, "Town"))
    streets = try context.fetch(Self.request(["crossing"]))
    #expect(Self.present(context, "Town").isEmpty)
    context.reset()
    #expect(context.making.prefetched.objects.isEmpty && context.registeredObjects.isEmpty)
    withExtendedLifetime(streets) {}
    // Without effect on what is asked for in other ways, and in children.
    let count = FetchRequest<Int>(entityName: "Street")
    count.resultType = .count
    count.relationshipKeyPathsForPrefetching = ["town"]
    #expect(try context.fetch(count) == [60])
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: context)
    let found = try child.fetch(Self.request(["town"]))
    #expect(found.count == 60 && child.making.prefetched.objects.isEmpty)
  }
}

extension ManagedObjectContext {
  fileprivate func entity(_ name: String) -> EntityDescription {
    persistentStoreCoordinator.managedObjectModel.entitiesByName[name] ?? EntityDescription(name)
  }
}
