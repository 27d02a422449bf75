import Cambium
import Foundation
import Testing

/// The example of the talk on migration: the flight data of an aircraft are in a file of their own, and the store has
/// its path. They shall be in the store. No mapping can be inferred for that, so it is decomposed, and done by a loop
/// over the models that the store has not seen yet.
struct ExternalDataLoop {
  /// A: `flightData` is a path. A′: `tmpStorage` beside it, for what the file holds. A″: the path is gone, and
  /// `tmpStorage` has its name.
  static func model(_ version: Int) throws -> ManagedObjectModel {
    try ManagedObjectModel(versionIdentifiers: ["\(version)"]) {
      Entity("Aircraft") {
        Attribute("type", .string)
        Attribute("numEngines", .integer16)
        if version < 3 { Attribute("flightData", .string) }
        if version == 2 { Attribute("tmpStorage", .binary) }
        if version == 3 { Attribute("flightData", .binary, renamed: "tmpStorage") }
        ToMany("logEntries", "LogEntry", inverse: "aircraft", deleteRule: .cascade)
      }
      Entity("LogEntry") {
        Attribute("duration", .double)
        ToOne("aircraft", "Aircraft", inverse: "logEntries")
      }
    }
  }

  /// The model that was meant from the start: the last, without the name that its attribute had on the way.
  static func meant() throws -> ManagedObjectModel {
    let result = try model(3)
    result.entitiesByName["Aircraft"]?.attributesByName["flightData"]?.renamingIdentifier = nil
    return result
  }

  /// What the store says of the model that it has.
  var metadata: () throws -> [String: Any]
  /// Opens the store with a model, migrating it if it has another one.
  var open: (ManagedObjectModel) throws -> ManagedObjectContext
  var read: (String) throws -> Data
  var remove: (String) throws -> Void
  var removeAll: () throws -> Void
  /// Told each place at which the process may end.
  var pass: (String) throws -> Void = { _ in }

  /// The loop. It may end anywhere, and starts from what it finds.
  func run() throws {
    let models = try (1...3).map { try Self.model($0) }
    try pass("begun")
    let found = try metadata()
    let current = try #require(
      models.firstIndex { $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: found) })
    // The model that the store has is gone through again: what belongs to it may not have been done.
    for version in current + 1...models.count {
      try pass("before \(version)")
      let context = try open(models[version - 1])
      try pass("opened \(version)")
      if version == 2 { try importFiles(context) }
      // Files that were read by a process which did not come to remove them.
      if version == 3 { try removeAll() }
      try pass("after \(version)")
    }
  }

  /// The application's own code, between two migrations: what was imported before is not looked at again.
  private func importFiles(_ context: ManagedObjectContext) throws {
    let open = try context.all(
      "Aircraft", "flightData != nil AND tmpStorage == nil", sort: [FetchSortDescriptor(key: "type")])
    var paths: [String] = []
    for (n, aircraft) in open.enumerated() {
      let path = try #require(aircraft.value(forKey: "flightData") as? String)
      try aircraft.set(try read(path), forKey: "tmpStorage")
      paths.append(path)
      // Saved now and then, so that some of it may be done when the process ends.
      guard n % 3 == 2 || n == open.count - 1 else { continue }
      try pass("not saved")
      try context.save()
      try pass("saved")
      // What is saved is needed no more.
      for path in paths { try remove(path) }
      paths = []
      try pass("removed")
    }
  }

  // MARK: What is in the store

  static let count = 11

  /// Of some aircraft nothing was recorded, of one an empty file, and of some more than fits a page.
  static func data(_ n: Int) -> Data? {
    if n % 4 == 3 { return nil }
    if n == 2 { return Data() }
    return Data(repeating: UInt8(n), count: n % 4 == 1 ? 9000 : 10 + n)
  }

  static func path(_ n: Int) -> String { "flight-\(n).data" }

  /// What each file holds.
  static var files: [String: Data] {
    var result: [String: Data] = [:]
    for n in 0..<count { if let data = data(n) { result[path(n)] = data } }
    return result
  }

  static func fill(_ context: ManagedObjectContext) throws {
    for n in 0..<count {
      let aircraft = try context.make(
        "Aircraft", ["type": "C\(n)", "numEngines": n % 3, "flightData": data(n).map { _ in path(n) }])
      for entry in 0..<n % 3 {
        try context.make("LogEntry", ["duration": Double(10 * n + entry), "aircraft": aircraft])
      }
    }
    try context.save()
  }

  /// Every value of a store that the loop is done with.
  static func check(_ context: ManagedObjectContext, _ text: String = "") throws {
    let all = try context.all("Aircraft")
    #expect(all.count == count, "\(text)")
    for aircraft in all {
      let type = try #require(aircraft.value(forKey: "type") as? String, "\(text)")
      let n = try #require(Int(type.dropFirst()), "\(text)")
      #expect(aircraft.value(forKey: "numEngines") as? Int == n % 3, "\(text), \(type)")
      #expect(aircraft.value(forKey: "flightData") as? Data == data(n), "\(text), \(type)")
      let entries = try #require(aircraft.value(forKey: "logEntries") as? Set<ManagedObject>, "\(text)")
      let durations = entries.compactMap { $0.value(forKey: "duration") as? Double }.sorted()
      #expect(durations == (0..<n % 3).map { Double(10 * n + $0) }, "\(text), \(type)")
      #expect(entries.allSatisfy { $0.value(forKey: "aircraft") as? ManagedObject === aircraft }, "\(text), \(type)")
    }
    #expect(try context.all("LogEntry").count == (0..<count).reduce(0) { $0 + $1 % 3 }, "\(text)")
  }
}
