import Cambium
import Foundation
import Testing

/// The stories of the talks on migration, told on stores with objects: every value is compared.
@Suite struct FlightStoryTests {
  // MARK: A string becomes a composite

  /// The colours of an aircraft are one string, such as "blue/white/red".
  static func colours(color: Bool, scheme: Bool, _ version: String) throws -> ManagedObjectModel {
    try ManagedObjectModel(versionIdentifiers: [version]) {
      Composite("ColorScheme") {
        Attribute("primary", .string)
        Attribute("secondary", .string)
        Attribute("tertiary", .string)
      }
      Entity("Aircraft") {
        Attribute("aircraftCategory", .string)
        Attribute("aircraftClass", .string)
        Attribute("aircraftType", .string)
        Attribute("photo", .binary)
        Attribute("tailNumber", .string)
        if color { Attribute("color", .string) }
        if scheme { Attribute("colorScheme", composite: "ColorScheme") }
        ToMany("logEntries", "LogEntry", inverse: "aircraft")
      }
      Entity("LogEntry") {
        Attribute("duration", .double)
        ToOne("aircraft", "Aircraft", inverse: "logEntries")
      }
    }
  }

  struct Killed: Error {}

  /// The loop without a manager: every model that the store has not seen yet, in order, and the application's code
  /// between two of them. `isKilled` says at which of the loop's places it is cut short.
  static func runLoop(_ directory: TemporaryDirectory, isKilled: (Int) -> Bool) throws {
    var place = 0
    func pass() throws {
      place += 1
      if isKilled(place) { throw Killed() }
    }
    // A model with both; the application splits the strings; a model without the string.
    try pass()
    if try !isDone(directory, colours(color: false, scheme: true, "3")) {
      let container = try directory.container(model: colours(color: true, scheme: true, "2"))
      try pass()
      let context = container.viewContext
      // Restartable: what was split before is not looked at again.
      let open = try context.all(
        "Aircraft", "color != nil AND colorScheme == nil", sort: [FetchSortDescriptor(key: "tailNumber")])
      for (n, aircraft) in open.enumerated() {
        let colours = (aircraft.value(forKey: "color") as? String ?? "").split(separator: "/").map { String($0) }
        var scheme: [String: Any] = [:]
        for (name, colour) in zip(["primary", "secondary", "tertiary"], colours) { scheme[name] = colour }
        try aircraft.set(scheme, forKey: "colorScheme")
        // Saved now and then, so that a kill finds some of it done.
        if n % 3 == 2 {
          try context.save()
          try pass()
        }
      }
      try pass()
      try context.save()
      try pass()
    }
    _ = try directory.container(model: colours(color: false, scheme: true, "3"))
    try pass()
  }

  private static func isDone(_ directory: TemporaryDirectory, _ model: ManagedObjectModel) throws -> Bool {
    do {
      _ = try directory.container(model: model) { $0.shouldMigrateStoreAutomatically = false }
      return true
    } catch let error as CambiumError where error.code == .persistentStoreIncompatibleVersionHash { return false }
  }

  @Test func aStringBecomesAComposite() throws {
    var places = 0
    // First without a kill, to count the places; then killed at each.
    for kill in 0... {
      if kill > 0, kill > places { break }
      let directory = try TemporaryDirectory()
      let context = try directory.container(model: Self.colours(color: true, scheme: false, "1")).viewContext
      for n in 0..<10 {
        let aircraft = try context.make(
          "Aircraft",
          [
            "tailNumber": "N\(n)", "aircraftType": "C172", "photo": Data([UInt8(n)]),
            "aircraftCategory": n % 4 == 3 ? nil : "category \(n % 4)", "aircraftClass": "class \(n % 3)",
            "color": n == 4 ? nil : ["blue", "white", "red"].prefix(1 + n % 3).joined(separator: "/"),
          ])
        try context.make("LogEntry", ["duration": Double(n), "aircraft": aircraft])
      }
      try context.save()
      do {
        try Self.runLoop(directory) { place in
          places = max(places, place)
          return kill == place
        }
        #expect(kill == 0)
      } catch is Killed {
        // The next start of the application.
        try Self.runLoop(directory) { _ in false }
      }
      let end = try directory.container(model: Self.colours(color: false, scheme: true, "3"))
      let all = try end.viewContext.all("Aircraft")
      #expect(all.count == 10)
      for aircraft in all {
        let tail = try #require(aircraft.value(forKey: "tailNumber") as? String)
        let n = try #require(Int(tail.dropFirst()))
        let scheme = aircraft.value(forKey: "colorScheme") as? [String: Any]
        #expect(scheme?["primary"] as? String == (n == 4 ? nil : "blue"))
        #expect(scheme?["secondary"] as? String == (n == 4 || n % 3 == 0 ? nil : "white"))
        #expect(scheme?["tertiary"] as? String == (n == 4 || n % 3 != 2 ? nil : "red"))
        #expect(aircraft.value(forKey: "aircraftType") as? String == "C172")
        #expect(aircraft.value(forKey: "aircraftCategory") as? String == (n % 4 == 3 ? nil : "category \(n % 4)"))
        #expect(aircraft.value(forKey: "aircraftClass") as? String == "class \(n % 3)")
        #expect(aircraft.value(forKey: "photo") as? Data == Data([UInt8(n)]))
        let entries = try #require(aircraft.value(forKey: "logEntries") as? Set<ManagedObject>)
        #expect(entries.map { $0.value(forKey: "duration") as? Double } == [Double(n)])
      }
      #expect(try end.viewContext.all("Aircraft", "colorScheme.primary == %@", ["blue"]).count == 9)
      let checked = end.persistentStoreCoordinator.persistentStores.first?.metadata
      #expect(checked?[PersistentStore.modelVersionIdentifiersKey] as? [String] == ["3"])
    }
    #expect(places >= 8)
  }

  // MARK: A log entry of strings becomes a graph

  static func logBook(_ version: Int) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      if version == 1 {
        Entity("LogEntry") {
          Attribute("type", .string)
          Attribute("duration", .double)
          Attribute("origin", .string)
          Attribute("destination", .string)
          Attribute("tailNumber", .string)
        }
      } else {
        Entity("LogEntry") {
          Attribute("type", .string)
          Attribute("duration", .double)
          ToOne("origin", "Airport", inverse: "departures")
          ToOne("destination", "Airport", inverse: "arrivals")
          ToOne("aircraft", "Aircraft", inverse: "logEntries")
          ToMany("pilots", "Pilot", inverse: "logEntries")
        }
        Entity("Aircraft") {
          Attribute("type", .string)
          Attribute("tailNumber", .string)
          Attribute("registrationNumber", .string)
          ToMany("logEntries", "LogEntry", inverse: "aircraft")
        }
        Entity("Airport") {
          Attribute("icaoIdentifier", .string)
          Attribute("faaIdentifier", .string)
          ToMany("departures", "LogEntry", inverse: "origin")
          ToMany("arrivals", "LogEntry", inverse: "destination")
        }
        Entity("Pilot") {
          Attribute("name", .string)
          Attribute("certificateID", .string)
          ToMany("logEntries", "LogEntry", inverse: "pilots")
        }
      }
    }
  }

  /// `origin` and `destination` are strings in one model and relationships in the next: the strings go, what was not
  /// touched stays, and the new graph can be filled at once.
  @Test func aLogEntryOfStringsBecomesAGraph() throws {
    let directory = try TemporaryDirectory()
    let old = try directory.container(model: Self.logBook(1)).viewContext
    for n in 0..<30 {
      try old.make(
        "LogEntry",
        [
          "type": "C\(n % 4)", "duration": Double(n) / 2, "origin": "KSFO", "destination": "KSJC",
          "tailNumber": "N\(n)",
        ])
    }
    try old.save()
    let mapping = try MappingModel.inferred(from: Self.logBook(1), to: Self.logBook(2))
    #expect(
      mapping.entityMappingsByName.keys.sorted() == [
        "IEM_Add_Aircraft", "IEM_Add_Airport", "IEM_Add_Pilot", "IEM_Transform_LogEntry",
      ])
    #expect(cambiumError { _ = try directory.container(model: Self.logBook(2)) }?.code == .migrationMissingSourceModel)
    let earlier = try Self.logBook(1)
    let context = try directory.container(model: Self.logBook(2)) { $0.sourceModels = [earlier] }.viewContext
    let entries = try context.all("LogEntry", sort: [FetchSortDescriptor(key: "duration")])
    #expect(entries.count == 30)
    let field = try context.make("Airport", ["icaoIdentifier": "KSFO"])
    let pilot = try context.make("Pilot", ["name": "Ada"])
    for (n, entry) in entries.enumerated() {
      #expect(entry.value(forKey: "type") as? String == "C\(n % 4)")
      #expect(entry.value(forKey: "duration") as? Double == Double(n) / 2)
      #expect(entry.value(forKey: "origin") == nil && entry.value(forKey: "destination") == nil)
      #expect((entry.value(forKey: "pilots") as? Set<ManagedObject>)?.isEmpty == true)
      try entry.set(field, forKey: "origin")
      try entry.set(Set([pilot]), forKey: "pilots")
    }
    try context.save()
    let again = try directory.container(model: Self.logBook(2)).viewContext
    #expect(try again.all("LogEntry", "origin.icaoIdentifier == 'KSFO' AND destination == nil").count == 30)
    let airport = try #require(try again.all("Airport").first)
    #expect((airport.value(forKey: "departures") as? Set<ManagedObject>)?.count == 30)
    let ada = try #require(try again.all("Pilot").first)
    #expect((ada.value(forKey: "logEntries") as? Set<ManagedObject>)?.count == 30)
  }
}
