import Cambium
import CambiumTesting
import Foundation
import Testing

/// Two versions of an application that work at the same time on data that their devices synchronise: the three ways to
/// change the model, and what goes wrong in each.
@Suite struct SynchronisedVersionsTests {
  private let cloud = SharedRecords()

  /// A model of trips; every version has a field more or less.
  private static func model(
    _ fields: [(String, AttributeType)] = [], hotels: Bool = false
  ) throws -> ManagedObjectModel {
    let trip = EntityDescription("Trip")
    let id = AttributeDescription("id", .uuid)
    id.preservesValueInHistoryOnDeletion = true
    trip.properties = [id, AttributeDescription("name", .string)] + fields.map { AttributeDescription($0.0, $0.1) }
    guard hotels else { return ManagedObjectModel(entities: [trip]) }
    let hotel = EntityDescription("Hotel")
    let hotelID = AttributeDescription("id", .uuid)
    hotelID.preservesValueInHistoryOnDeletion = true
    hotel.properties = [hotelID, AttributeDescription("city", .string)]
    let stay = RelationshipDescription("hotel", toMany: false, destination: "Hotel", inverse: "trips")
    let guests = RelationshipDescription("trips", toMany: true, destination: "Trip", inverse: "hotel")
    trip.properties.append(stay)
    hotel.properties.append(guests)
    return ManagedObjectModel(entities: [trip, hotel])
  }

  @discardableResult
  private func trip(_ device: Device, _ values: [String: Any?]) throws -> UUID {
    let id = UUID()
    try device.context.make("Trip", values.merging(["id": id]) { $1 })
    try device.context.save()
    return id
  }

  private func set(_ device: Device, _ id: UUID, _ field: String, _ value: Any?) throws {
    try #require(try device.object("Trip", id)).set(value, forKey: field)
    try device.context.save()
  }

  private func value(_ device: Device, _ id: UUID, _ field: String) throws -> String? {
    try #require(try device.object("Trip", id), "\(device.name) has no such trip").value(forKey: field) as? String
  }

  private func exchange(_ devices: Device...) throws {
    for device in devices { try device.send(to: cloud) }
    for device in devices { try device.take(from: cloud) }
  }

  // MARK: Fields added step by step

  @Test func aFieldIsAdded() throws {
    let v1 = try Self.model()
    let v2 = try Self.model([("note", .string)], hotels: true)
    let directory = try TemporaryDirectory()
    let production = directory.url.appendingPathComponent("Production.xcdatamodel")
    try SchemaPromotion(of: v1, to: production).promote()
    #expect(try SchemaPromotion(of: v2, to: production).additions == ["Trip.note", "Trip.hotel", "Hotel"])

    let (old, new) = (try Device("old", v1), try Device("new", v2))
    let rome = try trip(new, ["name": "Rome", "note": "by train"])
    let oslo = try trip(old, ["name": "Oslo"])
    try exchange(old, new)
    // The old version sees every record, and not every field. The new one finds records without its field.
    #expect(try value(old, rome, "name") == "Rome")
    #expect(try value(new, oslo, "name") == "Oslo" && value(new, oslo, "note") == nil)
    // An edit sends the fields that it changed, so that the old version does not erase a field that it does not know.
    try set(old, rome, "name", "Roma")
    try exchange(old, new)
    #expect(try value(new, rome, "name") == "Roma" && value(new, rome, "note") == "by train")
    // Nothing goes round in circles.
    #expect(try old.send(to: cloud) == 0 && new.send(to: cloud) == 0)
  }

  /// The old version has left out what it does not know. Once it is updated, it has to read the records again.
  @Test func anUpdatedDeviceReadsAgain() throws {
    let v2 = try Self.model([("note", .string)], hotels: true)
    let (old, new) = (try Device("old", try Self.model()), try Device("new", v2))
    let rome = try trip(new, ["name": "Rome", "note": "by train"])
    let hotel = try new.context.make("Hotel", ["id": UUID(), "city": "Rome"])
    try new.context.save()
    try #require(try new.object("Trip", rome)).set(hotel, forKey: "hotel")
    try new.context.save()
    try exchange(old, new)
    try old.update(to: try Self.model([("note", .string)], hotels: true))
    try old.take(from: cloud)
    #expect(try value(old, rome, "note") == nil)
    #expect(try old.context.all("Hotel").isEmpty)
    try old.take(from: cloud, again: true)
    #expect(try value(old, rome, "note") == "by train")
    #expect(try old.object("Trip", rome)?.value(forKey: "hotel") is ManagedObject)
    // The token of the history is valid after the migration, and what was read again is not sent.
    #expect(try old.send(to: cloud) == 0)
    let lima = try trip(old, ["name": "Lima", "note": "by ship"])
    try exchange(old, new)
    #expect(try value(new, lima, "note") == "by ship")
  }

  /// A version that uses a new field in the place of an old one has to go on writing the old one.
  @Test func theNewVersionForgetsTheOldField() throws {
    let (old, new) = (try Device("old", try Self.model()), try Device("new", try Self.model([("title", .string)])))
    let forgotten = try trip(new, ["title": "Rome"])
    let kept = try trip(new, ["title": "Oslo", "name": "Oslo"])
    try exchange(old, new)
    #expect(try value(old, forgotten, "name") == nil)
    #expect(try value(old, kept, "name") == "Oslo")
  }

  /// The old version changes the old field alone. The new version has to notice, and to make the new field of it.
  @Test func theOldVersionDoesNotMaintainTheNewField() throws {
    let (old, new) = (try Device("old", try Self.model()), try Device("new", try Self.model([("title", .string)])))
    let id = try trip(new, ["title": "Rome", "name": "Rome"])
    try exchange(old, new)
    let before = try new.container.persistentStoreCoordinator.currentPersistentHistoryToken()
    try set(old, id, "name", "Roma")
    try exchange(old, new)
    #expect(try value(new, id, "name") == "Roma" && value(new, id, "title") == "Rome")
    // What came in tells which of the two fields is newer.
    for transaction in try new.context.execute(PersistentHistoryChangeRequest.fetchHistory(after: before)).transactions
    where transaction.author == Device.author {
      for change in transaction.changes ?? [] {
        guard let names = change.updatedProperties, names.contains("name"), !names.contains("title") else { continue }
        let object = try new.context.existingObject(with: change.changedObjectID)
        try object.set(object.value(forKey: "name"), forKey: "title")
      }
    }
    try new.context.save()
    #expect(try value(new, id, "title") == "Roma")
    try exchange(old, new)
    #expect(try value(old, id, "name") == "Roma")
  }

  // MARK: A version attribute, and a filter

  /// The names of the trips that a version of the application shows.
  private func shown(_ device: Device, upTo version: Int?) throws -> [String] {
    let trips = try version.map { try device.context.all("Trip", "version <= %d", [$0]) } ?? device.context.all("Trip")
    return trips.compactMap { $0.value(forKey: "name") as? String }.sorted()
  }

  private static func versioned(_ fields: [(String, AttributeType)] = []) throws -> ManagedObjectModel {
    let model = try Self.model(fields)
    let version = AttributeDescription("version", .integer16)
    version.defaultValue = 1
    model.entitiesByName["Trip"]?.properties.append(version)
    return model
  }

  @Test func newerRecordsAreHidden() throws {
    let (old, new) = (
      try Device("old", try Self.versioned()), try Device("new", try Self.versioned([("stages", .string)]))
    )
    try trip(old, ["name": "Oslo"])
    let rome = try trip(new, ["name": "Rome", "stages": "Milan, Rome", "version": 2])
    try exchange(old, new)
    #expect(try shown(old, upTo: 1) == ["Oslo"])
    #expect(try shown(new, upTo: 2) == ["Oslo", "Rome"])
    // The record is in the old version's store, and appears once the application is updated and has read it again.
    #expect(try old.object("Trip", rome) != nil)
    try old.update(to: try Self.versioned([("stages", .string)]))
    try old.take(from: cloud, again: true)
    #expect(try shown(old, upTo: 2) == ["Oslo", "Rome"])
    #expect(try value(old, rome, "stages") == "Milan, Rome")
  }

  /// A trip that the new version changes into its own form is gone from devices with the old one.
  @Test func aRecordThatIsMadeNewerDisappears() throws {
    let (old, new) = (
      try Device("old", try Self.versioned()), try Device("new", try Self.versioned([("stages", .string)]))
    )
    let oslo = try trip(old, ["name": "Oslo"])
    try exchange(old, new)
    try #require(try new.object("Trip", oslo)).set("Bergen, Oslo", forKey: "stages")
    try set(new, oslo, "version", 2)
    try exchange(old, new)
    #expect(try shown(old, upTo: 1) == [])
  }

  /// The filter has to be in the first version that is published. A version without it shows what it does not
  /// understand.
  @Test func aVersionWithoutTheFilterShowsEverything() throws {
    let (first, new) = (try Device("first", try Self.model()), try Device("new", try Self.versioned()))
    try trip(new, ["name": "Rome", "version": 2])
    try exchange(first, new)
    #expect(try shown(first, upTo: nil) == ["Rome"])
  }

  // MARK: A new store

  /// The new version copies everything into a store of its own, which uses a database of its own.
  @Test func aNewStoreIsUploadedAsAWhole() throws {
    let old = try Device("old", try Self.model())
    var ids: [UUID] = []
    for number in 0..<50 { ids.append(try trip(old, ["name": "Trip \(number)"])) }
    try exchange(old)

    // The name has become a number, which no addition is.
    let model = try Self.model()
    model.entitiesByName["Trip"]?.attributesByName["name"]?.attributeType = .integer64
    let directory = try TemporaryDirectory()
    let production = directory.url.appendingPathComponent("Production.xcdatamodel")
    try SchemaPromotion(of: try Self.model(), to: production).promote()
    #expect(try !SchemaPromotion(of: model, to: production).isAllowed)
    let next = directory.url.appendingPathComponent("Production 2.xcdatamodel")
    #expect(try SchemaPromotion(of: model, to: next).isAllowed)

    let shared = SharedRecords()
    let (first, second) = (try Device("first", model), try Device("second", model))
    func copy(_ from: Device, to device: Device) throws {
      for trip in try from.context.all("Trip") {
        let id = try #require(trip.value(forKey: "id") as? UUID)
        // Another device may have copied it, and has sent it by now.
        if try device.object("Trip", id) != nil { continue }
        let number = (trip.value(forKey: "name") as? String)?.split(separator: " ").last.flatMap { Int($0) }
        try device.context.make("Trip", ["id": id, "name": number])
      }
      try device.context.save()
    }
    try copy(old, to: first)
    #expect(try first.send(to: shared) == 50)
    try second.take(from: shared)
    // Records keep their identifiers, so a second device that copies adds nothing.
    try copy(old, to: second)
    #expect(try second.send(to: shared) == 0)
    #expect(try second.context.all("Trip").count == 50)

    // A device with the old version does not see the new database, nor the other way round.
    let late = try trip(old, ["name": "Trip 50"])
    try exchange(old)
    try second.take(from: shared)
    #expect(try second.object("Trip", late) == nil)
    // So the new version goes on looking into the old database for as long as old versions are in use.
    try copy(old, to: first)
    #expect(try first.send(to: shared) == 1)
    try second.take(from: shared)
    #expect(try second.object("Trip", late)?.value(forKey: "name") as? Int == 50)
  }
}
