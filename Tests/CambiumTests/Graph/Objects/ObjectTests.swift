import Cambium
import Foundation
import Testing

@Suite struct ObjectTests {
  @Test func createReadUpdateDelete() throws {
    let directory = try TemporaryDirectory()
    let certificate = UUID()
    let date = Date(timeIntervalSinceReferenceDate: 123_456.5)
    do {
      let context = try directory.container().viewContext
      let pilot = try context.make("Pilot", ["name": "Ada", "certificateID": certificate])
      #expect(pilot.isInserted && pilot.hasChanges && pilot.objectID.isTemporaryID)
      #expect(context.insertedObjects == [pilot])
      try context.make(
        "LogEntry", ["date": date, "duration": 1.5, "number": Int64.max, "pilots": [pilot]])
      let aircraft = try context.make("Aircraft", ["photo": Data([1, 2, 3])])
      #expect(aircraft.value(forKey: "engines") as? Int == 1)
      try context.save()
      #expect(!context.hasChanges && !pilot.isInserted && !pilot.objectID.isTemporaryID)
      #expect(pilot.objectID.uriRepresentation().absoluteString.hasPrefix("x-cambium://"))
      #expect(pilot.objectID.uriRepresentation().path.hasPrefix("/Pilot/p"))
      #expect(try pilot.get("name", as: String.self) == "Ada")
    }
    do {
      let context = try directory.container().viewContext
      let entry = try #require(try context.all("LogEntry").first)
      #expect(entry.isFault)
      #expect(entry.value(forKey: "date") as? Date == date)
      #expect(!entry.isFault)
      #expect(entry.value(forKey: "number") as? Int64 == nil || Int.bitWidth == 32)
      #expect(entry.value(forKey: "number") as? Int == Int(Int64.max))
      let pilot = try #require((entry.value(forKey: "pilots") as? Set<ManagedObject>)?.first)
      #expect(pilot.value(forKey: "certificateID") as? UUID == certificate)
      #expect((pilot.value(forKey: "logEntries") as? Set<ManagedObject>) == [entry])
      pilot.setValue("Grace", forKey: "name")
      #expect(pilot.isUpdated && context.updatedObjects == [pilot])
      #expect(pilot.changedValues()["name"] as? String == "Grace")
      #expect(pilot.committedValues(forKeys: ["name"])["name"] as? String == "Ada")
      let aircraft = try #require(try context.all("Aircraft").first)
      #expect(aircraft.value(forKey: "photo") as? Data == Data([1, 2, 3]))
      context.delete(aircraft)
      #expect(aircraft.isDeleted && context.deletedObjects == [aircraft])
      try context.save()
    }
    let context = try directory.container().viewContext
    #expect(try context.all("Pilot").first?.value(forKey: "name") as? String == "Grace")
    #expect(try context.all("Aircraft").isEmpty)
    let engine = try #require(context.persistentStoreCoordinator.persistentStores.first)
    #expect(engine.metadata[PersistentStore.storeUUIDKey] as? String == engine.identifier)
  }

  @Test func allAttributeTypes() throws {
    let model = try ManagedObjectModel {
      Entity("All") {
        Attribute("i16", .integer16)
        Attribute("i32", .integer32)
        Attribute("i64", .integer64)
        Attribute("decimal", .decimal)
        Attribute("double", .double)
        Attribute("float", .float)
        Attribute("string", .string)
        Attribute("boolean", .boolean)
        Attribute("date", .date)
        Attribute("binary", .binary)
        Attribute("uuid", .uuid)
        Attribute("uri", .uri)
        Attribute("transient", .undefined, transient: true)
      }
    }
    let directory = try TemporaryDirectory()
    let decimal = try #require(Decimal(string: "-12345678901234567890.123456789"))
    let uuid = UUID()
    do {
      let context = try directory.container(model: model).viewContext
      let object = try context.make(
        "All",
        [
          "i16": Int16.min, "i32": Int32.max, "i64": Int64.min, "decimal": decimal, "double": 0.1,
          "float": Float(0.25), "string": "é", "boolean": true, "date": Date(timeIntervalSinceReferenceDate: -1),
          "binary": Data(), "uuid": uuid, "uri": URL(string: "https://example.org/a?b"), "transient": [1, 2],
        ])
      #expect(object.value(forKey: "transient") as? [Int] == [1, 2])
      #expect(cambiumError { try object.set(40000, forKey: "i16") }?.code == .invalidArgument)
      #expect(cambiumError { try object.set(1.5, forKey: "i32") }?.code == .invalidArgument)
      #expect(cambiumError { try object.set("yes", forKey: "boolean") }?.code == .invalidArgument)
      #expect(cambiumError { try object.set(1, forKey: "nothing") }?.code == .unknownKey)
      try context.save()
    }
    let context = try directory.container(model: model).viewContext
    let object = try #require(try context.all("All", "string == %@", ["e\u{301}"]).first)
    #expect(object.value(forKey: "i16") as? Int == Int(Int16.min))
    #expect(object.value(forKey: "i32") as? Int == Int(Int32.max))
    #expect(try object.get("i64", as: Int64.self) == Int64.min)
    #expect(object.value(forKey: "decimal") as? Decimal == decimal)
    #expect(object.value(forKey: "double") as? Double == 0.1)
    #expect(object.value(forKey: "float") as? Float == 0.25)
    #expect(object.value(forKey: "boolean") as? Bool == true)
    #expect(object.value(forKey: "date") as? Date == Date(timeIntervalSinceReferenceDate: -1))
    #expect(object.value(forKey: "binary") as? Data == Data())
    #expect(object.value(forKey: "uuid") as? UUID == uuid)
    #expect(object.value(forKey: "uri") as? URL == URL(string: "https://example.org/a?b"))
    #expect(object.value(forKey: "transient") == nil)
  }

  @Test func uniquing() throws {
    let container = try memoryContainer()
    let context = container.viewContext
    let id = try {
      let pilot = try context.make("Pilot", ["name": "Ada"])
      try context.save()
      return pilot.objectID
    }()
    let a = context.object(with: id)
    #expect(a === context.object(with: id))
    #expect(try context.all("Pilot").first === a)
    #expect(context.registeredObject(for: id) === a)
    let other = container.newBackgroundContext()
    #expect(other.registeredObject(for: id) == nil)
    try other.performAndWait {
      let b = try other.existingObject(with: id)
      #expect(b !== a && b.objectID == a.objectID)
    }
    let uri = id.uriRepresentation()
    #expect(container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri) == id)
    let missing = try #require(URL(string: uri.absoluteString + "99"))
    let missingID = try #require(container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: missing))
    #expect(context.object(with: missingID).isFault)
    #expect(
      cambiumError { _ = try context.existingObject(with: missingID) }?.code == .managedObjectReferentialIntegrity)
    #expect(
      container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: URL(fileURLWithPath: "/")) == nil)
  }

  @Test func objectsOfLaterCommitsAreFound() throws {
    let container = try memoryContainer()
    let mine = container.viewContext
    // The context reads a commit from before what follows.
    let known = try mine.make("Pilot", ["name": "Ada"])
    try mine.save()
    _ = known.value(forKey: "name")
    let theirs = container.newBackgroundContext()
    let ids = try theirs.performAndWait {
      let objects = try [theirs.make("Pilot", ["name": "Bo"]), theirs.make("Pilot", ["name": "Cy"])]
      try theirs.save()
      return objects.map(\.objectID)
    }
    #expect(try mine.existingObject(with: ids[0]).get("name") as? String == "Bo")
    #expect(mine.object(with: ids[1]).value(forKey: "name") as? String == "Cy")
    #expect(mine.recordedErrors.isEmpty)
  }

  @Test func rollbackResetRefresh() throws {
    let container = try memoryContainer()
    let context = container.viewContext
    let pilot = try context.make("Pilot", ["name": "Ada"])
    try context.save()
    pilot.setValue("X", forKey: "name")
    let extra = try context.make("Pilot", ["name": "Y"])
    let licence = try context.make("Licence", ["number": "1", "pilot": pilot])
    context.delete(pilot)
    #expect(licence.isDeleted)
    context.rollback()
    #expect(!context.hasChanges && !pilot.isDeleted)
    #expect(pilot.value(forKey: "name") as? String == "Ada")
    #expect(pilot.value(forKey: "licence") == nil)
    #expect(extra.managedObjectContext == nil)

    let other = container.newBackgroundContext()
    try other.performAndWait {
      try other.existingObject(with: pilot.objectID).set("Other", forKey: "name")
      try other.save()
    }
    pilot.setValue(UUID(), forKey: "certificateID")
    context.refresh(pilot, mergeChanges: true)
    #expect(pilot.value(forKey: "name") as? String == "Other")
    #expect(pilot.hasChanges)
    context.refresh(pilot, mergeChanges: false)
    #expect(pilot.isFault && !pilot.hasChanges)
    context.reset()
    #expect(pilot.managedObjectContext == nil)
    #expect(context.registeredObjects.isEmpty)
  }

  @Test func hooks() throws {
    final class Counted: ManagedObject {
      var events: [String] = []
      override func awakeFromInsert() {
        events.append("insert")
        setValue("new", forKey: "name")
      }
      override func awakeFromFetch() { events.append("fetch") }
      override func willSave() { events.append("willSave") }
      override func didSave() { events.append("didSave") }
      override func prepareForDeletion() { events.append("delete") }
    }
    let model = try ManagedObjectModel { Entity("Counted", class: Counted.self) { Attribute("name", .string) } }
    let container = try memoryContainer(model)
    let context = container.viewContext
    let object = Counted(context: context)
    #expect(object.value(forKey: "name") as? String == "new")
    try context.save()
    #expect(object.events == ["insert", "willSave", "didSave"])
    let other = container.newBackgroundContext()
    try other.performAndWait {
      let request = FetchRequest<Counted>(entityName: "Counted")
      let found = try #require(try other.fetch(request).first)
      #expect(found.events.isEmpty)
      _ = found.value(forKey: "name")
      _ = found.value(forKey: "name")
      #expect(found.events == ["fetch"])
      other.delete(found)
      try other.save()
      #expect(found.events == ["fetch", "delete", "willSave", "didSave"])
    }
  }

  @Test func operatorsOfKeyPaths() throws {
    let model = try ManagedObjectModel {
      Entity("Tail") {
        Attribute("name", .string)
        ToMany("legs", "Leg", inverse: "tail")
      }
      Entity("Leg") {
        Attribute("minutes", .integer64)
        Attribute("miles", .double)
        Attribute("fee", .decimal)
        Attribute("date", .date)
        Attribute("note", .string)
        ToOne("tail", "Tail", inverse: "legs")
      }
    }
    let context = try memoryContainer(model).newBackgroundContext()
    let tail = try context.make("Tail", ["name": "N1"])
    func value(_ keyPath: String) throws -> Any? { try tail.get(keyPath: keyPath) }
    #expect(try value("legs.@count") as? Int == 0 && value("legs.@sum.minutes") as? Int == 0)
    #expect(try value("legs.@avg.minutes") == nil && value("legs.@min.date") == nil)
    for (n, minutes) in [30, 90, 90].enumerated() {
      try context.make(
        "Leg",
        [
          "minutes": minutes, "miles": Double(n) + 0.5, "fee": Decimal(string: "1.1"),
          "note": n == 0 ? nil : "b\(2 - n)",
          "date": Date(timeIntervalSinceReferenceDate: Double(n)), "tail": tail,
        ])
    }
    #expect(try value("legs.@count") as? Int == 3 && value("legs.@sum.minutes") as? Int == 210)
    #expect(try value("legs.@avg.minutes") as? Double == 70 && value("legs.@max.minutes") as? Int == 90)
    #expect(try value("legs.@sum.miles") as? Double == 4.5 && value("legs.@min.miles") as? Double == 0.5)
    #expect(try value("legs.@sum.fee") as? Decimal == Decimal(string: "3.3"))
    #expect(try value("legs.@avg.fee") as? Decimal == Decimal(string: "1.1"))
    #expect(try value("legs.@max.date") as? Date == Date(timeIntervalSinceReferenceDate: 2))
    #expect(try value("legs.@min.note") as? String == "b0")
    #expect(try (value("legs.@distinctUnionOfObjects.minutes") as? [Any])?.count == 2)
    #expect(try (value("legs.@unionOfObjects.note") as? [Any])?.count == 2)
    let leg = try #require(try context.all("Leg").first)
    #expect(try leg.get(keyPath: "tail.legs.@count") as? Int == 3)
    for wrong in ["legs.@sum", "legs.@count.minutes", "legs.@median.minutes", "legs.@sum.nothing"] {
      #expect(cambiumError { _ = try value(wrong) }?.code == .unknownKey, "\(wrong)")
    }
    for wrong in ["legs.@sum.note", "legs.@avg.date"] {
      #expect(cambiumError { _ = try value(wrong) }?.code == .invalidArgument, "\(wrong)")
    }
    #expect(tail.value(forKeyPath: "legs.@sum.note") == nil && context.recordedErrors.count == 1)
  }

  @Test func longKeyPathsAreRefused() throws {
    let model = try ManagedObjectModel {
      Entity("Node") {
        ToOne("next", "Node", inverse: "previous")
        ToOne("previous", "Node", inverse: "next")
      }
    }
    let context = try memoryContainer(model).viewContext
    let a = try context.make("Node", [:])
    let b = try context.make("Node", ["next": a])
    try a.set(b, forKey: "next")
    #expect(a.value(forKey: "previous") as? ManagedObject === b)
    let path = Array(repeating: "next", count: 100_000).joined(separator: ".")
    #expect(cambiumError { _ = try a.get(keyPath: path) }?.code == .unknownKey)
    #expect(cambiumError { try a.set(nil, forKeyPath: path) }?.code == .unknownKey)
    #expect(a.value(forKeyPath: "next.next.next") as? ManagedObject === b)
    var nested: [String: Any] = [:]
    for _ in 0..<1000 { nested = ["a": nested] }
    #expect(cambiumError { _ = try FetchPredicate(format: "next == %@", nested) }?.code == .invalidPredicate)
    try context.save()
    #expect(try context.all("Node", "next == %@", [a]) == [b])
  }

  @Test func unknownEntitiesAreReported() throws {
    let context = try memoryContainer().viewContext
    final class Nobody: ManagedObject {}
    _ = Nobody(context: context)
    #expect(cambiumError { try context.save() }?.code == .invalidArgument)
    #expect(cambiumError { _ = try context.insertNewObject(forEntityName: "Nobody") }?.code == .invalidArgument)
    #expect(cambiumError { _ = try context.all("Nobody") }?.code == .invalidArgument)
  }
}
