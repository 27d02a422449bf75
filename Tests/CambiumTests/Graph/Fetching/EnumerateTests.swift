import Foundation
import Testing

@testable import Cambium

/// Objects of a request that are gone through, of which a batch is there at a time.
@Suite struct EnumerateTests {
  private let directory: TemporaryDirectory
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    directory = try TemporaryDirectory()
    container = try directory.container()
    context = container.newBackgroundContext()
  }

  private func fill(_ count: Int) throws {
    for number in 0..<count { try context.make("LogEntry", ["number": number, "remarks": "r\(number % 7)"]) }
    try context.save()
    context.reset()
  }

  private func request(
    _ format: String? = nil, ascending: Bool? = nil
  ) throws -> FetchRequest<ManagedObject> {
    let request = FetchRequest<ManagedObject>(entityName: "LogEntry")
    request.predicate = try format.map { try FetchPredicate(format: $0) }
    request.sortDescriptors = ascending.map { [FetchSortDescriptor(key: "number", ascending: $0)] }
    return request
  }

  private func number(_ object: ManagedObject) -> Int { object.value(forKey: "number") as? Int ?? -1 }

  private func numbers(
    _ request: FetchRequest<ManagedObject>, batchSize: Int = 10, isMutating: Bool = false,
    in context: ManagedObjectContext? = nil, _ body: (ManagedObject, Int) throws -> Void = { _, _ in }
  ) throws -> [Int] {
    var seen: [Int] = []
    try (context ?? self.context).enumerate(request, batchSize: batchSize, allowEscapingMutations: isMutating) {
      seen.append(number($0))
      try body($0, seen[seen.count - 1])
    }
    return seen
  }

  /// As a fetch has it, whatever the size of the batches.
  @Test(arguments: [1, 7, 50, 49, 2500, Int.max]) func givesWhatAFetchGives(batchSize: Int) throws {
    try fill(2600)
    for format in [nil, "remarks == 'r3'", "number < 50", "number < 0"] {
      for ascending in [nil, true, false] {
        let request = try request(format, ascending: ascending)
        let isSame = try numbers(request, batchSize: batchSize) == context.fetch(request).map(number)
        #expect(isSame)
        request.fetchOffset = 3
        request.fetchLimit = 120
        #expect(try numbers(request, batchSize: batchSize) == context.fetch(request).map(number))
      }
    }
  }

  /// So many batches that rows are copied ahead by other threads, where there are processors for that; whatever the
  /// block does meanwhile.
  @Test(arguments: [nil, true, false] as [Bool?]) func rowsAreCopiedAhead(ascending: Bool?) throws {
    let count = 6_000
    try context.execute(
      BatchInsertRequest(
        entityName: "LogEntry", objects: (0..<count).map { ["number": $0, "remarks": "r\($0 % 7)"] }))
    context.reset()
    let other = container.newBackgroundContext()
    let request = try request(ascending: ascending)
    /// Which one comes in a place.
    func at(_ place: Int) -> Int { ascending == false ? count - 1 - place : place }
    // What others delete is left out, and what is left of the batch that a reset met is of no use.
    let skipped = Set(4_124..<4_150).union([3_001])
    let places = (0..<count).filter { !skipped.contains($0) }
    var given = 0
    var most = 0
    var shown: [Int: String] = [:]
    let seen = try numbers(request, batchSize: 50) { object, number in
      let place = given < places.count ? places[given] : count
      given += 1
      if place % 1000 == 0 { shown[place] = object.value(forKey: "remarks") as? String }
      if place % 100 == 99 { most = max(most, context.registeredObjects.count) }
      // What nobody has committed anything for is read on as it was copied.
      if place == 500 { #expect(try context.fetch(try self.request("number == 20")).count == 1) }
      // Others change and delete what has been copied; the context does not go on to it yet.
      if place == 999 {
        for entry in try other.all("LogEntry", "number IN %@", [[at(1000), at(2000), at(3001), at(5000)]]) {
          guard entry.value(forKey: "number") as? Int == at(3001) else {
            entry.setValue("new", forKey: "remarks")
            continue
          }
          other.delete(entry)
        }
        try other.save()
      }
      if place == 1_500 { #expect(try context.fetch(try self.request("number == 20")).count == 1) }
      if place == 2_500 {
        object.setValue("own", forKey: "remarks")
        try context.save()
      }
      if place == 4_123 { context.reset() }
      if place == 4_500 { #expect(try numbers(try self.request("number < 33"), batchSize: 4).count == 33) }
    }
    #expect(most <= 51)
    #expect(shown[0] == "r\(at(0) % 7)" && shown[1000] == "r\(at(1000) % 7)")
    #expect(shown[2000] == "new" && shown[5000] == "new")
    let isSame = seen == places.map(at)
    #expect(isSame)
    #expect(try other.all("LogEntry", "remarks == 'own'").count == 1)
  }

  @Test func whatEndsItWhileRowsAreCopied() throws {
    try fill(3_000)
    struct Enough: Error {}
    var last = 0
    #expect(throws: Enough.self) {
      try context.enumerate(try request(ascending: true), batchSize: 10) {
        last = number($0)
        if last == 1_001 { throw Enough() }
      }
    }
    #expect(last == 1_001)
    var error = cambiumError {
      _ = try numbers(try request(ascending: true), batchSize: 60) { object, number in
        if number == 1_200 { object.setValue("x", forKey: "remarks") }
        last = number
      }
    }
    #expect(error?.code == .invalidArgument && last == 1_259)
    context.rollback()
    // The store is let go of by everybody else.
    error = cambiumError {
      _ = try numbers(try request(ascending: true), batchSize: 60) { _, number in
        last = number
        guard number == 1_200 else { return }
        for store in container.persistentStoreCoordinator.persistentStores {
          try container.persistentStoreCoordinator.remove(store)
        }
        context.reset()
      }
    }
    #expect(error?.code == .persistentStoreOperation && last == 1_200)
  }

  /// Threads that copy ahead meet a store that is suspended for a moment: what they could not read is read when its
  /// turn comes.
  @Test func aStoreThatIsSuspendedMeanwhile() throws {
    try fill(3_000)
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let seen = try numbers(try request(ascending: true), batchSize: 50) { _, number in
      guard number % 50 == 0 else { return }
      try store.suspend()
      // So long that whoever copies the next batch meets it.
      Thread.sleep(forTimeInterval: 0.002)
      try store.resume()
    }
    let isSame = seen == Array(0..<3_000)
    #expect(isSame)
    // Nobody reads one that stays so.
    var last = 0
    let error = cambiumError {
      _ = try numbers(try request(ascending: true), batchSize: 50) { _, number in
        last = number
        if number == 1_000 { try store.suspend() }
      }
    }
    #expect(error != nil && (1_049..<1_500).contains(last))
    try store.resume()
  }

  /// A context that reads a generation goes through that, whatever others do and it asks meanwhile.
  @Test func generations() throws {
    try fill(2_500)
    try context.setQueryGenerationFrom(.current)
    let other = container.newBackgroundContext()
    for ascending in [nil, false] as [Bool?] {
      let request = try request(ascending: ascending)
      var isOld = true
      let seen = try numbers(request, batchSize: 40) { object, number in
        if object.value(forKey: "remarks") as? String != "r\(number % 7)" { isOld = false }
        guard number == 500 else { return }
        for entry in try other.all("LogEntry") {
          if entry.value(forKey: "number") as? Int ?? 0 < 1_200 {
            entry.setValue("new", forKey: "remarks")
          } else {
            other.delete(entry)
          }
        }
        try other.make("LogEntry", ["number": 9_999])
        try other.save()
        #expect(try context.fetch(try self.request()).count == 2_500)
      }
      let isSame = seen == (ascending == nil ? Array(0..<2_500) : Array((0..<2_500).reversed()))
      #expect(isSame && isOld)
    }
    try context.setQueryGenerationFrom(nil)
    // 1,200 that were changed, and the new one: the second time round deletes that of the first.
    #expect(try numbers(try request()).count == 1_201)
  }

  @Test func holdsABatchAtATime() throws {
    try fill(100)
    var most = 0
    weak var first: ManagedObject?
    var kept: ManagedObject?
    _ = try numbers(try request(ascending: true), batchSize: 8) { object, number in
      #expect(object.isOfContext(context))
      most = max(most, context.registeredObjects.count)
      if number == 0 { first = object }
      if number == 5 { kept = object }
      if number == 50 {
        #expect(first == nil)
        #expect(kept.map { context.object(with: $0.objectID) } === kept)
      }
    }
    #expect(most == 9)
    #expect(kept.map(number) == 5)
    #expect(context.registeredObjects.count == 1)
    // An object that is there already is the one that is given.
    var given: ManagedObject?
    _ = try numbers(try request()) { object, number in if number == 5 { given = object } }
    #expect(given === kept)
  }

  @Test func unsavedChangesHaveToBeIntended() throws {
    try fill(30)
    let change = try #require(try context.fetch(try request(ascending: true)).last)
    change.setValue("x", forKey: "remarks")
    let error = cambiumError { _ = try numbers(try request()) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains("allowEscapingMutations") == true)
    #expect(try numbers(try request("remarks == 'x'"), isMutating: true) == [29])
    try context.save()
    // Those of a batch are noticed at its end.
    var seen: [Int] = []
    #expect(
      cambiumError {
        _ = try numbers(try request(ascending: true)) { object, number in
          seen.append(number)
          object.setValue("y", forKey: "remarks")
        }
      }?.code == .invalidArgument)
    #expect(seen == Array(0..<10))
    context.rollback()
    // Saved in the block, or intended, they are fine; the last batch is no exception.
    for isSaving in [true, false] {
      let name = isSaving ? "saved" : "intended"
      let all = try numbers(try request(ascending: true), isMutating: !isSaving) { object, number in
        object.setValue(name, forKey: "remarks")
        if isSaving, number % 10 == 9 { try context.save() }
      }
      #expect(all == Array(0..<30))
      #expect(context.hasChanges == !isSaving)
      try context.save()
      #expect(try container.newBackgroundContext().all("LogEntry", "remarks == '\(name)'").count == 30)
    }
  }

  /// What the block saves, or fetches, is what objects of later batches show.
  @Test func laterBatchesAreReadAsTheContextReads() throws {
    try fill(40)
    let other = container.newBackgroundContext()
    func change(_ number: Int, to remarks: String) throws {
      let object = try #require(try other.all("LogEntry", "number == \(number)").first)
      object.setValue(remarks, forKey: "remarks")
      try other.save()
    }
    var remarks: [Int: String] = [:]
    _ = try numbers(try request(ascending: true)) { object, number in
      remarks[number] = object.value(forKey: "remarks") as? String
      if number == 3 { try change(25, to: "unseen") }
      // The context goes on to the newest commit.
      if number == 25 {
        try change(35, to: "seen")
        _ = try context.fetch(try request("number == 0"))
      }
    }
    #expect(remarks[25] == "r4")
    #expect(remarks[35] == "seen")
    // An object that is changed before its turn, by the context itself, is not met in its former state.
    _ = try numbers(try request(ascending: true), batchSize: 3) { object, number in
      guard number < 39 else { return }
      let next = try #require(try context.fetch(try request("number == \(number + 1)")).first)
      let before = next.value(forKey: "remarks") as? String ?? ""
      next.setValue(number == 0 ? "1" : (object.value(forKey: "remarks") as? String ?? "") + "1", forKey: "remarks")
      #expect(!before.isEmpty)
      try context.save()
    }
    let last = try #require(try other.all("LogEntry", "number == 39").first)
    #expect(last.value(forKey: "remarks") as? String == String(repeating: "1", count: 39))
  }

  @Test(arguments: [1, 4, 100]) func whatIsDeletedBeforeItsTurnIsLeftOut(batchSize: Int) throws {
    try fill(20)
    let other = container.newBackgroundContext()
    for ascending in [nil, true] {
      let seen = try numbers(try request(ascending: ascending), batchSize: batchSize, isMutating: true) { _, number in
        if number % 5 == 2, let next = try context.fetch(try request("number == \(number + 1)")).first {
          context.delete(next)
        }
      }
      #expect(seen == (0..<20).filter { $0 % 5 != 3 })
      context.rollback()
    }
    // By others, even if somebody has the object; within a batch, whose rows have been read, it is still there.
    for (gone, ascending) in [(12, nil), (13, true), (2, false)] as [(Int, Bool?)] {
      let request = try request(ascending: ascending)
      request.returnsObjectsAsFaults = gone == 13
      let before = try context.fetch(request).map(number)
      let held = try context.fetch(try self.request("number == \(gone)"))
      #expect(held.count == 1)
      let seen = try numbers(request, batchSize: batchSize) { _, number in
        guard number == 7, let there = try other.all("LogEntry", "number == \(gone)").first else { return }
        other.delete(there)
        try other.save()
        _ = try context.fetch(try self.request("number == 0"))
      }
      #expect(seen == before.filter { batchSize == 100 || $0 != gone }, "\(gone)")
      withExtendedLifetime(held) {}
    }
  }

  @Test func blocksMayResetThrowAndNest() throws {
    try fill(20)
    let seen = try numbers(try request(ascending: true), batchSize: 5) { _, number in
      if number == 2 || number == 11 { context.reset() }
    }
    // What is left of the batch is of no use.
    #expect(seen == Array(0...2) + Array(5...11) + Array(15..<20))
    struct Enough: Error {}
    var count = 0
    #expect(throws: Enough.self) {
      _ = try numbers(try request()) { _, _ in
        count += 1
        if count == 13 { throw Enough() }
      }
    }
    #expect(count == 13)
    var pairs = 0
    _ = try numbers(try request(), batchSize: 3) { _, _ in
      _ = try numbers(try request(), batchSize: 7) { _, _ in pairs += 1 }
    }
    #expect(pairs == 400)
  }

  @Test func unsavedObjectsAndChildren() throws {
    try fill(10)
    let new = try context.make("LogEntry", ["number": 100])
    let gone = try #require(try context.fetch(try request("number == 4")).first)
    context.delete(gone)
    for ascending in [nil, true, false] {
      let request = try request(ascending: ascending)
      let expected = try context.fetch(request).map(number)
      #expect(Set(expected) == Set([0, 1, 2, 3, 5, 6, 7, 8, 9, 100]))
      #expect(try numbers(request, batchSize: 3, isMutating: true) == expected)
      let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: context)
      #expect(try numbers(request, batchSize: 3, in: child) == expected)
      let own = try child.make("LogEntry", ["number": 200])
      let all = try numbers(request, batchSize: 3, isMutating: true, in: child)
      #expect(all == (ascending == false ? [200] + expected : expected + [200]))
      withExtendedLifetime(own) {}
    }
    // New ones get their identifiers before their turn.
    let seen = try numbers(try request(ascending: true), batchSize: 2, isMutating: true) { _, number in
      if number == 1 { try context.save() }
    }
    #expect(seen == [0, 1, 2, 3, 5, 6, 7, 8, 9, 100])
    #expect(!new.objectID.isTemporaryID)
  }

  @Test func classesAndWrongUse() throws {
    Aircraft(context: context).tailNumber = "N1"
    try context.save()
    let aircraft = FetchRequest<Aircraft>(entityName: "Aircraft")
    var tails: [String?] = []
    try context.enumerate(aircraft) { tails.append($0.tailNumber) }
    #expect(tails == ["N1"])
    let wrong = FetchRequest<Aircraft>(entityName: "LogEntry")
    try context.make("LogEntry", ["number": 1])
    try context.save()
    #expect(cambiumError { try context.enumerate(wrong) { _ in } }?.code == .invalidArgument)
    for size in [0, -1, Int.min] {
      #expect(cambiumError { try context.enumerate(aircraft, batchSize: size) { _ in } }?.code == .invalidArgument)
    }
    let identifiers = FetchRequest<ManagedObject>(entityName: "Aircraft")
    identifiers.resultType = .managedObjectID
    #expect(cambiumError { try context.enumerate(identifiers) { _ in } }?.code == .invalidArgument)
    #expect(
      cambiumError { try context.enumerate(FetchRequest<ManagedObject>(entityName: "None")) { _ in } }?.code
        == .invalidArgument)
    // Not as faults, if they are not wanted so.
    aircraft.returnsObjectsAsFaults = false
    context.reset()
    try context.enumerate(aircraft) { #expect(!$0.isFault) }
  }

  /// A hierarchy whose rows lie together, in an order that mixes the classes; with what is prefetched there for a
  /// batch.
  @Test func hierarchiesAndPrefetching() throws {
    let container = try PrefetchingTests.container(towns: 20)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let towns = FetchRequest<PrefetchingTests.Town>()
      for ascending in [nil, true, false] {
        towns.sortDescriptors = ascending.map { [FetchSortDescriptor(key: "name", ascending: $0)] }
        var names: [String] = []
        var cities = 0
        try context.enumerate(towns, batchSize: 3) {
          names.append($0.name)
          if $0 is PrefetchingTests.City { cities += 1 }
        }
        #expect(try names == context.fetch(towns).map { $0.name })
        #expect(names.count == 20 && cities == 6)
      }
      let streets = FetchRequest<PrefetchingTests.Street>()
      streets.relationshipKeyPathsForPrefetching = ["town"]
      var most = 0
      var led = 0
      try context.enumerate(streets, batchSize: 4) { street in
        guard let town = street.town else { return }
        #expect(town.heldRow != nil)
        led += 1
        most = max(most, context.registeredObjects.filter { $0 is PrefetchingTests.Town }.count)
      }
      #expect(led == 54)
      #expect((1...4).contains(most))
      #expect(context.making.prefetched.objects.isEmpty)
    }
  }

  @Test func severalStores() throws {
    let model = try ManagedObjectModel { Entity("LogEntry") { Attribute("number", .integer64) } }
    for name in ["a", "b"] { model.setEntities(Array(model.entities), forConfigurationName: name) }
    let container = try directory.container(model, configurations: ["a", "b"])
    let context = container.newBackgroundContext()
    for number in 0..<30 {
      let object = try context.make("LogEntry", ["number": number])
      if number % 3 == 0 { context.assign(object, to: container.persistentStoreCoordinator.persistentStores[1]) }
    }
    try context.save()
    context.reset()
    let request = try request(ascending: true)
    #expect(try numbers(request, batchSize: 4, in: context) == Array(0..<30))
    request.affectedStores = [container.persistentStoreCoordinator.persistentStores[1]]
    #expect(try numbers(request, batchSize: 4, in: context) == (0..<10).map { $0 * 3 })
    // A store that is removed meanwhile serves the request to its end.
    let coordinator = container.persistentStoreCoordinator
    for left in [2, 1] {
      request.affectedStores = coordinator.persistentStores
      let store = try #require(request.affectedStores?.last)
      #expect(request.affectedStores?.count == left)
      let isRemoved = DispatchSemaphore(value: 0)
      let found = try numbers(request, batchSize: 4, in: context) { _, number in
        if number != 13 { return }
        Thread.detachNewThread {
          do { try coordinator.remove(store) } catch { Issue.record(error) }
          isRemoved.signal()
        }
        while coordinator.persistentStores.count == left { sched_yield() }
      }
      #expect(found == (0..<30).filter { left == 2 || $0 % 3 != 0 })
      isRemoved.wait()
      #expect(store.uses.isClosed)
    }
  }
}
