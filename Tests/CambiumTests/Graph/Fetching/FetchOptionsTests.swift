import Cambium
import Foundation
import Testing

/// What requests say about order, rows and faults.
@Suite struct FetchOptionsTests {
  private let directory: TemporaryDirectory
  private let container: PersistentContainer
  private var context: ManagedObjectContext { container.viewContext }

  init() throws {
    directory = try TemporaryDirectory()
    container = try directory.container()
  }

  private func names(_ comparator: FetchSortComparator, ascending: Bool = true) throws -> [String?] {
    let request = FetchRequest<ManagedObject>(entityName: "Airport")
    request.sortDescriptors = [
      FetchSortDescriptor(key: "name", ascending: ascending, comparator: comparator),
      FetchSortDescriptor(key: "faaIdentifier"),
    ]
    let inStore = try context.fetch(request).map { $0.value(forKey: "name") as? String }
    // The same with an unsaved object, which makes the context sort.
    let new = try context.make("Airport", ["faaIdentifier": "ZZ", "name": "Gate 3"])
    let inMemory = try context.fetch(request).map { $0.value(forKey: "name") as? String }
    context.delete(new)
    #expect(inMemory.filter { $0 != "Gate 3" } == inStore)
    // And as dictionaries.
    let values = FetchRequest<[String: Any]>(entityName: "Airport")
    values.propertiesToFetch = ["name", "faaIdentifier"]
    values.sortDescriptors = request.sortDescriptors
    #expect(try context.fetch(values).map { $0["name"] as? String } == inStore)
    return inStore
  }

  @Test func comparators() throws {
    for (place, name) in ["gate 10", "Gate 2", "gate 2b", "Éole", "alpha", "Beta", "gate 002", "gate", nil].enumerated()
    {
      try context.make("Airport", ["faaIdentifier": "A\(place)", "name": name])
    }
    try context.save()
    #expect(
      try names(.binary) == [nil, "Beta", "Gate 2", "alpha", "gate", "gate 002", "gate 10", "gate 2b", "Éole"])
    #expect(
      try names(.caseInsensitive) == [
        nil, "alpha", "Beta", "gate", "gate 002", "gate 10", "Gate 2", "gate 2b", "Éole",
      ])
    #expect(
      try names(.natural) == [nil, "alpha", "Beta", "gate", "Gate 2", "gate 002", "gate 2b", "gate 10", "Éole"])
    #expect(
      try names(.natural, ascending: false) == [
        "Éole", "gate 10", "gate 2b", "Gate 2", "gate 002", "gate", "Beta", "alpha", nil,
      ])
    let byLength = FetchSortComparator(name: "length") { a, b in
      a.count < b.count ? .orderedAscending : a.count > b.count ? .orderedDescending : .orderedSame
    }
    #expect(
      try names(byLength) == [nil, "Éole", "Beta", "gate", "alpha", "Gate 2", "gate 10", "gate 2b", "gate 002"])
    #expect(byLength != .natural && byLength.name == "length")
    let key = FetchSortDescriptor(key: "name").comparing(.natural)
    #expect(key.reversedSortDescriptor == FetchSortDescriptor(key: "name", ascending: false, comparator: .natural))
  }

  @Test func plansAreExplained() throws {
    for n in 0..<200 {
      try context.make("Aircraft", ["tailNumber": "N\(n)", "colorScheme": ["primary": n % 2 == 0 ? "red" : "blue"]])
    }
    try context.save()
    let request = FetchRequest<ManagedObject>(entityName: "Aircraft")
    request.predicate = try FetchPredicate(format: "tailNumber IN {'N7', 'N8'} AND colorScheme.primary == 'red'")
    #expect(
      try context.explain(request, running: true) == """
        2 values of index 'byTailNumber' on (tailNumber), about 2 rows
        of these, those for which colorScheme.primary == "red"
        found 1
        """)
    request.predicate = nil
    request.sortDescriptors = [FetchSortDescriptor(key: "tailNumber", ascending: false)]
    request.fetchLimit = 3
    #expect(
      try context.explain(request)
        == "all of index 'byTailNumber' on (tailNumber), from its end, in the order asked for, about 3 rows")
    #expect(try context.fetch(request).map { $0.value(forKey: "tailNumber") as? String } == ["N99", "N98", "N97"])
    request.predicate = try FetchPredicate(format: "colour == 1")
    #expect(throws: CambiumError.self) { try context.explain(request) }
  }

  @Test func batches() throws {
    for number in 0..<250 { try context.make("LogEntry", ["number": number]) }
    try context.save()
    let other = container.newBackgroundContext()
    let request = FetchRequest<ManagedObject>(entityName: "LogEntry")
    request.predicate = try FetchPredicate(format: "number >= 5")
    request.sortDescriptors = [FetchSortDescriptor(key: "number", ascending: false)]
    request.fetchBatchSize = 20
    let batches = try other.fetchBatches(request)
    #expect(batches.count == 245 && batches.batchCount == 13 && batches.batchSize == 20)
    #expect(other.registeredObjects.isEmpty)
    #expect(try batches[0].value(forKey: "number") as? Int == 249)
    #expect(other.registeredObjects.count == 20)
    #expect(try batches[244].value(forKey: "number") as? Int == 5)
    #expect(other.registeredObjects.count == 25)
    var seen: [Int] = []
    try batches.forEachBatch { seen += $0.compactMap { $0.value(forKey: "number") as? Int } }
    #expect(seen == (5..<250).reversed())
    #expect(other.registeredObjects.count == 65)
    #expect(cambiumError { _ = try batches[245] }?.code == .invalidArgument)
    #expect(cambiumError { _ = try batches[-1] }?.code == .invalidArgument)
    #expect(cambiumError { _ = try batches.batch(13) }?.code == .invalidArgument)

    // A batch shows what is there when it is read.
    let gone = try #require(try context.all("LogEntry", "number == 100").first)
    let changed = try #require(try context.all("LogEntry", "number == 101").first)
    context.delete(gone)
    try changed.set("new", forKey: "remarks")
    try context.save()
    #expect(try batches[249 - 101].value(forKey: "remarks") as? String == "new")
    #expect(try batches[249 - 100].value(forKey: "number") == nil)

    request.predicate = try FetchPredicate(format: "number > 1000")
    #expect(try other.fetchBatches(request).batchCount == 0)
    request.fetchBatchSize = -1
    #expect(cambiumError { _ = try other.fetchBatches(request) }?.code == .invalidArgument)
    request.fetchBatchSize = 0
    #expect(try other.fetchBatches(request).batchSize == 100)
    // Unsaved objects are in them, too.
    request.predicate = nil
    let new = try other.make("LogEntry", ["number": 5000])
    #expect(try other.fetchBatches(request)[0] == new)
  }

  @Test func rowsAndFaults() throws {
    for number in 0..<3 { Aircraft(context: context).tailNumber = "N\(number)" }
    try context.save()
    let other = container.newBackgroundContext()
    let request = FetchRequest<Aircraft>(entityName: "Aircraft")
    request.sortDescriptors = [FetchSortDescriptor(key: "tailNumber")]
    #expect(try other.fetch(request).allSatisfy { $0.isFault })
    request.returnsObjectsAsFaults = false
    #expect(try other.fetch(request).allSatisfy { !$0.isFault })
    request.returnsObjectsAsFaults = true
    request.includesPropertyValues = false
    let objects = try other.fetch(request)
    #expect(objects.allSatisfy { $0.isFault })
    #expect(objects.map { $0.tailNumber } == ["N0", "N1", "N2"])
    request.predicate = try FetchPredicate(format: "tailNumber == 'N1'")
    #expect(try other.fetch(request) == [objects[1]])
    let identifiers = FetchRequest<ManagedObjectID>(entityName: "Aircraft")
    identifiers.sortDescriptors = request.sortDescriptors
    identifiers.fetchOffset = 1
    #expect(try other.fetch(identifiers) == objects.dropFirst().map { $0.objectID })
  }

  @Test func refreshing() throws {
    let mine = try context.make("Aircraft", ["tailNumber": "N1", "aircraftType": "a"])
    try context.save()
    try mine.set("mine", forKey: "tailNumber")
    let other = container.newBackgroundContext()
    let theirs = try #require(try other.all("Aircraft").first)
    try theirs.set("b", forKey: "aircraftType")
    try other.save()
    let request = FetchRequest<ManagedObject>(entityName: "Aircraft")
    #expect(try context.fetch(request) == [mine])
    #expect(mine.value(forKey: "aircraftType") as? String == "a")
    request.shouldRefreshRefetchedObjects = true
    #expect(try context.fetch(request) == [mine])
    #expect(mine.value(forKey: "aircraftType") as? String == "b")
    #expect(mine.value(forKey: "tailNumber") as? String == "mine")
    try context.save()
  }

  @Test func prefetching() throws {
    let request = FetchRequest<ManagedObject>(entityName: "LogEntry")
    request.relationshipKeyPathsForPrefetching = ["aircraft", "origin.departures", "pilots.licence"]
    #expect(try context.fetch(request).isEmpty)
    request.relationshipKeyPathsForPrefetching = ["aircraft.tailNumber"]
    #expect(cambiumError { _ = try context.fetch(request) }?.code == .invalidArgument)
    request.relationshipKeyPathsForPrefetching = ["aircraft.nothing"]
    #expect(cambiumError { _ = try context.fetch(request) }?.code == .unknownKey)
  }

  /// Objects that were not saved when they were listed are the same when they are, and none is of before a reset.
  @Test func batchesOfUnsavedObjects() throws {
    let made = try (0..<3).map { try context.make("LogEntry", ["number": $0]) }
    let request = FetchRequest<ManagedObject>(entityName: "LogEntry")
    request.sortDescriptors = [FetchSortDescriptor(key: "number")]
    request.fetchBatchSize = 2
    let batches = try context.fetchBatches(request)
    #expect(try batches[2] === made[2])
    try context.save()
    #expect(batches.objectIDs == made.map { $0.objectID })
    for place in 0..<3 { #expect(try batches[place] === made[place]) }
    let numbers = { try (0..<3).map { try batches[$0].value(forKey: "number") as? Int } }
    context.reset()
    #expect(try batches[0] !== made[0])
    #expect(try numbers() == [0, 1, 2])
    let (first, third) = (try batches[0], try batches[2])
    context.reset()
    #expect(try batches[0] !== first && batches[2] !== third)
    #expect(try numbers() == [0, 1, 2])
  }
}
