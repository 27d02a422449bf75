import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Saves of so many new objects that their rows are encoded by several threads: all that a save of few does.
@Suite struct LargeSaveTests {
  private static let count = 5_000

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Composite("Place") {
        Attribute("name", .string)
        Attribute("height", .double)
      }
      Entity("Flight") {
        Attribute("number", .integer32)
        Attribute("text", .string)
        Attribute("weight", .double)
        Attribute("price", .decimal)
        Attribute("passing", .string, transient: true)
        Attribute("place", composite: "Place")
        ToOne("aircraft", "Aircraft", inverse: "flights")
        ToOne("next", "Flight")
        ToMany("crew", "Person", inverse: "flights", ordered: true)
        Unique("number")
      }
      Entity("Charter", parent: "Flight") { Attribute("customer", .string) }
      Entity("Aircraft") {
        Attribute("tailNumber", .string)
        ToMany("flights", "Flight", inverse: "aircraft")
      }
      Entity("Person") {
        Attribute("name", .string)
        ToMany("flights", "Flight", inverse: "crew")
      }
    }
  }

  private static func values(_ n: Int) -> [String: Any?] {
    [
      "number": n, "text": n % 7 == 0 ? nil : "flight of some length \(n)", "weight": n % 5 == 0 ? nil : Double(n) / 4,
      "price": n % 3 == 0 ? Decimal(n) : nil,
      "place": n % 4 == 0 ? nil : ["name": "P\(n)", "height": n % 8 == 1 ? nil : Double(n)] as [String: Any?],
    ]
  }

  private static func text(_ value: Any?) -> String {
    guard let values = value as? [String: Any] else { return "\(value ?? "nil")" }
    return values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
  }

  private static func unwrapped(_ value: Any?) -> Any? {
    guard let values = value as? [String: Any?] else { return value }
    return values.compactMapValues { $0 }
  }

  /// New objects of several entities that lead to stored ones and to one another, before and behind them.
  private static func insert(_ context: ManagedObjectContext, stored: [ManagedObject]) throws -> [ManagedObject] {
    var flights: [ManagedObject] = []
    for n in 0..<count {
      let flight = try context.make(n % 11 == 3 ? "Charter" : "Flight", values(n))
      if n % 11 == 3 { try flight.set("C\(n)", forKey: "customer") }
      if n % 2 == 0 { try flight.set("passes", forKey: "passing") }
      flights.append(flight)
      if n % 100 == 7 {
        let aircraft = try context.make("Aircraft", ["tailNumber": "N\(n)"])
        try flight.set(aircraft, forKey: "aircraft")
      } else if n % 3 == 0 {
        try flight.set(stored[n % stored.count], forKey: "aircraft")
      }
      if n % 500 == 0 {
        let crew = try (0..<3).map { try context.make("Person", ["name": "p\(n) \($0)"]) }
        try flight.set(crew, forKey: "crew")
      }
    }
    for n in 0..<count { try flights[n].set(flights[(n * 7919 + 13) % count], forKey: "next") }
    return flights
  }

  @Test(arguments: [false, true]) func allOfItIsThere(tracksHistory: Bool) throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: Self.model()) { $0.tracksHistory = tracksHistory }
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let stored = try (0..<40).map { try context.make("Aircraft", ["tailNumber": "S\($0)"]) }
      try context.save()
      let flights = try Self.insert(context, stored: stored)
      try context.save()
      #expect(flights.allSatisfy { !$0.objectID.isTemporaryID && !$0.hasChanges })
      #expect(flights[0].value(forKey: "passing") as? String == "passes")
    }
    let reader = container.newBackgroundContext()
    try reader.performAndWait {
      let flights = try reader.all("Flight", sort: [FetchSortDescriptor(key: "number")])
      try #require(flights.count == Self.count)
      for (n, flight) in flights.enumerated() {
        #expect(flight.entity.name == (n % 11 == 3 ? "Charter" : "Flight"))
        for (name, value) in Self.values(n) {
          let (found, expected) = (try flight.get(name), Self.unwrapped(value ?? nil))
          #expect(Self.text(found) == Self.text(expected), "\(name)")
        }
        if n % 11 == 3 { #expect(try flight.get("customer") as? String == "C\(n)") }
        #expect(try flight.get("passing") == nil)
        let aircraft = try flight.get("aircraft") as? ManagedObject
        let expected = n % 100 == 7 ? "N\(n)" : n % 3 == 0 ? "S\(n % 40)" : nil
        #expect(try aircraft?.get("tailNumber") as? String == expected)
        #expect(try flight.get("next") as? ManagedObject === flights[(n * 7919 + 13) % Self.count])
        let crew = try flight.objectIDs(forRelationshipNamed: "crew").map {
          try reader.object(with: $0).get("name") as? String
        }
        #expect(crew == (n % 500 == 0 ? (0..<3).map { "p\(n) \($0)" } : []))
      }
      if tracksHistory {
        let transactions = try reader.execute(.fetchHistory(after: nil as PersistentHistoryToken?)).transactions
        let inserted = transactions.last?.changes?.filter { $0.changeType == .insert }.map { $0.changedObjectID }
        #expect(Set(inserted ?? []).isSuperset(of: flights.map { $0.objectID }))
      }
    }
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let report = try store.engine.check()
    #expect(report.isSound, "\(report.problems)")
  }

  /// Values larger than runs of rows are, and than what rows hold themselves, and texts of all kinds, among small ones;
  /// somebody reads meanwhile.
  @Test func largeValuesAndTextsOfAllKindsAreThere() throws {
    let model = try ManagedObjectModel {
      Entity("Blob") {
        Attribute("number", .integer32)
        Attribute("text", .string)
        Attribute("bytes", .binary)
      }
    }
    let texts = [
      "", "\u{0}", "e\u{301}", "\u{E9}", "👨‍👩‍👧‍👦🇺🇳", "שלום עולם", "\u{FEFF}x", String(repeating: "ß", count: 40_000),
      String(repeating: "\u{1F600}", count: 4),
    ]
    func bytes(_ n: Int) -> Data {
      let size = n % 400 == 3 ? 700_000 : n % 40 == 7 ? 70_000 : n % 97
      return Data(repeating: UInt8(n & 0xFF), count: size)
    }
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: model)
    let context = container.newBackgroundContext()
    let isOver = Locked(false)
    let reader = Thread {
      while !isOver.withLock({ $0 }) {
        let other = container.newBackgroundContext()
        let count = other.performAndWait { (try? other.all("Blob").count) ?? -1 }
        if count != 0, count != 3_000 { Issue.record("\(count) of them are seen") }
      }
    }
    reader.start()
    try context.performAndWait {
      for n in 0..<3_000 {
        try context.make("Blob", ["number": n, "text": texts[n % texts.count], "bytes": bytes(n)])
      }
      try context.save()
    }
    isOver.withLock { $0 = true }
    while !reader.isFinished { Thread.sleep(forTimeInterval: 0.001) }
    let found = try container.newBackgroundContext().performAndWait { () -> Int in
      let context = container.newBackgroundContext()
      var good = 0
      for blob in try context.all("Blob") {
        let n = try #require(try blob.get("number") as? Int)
        let text = try #require(try blob.get("text") as? String)
        let isSame = text.utf8.elementsEqual(texts[n % texts.count].utf8)
        if isSame, try blob.get("bytes") as? Data == bytes(n) { good += 1 }
      }
      return good
    }
    #expect(found == 3_000)
    let report = try #require(container.persistentStoreCoordinator.persistentStores.first).engine.check()
    #expect(report.isSound, "\(report.problems)")
  }

  @Test func whatIsAgainstAConstraintIsRefusedAsAWhole() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: Self.model())
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let flights = try Self.insert(context, stored: [try context.make("Aircraft", ["tailNumber": "S"])])
      try flights[4_000].set(17, forKey: "number")
      let error = cambiumError { try context.save() }
      #expect(error?.code == .managedObjectConstraintMerge)
      #expect(flights.allSatisfy { $0.isInserted && $0.objectID.isTemporaryID })
      #expect(try container.newBackgroundContext().all("Flight").isEmpty)
      try flights[4_000].set(4_000, forKey: "number")
      try context.save()
      #expect(try container.newBackgroundContext().all("Flight").count == Self.count)
    }
  }

  @Test func whatOthersHaveDeletedIsAConflict() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: Self.model())
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let stored = try (0..<40).map { try context.make("Aircraft", ["tailNumber": "S\($0)"]) }
      try context.save()
      _ = try Self.insert(context, stored: stored)
      let other = container.newBackgroundContext()
      for n in [12, 3] { other.delete(other.object(with: stored[n].objectID)) }
      try other.save()
      let error = cambiumError { try context.save() }
      #expect(error?.code == .managedObjectMerge)
      let gone = error?.conflicts.map { $0.sourceObject.objectID } ?? []
      #expect(Set(gone) == [stored[3].objectID, stored[12].objectID])
      #expect(gone.count == 2)
    }
  }

  /// An object that is led to, and that nobody saves.
  @Test func whatIsNotSavedCannotBeLedTo() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: Self.model())
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let flights = try Self.insert(context, stored: [try context.make("Aircraft", ["tailNumber": "S"])])
      let lost = try context.make("Flight", ["number": -1])
      try flights[3_210].set(lost, forKey: "next")
      context.delete(lost)
      let error = cambiumError { try context.save() }
      #expect(error?.code == .managedObjectReferentialIntegrity)
      #expect(error?.objectID == flights[3_210].objectID && error?.key == "next")
      try flights[3_210].set(nil, forKey: "next")
      try context.save()
      #expect(try container.newBackgroundContext().all("Flight").count == Self.count)
    }
  }
}
