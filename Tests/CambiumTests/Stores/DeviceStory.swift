import CambiumKernel
import Foundation

@testable import Cambium

/// What an application does to a store, commit by commit, on whatever device: everything by which contexts write. Each
/// step makes one commit; what the store holds is one text, so that a store that was opened again is at one of the
/// steps, or wrong.
struct DeviceStory {
  /// What makes one commit.
  struct Step: Sendable {
    /// What a context is told before; nothing, where the commit says all.
    var change: @Sendable (ManagedObjectContext) throws -> Void = { _ in }
    var commit: @Sendable (ManagedObjectContext) throws -> Void = { try $0.save() }
    /// Whether it is a save, whose changes the context keeps if it fails.
    var isSave: Bool

    /// Changes that are saved.
    static func saving(_ change: @escaping @Sendable (ManagedObjectContext) throws -> Void) -> Step {
      Step(change: change, isSave: true)
    }

    /// A request that writes by itself.
    static func executing(_ commit: @escaping @Sendable (ManagedObjectContext) throws -> Void) -> Step {
      Step(commit: commit, isSave: false)
    }

    func run(_ context: ManagedObjectContext) throws {
      try change(context)
      try commit(context)
    }
  }

  static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Hangar") {
        Attribute("name", .string)
        Attribute("size", .integer64, derived: "aircraft.@count")
        ToMany("aircraft", "Aircraft", inverse: "hangar", deleteRule: .cascade)
        Unique("name")
      }
      Entity("Aircraft") {
        Attribute("tailNumber", .string)
        Attribute("hours", .double)
        Attribute("photo", .binary)
        Attribute("colours") {
          Attribute("primary", .string)
          Attribute("secondary", .string)
        }
        ToOne("hangar", "Hangar", inverse: "aircraft")
        ToMany("crew", "Person", inverse: "flies", ordered: true)
        Unique("tailNumber")
        Index("byPrimary", "colours.primary")
      }
      Entity("Person") {
        Attribute("name", .string)
        ToMany("flies", "Aircraft", inverse: "crew")
      }
    }
  }

  /// Opens what is on the device, or makes it if nothing is.
  static func open(_ device: any StorageDevice) throws -> PersistentContainer {
    let container = PersistentContainer(name: "story", managedObjectModel: try model())
    let description = PersistentStoreDescription(type: .inMemory)
    description.device = device
    description.tracksHistory = true
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    return container
  }

  /// A context for the story.
  static func context(_ container: PersistentContainer) -> ManagedObjectContext {
    let context = container.newBackgroundContext()
    context.mergePolicy = .mergeByPropertyObjectTrump
    return context
  }

  private static func one(_ context: ManagedObjectContext, _ entity: String, _ key: String, _ value: String) throws
    -> ManagedObject
  {
    let found = try context.all(entity, "\(key) == %@", [value])
    guard found.count == 1 else { throw CambiumError(.invalidArgument, "\(found.count) are called \(value)") }
    return found[0]
  }

  static let steps: [Step] = [
    .saving { context in
      for name in ["north", "south", "west"] { try context.make("Hangar", ["name": name]) }
      let people = try ["Ada", "Ben", "Cy"].map { try context.make("Person", ["name": $0]) }
      for n in 0..<9 {
        let aircraft = try context.make(
          "Aircraft",
          [
            "tailNumber": "N\(n)", "hours": Double(n), "photo": Data(repeating: UInt8(n), count: n * 900),
            "colours": ["primary": ["red", "blue"][n % 2], "secondary": nil] as [String: String?],
            "hangar": try one(context, "Hangar", "name", ["north", "south"][n % 2]),
          ])
        try aircraft.set(n % 2 == 0 ? people : people.reversed(), forKey: "crew")
      }
    },
    .saving { context in
      let west = try one(context, "Hangar", "name", "west")
      for (n, aircraft) in try context.all("Aircraft", sort: [FetchSortDescriptor(key: "tailNumber")]).enumerated() {
        try aircraft.set(Double(n) * 10, forKey: "hours")
        if n % 3 == 0 { try aircraft.set(west, forKey: "hangar") }
        if n == 4 { try aircraft.set(Data(repeating: 7, count: 60_000), forKey: "photo") }
      }
    },
    // Through a child.
    .saving { context in
      let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: context)
      child.parent = context
      try child.performAndWait {
        let made = try child.make("Aircraft", ["tailNumber": "N100", "hours": 1.0])
        try made.set(one(child, "Hangar", "name", "south"), forKey: "hangar")
        try made.set([one(child, "Person", "name", "Cy")], forKey: "crew")
        child.delete(try one(child, "Person", "name", "Ben"))
        try child.save()
      }
    },
    // What is undone is not written.
    .saving { context in
      let aircraft = try one(context, "Aircraft", "tailNumber", "N8")
      try aircraft.set(["primary": "green", "secondary": "white"], forKey: "colours")
      context.delete(try one(context, "Hangar", "name", "north"))
      context.rollback()
      try one(context, "Aircraft", "tailNumber", "N8").set(
        ["primary": "black", "secondary": "white"] as [String: String?], forKey: "colours")
    },
    .executing { context in
      let rows = (200..<230).map {
        ["tailNumber": "N\($0)", "hours": 0.5, "photo": Data(repeating: 1, count: 700)] as [String: Any]
      }
      try context.execute(BatchInsertRequest(entityName: "Aircraft", objects: rows))
    },
    .executing { context in
      var request = BatchUpdateRequest(entityName: "Aircraft")
      request.predicate = try FetchPredicate(format: "hours == 0.5")
      request.propertiesToUpdate = ["hours": 2.5]
      try context.execute(request)
    },
    // What has a name already takes the place of what had it.
    .saving { context in
      let made = try context.make("Aircraft", ["tailNumber": "N201", "hours": 77.0])
      try made.set(one(context, "Hangar", "name", "south"), forKey: "hangar")
    },
    .saving { context in
      context.delete(try one(context, "Hangar", "name", "south"))
    },
    .executing { context in
      let request = FetchRequest<ManagedObject>(entityName: "Aircraft")
      request.predicate = try FetchPredicate(format: "hours == 2.5")
      try context.execute(BatchDeleteRequest(fetchRequest: request))
    },
    .saving { context in
      let people = try context.all("Person", sort: [FetchSortDescriptor(key: "name")])
      for aircraft in try context.all("Aircraft", "hangar.name == 'west'") {
        try aircraft.set([people[1], try context.make("Person", ["name": "Di"])], forKey: "crew")
      }
      let north = try one(context, "Hangar", "name", "north")
      let n4 = try one(context, "Aircraft", "tailNumber", "N4")
      try n4.remove(people[0], fromRelationship: "crew")
      try north.set([n4, try one(context, "Aircraft", "tailNumber", "N3")] as Set, forKey: "aircraft")
    },
  ]

  /// All that is in the store, and of how many commits its history tells. A context of its own reads it.
  static func content(_ container: PersistentContainer) throws -> String {
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      var lines: [String] = []
      for hangar in try context.all("Hangar") {
        let aircraft = (hangar.value(forKey: "aircraft") as? Set<ManagedObject> ?? []).compactMap {
          $0.value(forKey: "tailNumber") as? String
        }
        lines.append(
          "hangar \(text(hangar, "name")): \(aircraft.sorted()), size \(text(hangar, "size"))")
      }
      for aircraft in try context.all("Aircraft") {
        let colours = aircraft.value(forKey: "colours") as? [String: Any] ?? [:]
        let crew = aircraft.value(forKey: "crew") as? [ManagedObject] ?? []
        let photo = aircraft.value(forKey: "photo") as? Data
        lines.append(
          "aircraft \(text(aircraft, "tailNumber")): \(text(aircraft, "hours")), \(colours["primary"] ?? "-"), "
            + "\(colours["secondary"] ?? "-"), photo \(photo?.count ?? -1) of \(photo?.last ?? 0), "
            + "in \((aircraft.value(forKey: "hangar") as? ManagedObject).map { text($0, "name") } ?? "-"), "
            + "crew \(crew.map { text($0, "name") })")
      }
      for person in try context.all("Person") {
        let flies = (person.value(forKey: "flies") as? Set<ManagedObject> ?? []).map { text($0, "tailNumber") }
        lines.append("person \(text(person, "name")): \(flies.sorted())")
      }
      let history = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: nil)).transactions
      return (lines.sorted() + ["history of \(history.count)"]).joined(separator: "\n")
    }
  }

  private static func text(_ object: ManagedObject, _ key: String) -> String {
    object.value(forKey: key).map { "\($0)" } ?? "-"
  }
}
