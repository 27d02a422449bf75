import Cambium
import Foundation
import Testing

@Suite struct FetchTests {
  private func filled() throws -> PersistentContainer {
    let container = try memoryContainer()
    let context = container.viewContext
    var aircraft: [ManagedObject] = []
    for (tail, color) in [("N1", "white"), ("N2", "blue"), ("D3", "white"), ("D4", nil)] {
      let scheme: [String: Any]? = color.map { ["primary": $0] }
      aircraft.append(try context.make("Aircraft", ["tailNumber": tail, "colorScheme": scheme]))
    }
    for number in 0..<20 {
      try context.make(
        "LogEntry",
        ["number": number, "aircraft": aircraft[number % 4], "remarks": number % 3 == 0 ? nil : "r\(number)"])
    }
    try context.save()
    return container
  }

  private func numbers(_ objects: [ManagedObject]) -> [Int] {
    objects.compactMap { $0.value(forKey: "number") as? Int }
  }

  @Test func predicates() throws {
    let context = try filled().viewContext
    let byNumber = [FetchSortDescriptor(key: "number")]
    #expect(numbers(try context.all("LogEntry", "number IN %@", [[3, 5, 99]], sort: byNumber)) == [3, 5])
    #expect(numbers(try context.all("LogEntry", "number BETWEEN {4, 6}", sort: byNumber)) == [4, 5, 6])
    #expect(try context.all("Aircraft", "tailNumber BEGINSWITH %@", ["N"]).count == 2)
    #expect(try context.all("Aircraft", "tailNumber BEGINSWITH[c] 'n' OR colorScheme == nil").count == 3)
    #expect(try context.all("LogEntry", "remarks == %@", [nil]).count == 7)
    #expect(try context.all("LogEntry", "aircraft.colorScheme.primary == 'white' AND number < 4").count == 2)
    #expect(try context.all("Aircraft", "ANY logEntries.number == 7").count == 1)
    #expect(try context.all("LogEntry", "%K == %@", ["number", 7]).count == 1)
    let white = try context.all("Aircraft", "colorScheme.primary == 'white'")
    #expect(try context.all("LogEntry", "aircraft IN %@", [white]).count == 10)
    #expect(cambiumError { _ = try FetchPredicate(format: "number ==") }?.code == .invalidPredicate)
    #expect(cambiumError { _ = try context.all("LogEntry", "nothing == 1") }?.code == .invalidPredicate)
    #expect(cambiumError { _ = try context.all("LogEntry", "number == 'text'") }?.code == .invalidPredicate)
    struct Strange {}
    #expect(cambiumError { _ = try FetchPredicate(format: "number == %@", Strange()) }?.code == .invalidPredicate)
  }

  @Test func orderLimitOffsetCount() throws {
    let context = try filled().viewContext
    let request = FetchRequest<ManagedObject>(entityName: "LogEntry")
    request.sortDescriptors = [
      FetchSortDescriptor(key: "aircraft.tailNumber"), FetchSortDescriptor(key: "number", ascending: false),
    ]
    request.fetchOffset = 4
    request.fetchLimit = 3
    #expect(numbers(try context.fetch(request)) == [2, 19, 15])
    #expect(try context.count(for: request) == 3)
    request.fetchLimit = 0
    #expect(try context.count(for: request) == 16)
    let ids = FetchRequest<ManagedObjectID>(entityName: "LogEntry")
    #expect(try context.fetch(ids).count == 20)
    let count = FetchRequest<Int>(entityName: "LogEntry")
    count.predicate = try FetchPredicate(format: "number > %d", 9)
    #expect(try context.fetch(count) == [10])
    #expect(try context.fetch(FetchRequest<[String: Any]>(entityName: "LogEntry")).count == 20)
    request.fetchLimit = -1
    #expect(cambiumError { _ = try context.fetch(request) }?.code == .invalidArgument)
  }

  @Test func ordersByUnknownKeysAreRefused() throws {
    let context = try filled().viewContext
    let key = [FetchSortDescriptor(key: "aircraft.weight")]
    func refusal<Result: FetchRequestResult>(_ request: FetchRequest<Result>) -> CambiumError? {
      request.sortDescriptors = key
      request.fetchLimit = 3
      return cambiumError { _ = try context.fetch(request) }
    }
    for hasChanges in [false, true] {
      if hasChanges { try context.make("LogEntry", ["number": 99]) }
      let refused = refusal(FetchRequest<ManagedObject>(entityName: "LogEntry"))
      #expect(refused?.code == .invalidPredicate && refused?.message.contains("weight") == true)
      #expect(refusal(FetchRequest<ManagedObjectID>(entityName: "LogEntry"))?.code == .invalidPredicate)
    }
    let request = FetchRequest<ManagedObject>(entityName: "LogEntry")
    request.sortDescriptors = key
    #expect(cambiumError { _ = try context.explain(request) }?.code == .invalidPredicate)
  }

  @Test func pendingChanges() throws {
    let context = try filled().viewContext
    let byNumber = [FetchSortDescriptor(key: "number")]
    let seven = try #require(try context.all("LogEntry", "number == 7").first)
    let eight = try #require(try context.all("LogEntry", "number == 8").first)
    try seven.set(100, forKey: "number")
    context.delete(eight)
    let new = try context.make("LogEntry", ["number": 9])
    #expect(numbers(try context.all("LogEntry", "number > 5 AND number < 11", sort: byNumber)) == [6, 9, 9, 10])
    let request = FetchRequest<ManagedObject>(entityName: "LogEntry")
    request.sortDescriptors = [FetchSortDescriptor(key: "number", ascending: false)]
    request.fetchLimit = 2
    #expect(numbers(try context.fetch(request)) == [100, 19])
    request.includesPendingChanges = false
    #expect(numbers(try context.fetch(request)) == [19, 18])
    request.fetchLimit = 0
    #expect(try context.count(for: request) == 20)
    request.includesPendingChanges = true
    #expect(try context.count(for: request) == 20)

    // Through relationships, with objects that are not saved on both sides.
    let aircraft = try context.make("Aircraft", ["tailNumber": "X"])
    try new.set(aircraft, forKey: "aircraft")
    #expect(try context.all("LogEntry", "aircraft.tailNumber == 'X'") == [new])
    #expect(try context.all("LogEntry", "aircraft == %@", [aircraft]) == [new])
    #expect(try context.all("Aircraft", "ANY logEntries.number == 100").count == 1)
    try context.save()
    #expect(try context.all("LogEntry", "aircraft == %@", [aircraft]) == [new])
    #expect(numbers(try context.all("LogEntry", "number > 5 AND number < 11", sort: byNumber)) == [6, 9, 9, 10])
  }

  /// One unsaved object makes no fetch load every other, unless it is one that the fetch may see through a
  /// relationship.
  @Test func unsavedObjectsElsewhereLeaveTheStoreToAnswer() throws {
    let container = try filled()
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let condition = "aircraft.tailNumber == 'N2' OR number == 100"
      let order = [FetchSortDescriptor(key: "aircraft.tailNumber"), FetchSortDescriptor(key: "number")]
      let new = try context.make("LogEntry", ["number": 100])
      // A context forgets unchanged objects that nobody holds.
      context.retainsRegisteredObjects = true
      let found = try context.all("LogEntry", condition, sort: order)
      #expect(numbers(found) == [100, 1, 5, 9, 13, 17])
      // Those that were found: the other 15 entries were not looked at here.
      #expect(context.registeredObjects.count { $0.entity.name == "LogEntry" } == found.count)
      // A changed entry is evaluated here, wherever it leads.
      let first = try #require(try context.all("LogEntry", "number == 1").first)
      let other = try #require(try context.all("Aircraft", "tailNumber == 'D4'").first)
      first.setValue(other, forKey: "aircraft")
      #expect(numbers(try context.all("LogEntry", condition, sort: order)) == [100, 5, 9, 13, 17])
      // A changed aircraft is seen by every entry that leads to it.
      other.setValue("N2", forKey: "tailNumber")
      #expect(
        Set(numbers(try context.all("LogEntry", condition, sort: order))) == [100, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19])
      context.delete(other)
      #expect(numbers(try context.all("LogEntry", condition, sort: order)) == [100, 5, 9, 13, 17])
      context.delete(new)
      #expect(numbers(try context.all("LogEntry", condition, sort: order)) == [5, 9, 13, 17])
    }
  }

  @Test func evaluatesInMemory() throws {
    let context = try memoryContainer().viewContext
    let aircraft = try context.make("Aircraft", ["tailNumber": "N1", "colorScheme": ["primary": "white"]])
    #expect(try FetchPredicate(format: "colorScheme.primary == 'white'").evaluate(with: aircraft))
    #expect(try !FetchPredicate(format: "tailNumber == nil").evaluate(with: aircraft))
    let both = FetchPredicate.and([
      try FetchPredicate(format: "engines == 1"), .not(FetchPredicate(value: false)),
    ])
    #expect(try both.evaluate(with: aircraft))
    #expect(try context.all("Aircraft").count == 1)
  }

  @Test func subentities() throws {
    let model = try ManagedObjectModel {
      Entity("Vehicle", abstract: true) { Attribute("name", .string) }
      Entity("Car", parent: "Vehicle") { Attribute("doors", .integer16) }
      Entity("Van", parent: "Car") { Attribute("load", .double) }
    }
    let context = try memoryContainer(model).viewContext
    try context.make("Car", ["name": "a", "doors": 3])
    try context.make("Van", ["name": "b", "doors": 5, "load": 2.5])
    #expect(try context.all("Vehicle").count == 2)
    try context.save()
    #expect(try context.all("Vehicle", "name == 'b'").first?.entity.name == "Van")
    let request = FetchRequest<ManagedObject>(entityName: "Car")
    request.includesSubentities = false
    #expect(try context.fetch(request).count == 1)
    #expect(cambiumError { _ = try context.insertNewObject(forEntityName: "Vehicle") }?.code == .invalidArgument)
  }
}
