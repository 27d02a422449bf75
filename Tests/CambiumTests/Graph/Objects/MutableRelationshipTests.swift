import Foundation
import Testing

@testable import Cambium

/// Relationships that are changed one by one, and what else Core Data's names say.
@Suite struct MutableRelationshipTests {
  @Test func setsOfARelationship() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    let context = container.newBackgroundContext()
    let entry = try context.make("LogEntry", ["number": 1])
    let pilots = try ["Ada", "Bea", "Cid"].map { try context.make("Pilot", ["name": $0]) }
    let crew = entry.mutableSetValue(forKey: "pilots")
    #expect(crew.isEmpty && !crew.contains(pilots[0]))
    crew.add(pilots[0])
    crew.formUnion(pilots)
    #expect(crew.count == 3 && Set(crew) == Set(pilots) && crew.contains(pilots[2]))
    // The other side knows.
    #expect(pilots[1].mutableSetValue(forKey: "logEntries").objects == [entry])
    crew.formIntersection(pilots.prefix(2))
    crew.remove(pilots[0])
    try context.save()
    let reader = try directory.container().newBackgroundContext()
    let found = try #require(try reader.all("LogEntry").first)
    let names = found.mutableSetValue(forKey: "pilots").compactMap { $0.value(forKey: "name") as? String }
    #expect(names == ["Bea"])
    crew.subtract(pilots)
    #expect(crew.isEmpty)
    crew.formUnion(pilots)
    crew.removeAll()
    #expect(
      crew.count == 0 && pilots.allSatisfy { ($0.value(forKey: "logEntries") as? Set<ManagedObject>)?.isEmpty == true })
  }

  @Test func listsOfARelationship() throws {
    let directory = try TemporaryDirectory()
    let context = try directory.container().newBackgroundContext()
    let pilot = try context.make("Pilot", ["name": "Ada"])
    let titles = try ["a", "b", "c"].map { try context.make("Endorsement", ["title": $0]) }
    let list = pilot.mutableOrderedSetValue(forKey: "endorsements")
    for title in titles { list.insert(title, at: 0) }
    #expect(list.objects == titles.reversed())
    list.insert(titles[2], at: 99)
    list.insert(titles[0], at: 1)
    #expect(list.objects == [titles[1], titles[0], titles[2]])
    try context.save()
    let reader = try directory.container().newBackgroundContext()
    let found = try #require(try reader.all("Pilot").first)
    #expect(
      found.mutableOrderedSetValue(forKey: "endorsements").map { $0.value(forKey: "title") as? String } == [
        "b", "a", "c",
      ])
  }

  @Test func whatCannotBeIsNoted() throws {
    let context = try memoryContainer().newBackgroundContext()
    let entry = try context.make("LogEntry", ["number": 1])
    #expect(entry.mutableSetValue(forKey: "nothing").objects.isEmpty)
    #expect(entry.mutableSetValue(forKey: "number").count == 0 && context.recordedErrors.count == 2)
    try context.save()
    // What would be lost is thrown.
    entry.mutableSetValue(forKey: "pilots").add(entry)
    #expect(cambiumError { try context.save() }?.code == .invalidArgument)
  }

  @Test func switchesThatHaveNoEffect() throws {
    let context = try memoryContainer().newBackgroundContext()
    #expect(context.stalenessInterval == -1)
    context.stalenessInterval = 10
    #expect(context.stalenessInterval == 10)
    #expect(!context.propagatesDeletesAtEndOfEvent)
    context.propagatesDeletesAtEndOfEvent = false
    #expect(context.recordedErrors.isEmpty)
    context.propagatesDeletesAtEndOfEvent = true
    #expect(!context.propagatesDeletesAtEndOfEvent)
    #expect(context.recordedErrors.map { $0.code } == [.unsupported])
    try context.save()
  }
}
