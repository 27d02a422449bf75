import Cambium
import Foundation
import Testing

/// Batch updates of single elements of composites, and what contexts are told of batches.
@Suite struct BatchElementTests {
  private let directory: TemporaryDirectory
  private let container: PersistentContainer

  init() throws {
    directory = try TemporaryDirectory()
    container = try directory.container { $0.tracksHistory = true }
    let context = container.viewContext
    for (name, altitude) in [("JFK", 4), ("LGA", 7)] {
      try context.make(
        "Airport",
        [
          "faaIdentifier": name, "name": name,
          "place": ["timeZone": "EST", "location": ["latitude": 40.5, "altitude": altitude]],
        ])
    }
    try context.make("Airport", ["faaIdentifier": "XXX"])
    try context.save()
    context.reset()
  }

  private func places() throws -> [String] {
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      try context.all("Airport", sort: [FetchSortDescriptor(key: "faaIdentifier")]).map { airport in
        ["place.timeZone", "place.location.latitude", "place.location.longitude", "place.location.altitude"]
          .map { airport.value(forKeyPath: $0).map { "\($0)" } ?? "-" }.joined(separator: " ")
      }
    }
  }

  private func update(_ values: [String: Any]) throws -> BatchResult {
    var request = BatchUpdateRequest(entityName: "Airport")
    request.propertiesToUpdate = values
    request.resultType = .objectIDs
    return try container.viewContext.execute(request)
  }

  @Test func elementsAreSetAndOthersStay() throws {
    #expect(try update(["place.location.latitude": 47.5, "place.timeZone": "CET"]).count == 3)
    #expect(try places() == ["CET 47.5 - 4", "CET 47.5 - 7", "CET 47.5 - -"])
    let context = container.newBackgroundContext()
    #expect(try context.performAndWait { try context.all("Airport", "place.location.latitude == 47.5").count } == 3)
    let history = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: nil)).transactions
    #expect(history.last?.changes?.first?.updatedProperties == ["place"])
  }

  @Test func elementsAreComputedOfEachRow() throws {
    _ = try update([
      "place.location.longitude": FetchExpression(forKeyPath: "place.location.altitude"),
      "place.location.altitude": try FetchExpression(format: "place.location.altitude * 10"),
      "name": "field",
    ])
    #expect(try places() == ["EST 40.5 4.0 40", "EST 40.5 7.0 70", "- - - -"])
    _ = try update(["place.location": ["latitude": 1.0]])
    #expect(try places() == ["EST 1.0 - -", "EST 1.0 - -", "- 1.0 - -"])
    _ = try update(["place.location.latitude": Double?.none as Any])
    #expect(try places() == ["EST - - -", "EST - - -", "- - - -"])
  }

  /// Where attributes are derived, a batch goes by way of objects.
  @Test func elementsOfEntitiesWithDerivedAttributes() throws {
    let model = try ManagedObjectModel {
      Entity("Place") {
        Attribute("base") {
          Attribute("latitude", .double)
          Attribute("longitude", .double)
        }
        Attribute("north", .double, derived: "base.latitude")
      }
    }
    let context = try directory.container("derived", model: model).viewContext
    let place = try context.make("Place", ["base": ["latitude": 1.0, "longitude": 2.0]])
    try context.save()
    var request = BatchUpdateRequest(entityName: "Place")
    request.propertiesToUpdate = [
      "base.latitude": 47.5, "base.longitude": try FetchExpression(format: "base.longitude * 2"),
    ]
    #expect(try context.execute(request).count == 1)
    context.refresh(place, mergeChanges: false)
    #expect(place.value(forKeyPath: "base.latitude") as? Double == 47.5)
    #expect(place.value(forKeyPath: "base.longitude") as? Double == 4)
    #expect(place.value(forKey: "north") as? Double == 47.5)
    // What is refused of rows is refused of objects.
    request.propertiesToUpdate = ["base.depth": 1]
    #expect(cambiumError { try context.execute(request) }?.code == .unknownKey)
  }

  @Test func pathsThatLeadToNothingAreRefused() throws {
    func refused(_ values: [String: Any]) -> CambiumError? { cambiumError { _ = try update(values) } }
    let unknown = refused(["place.location.depth": 1])
    #expect(unknown?.code == .unknownKey)
    #expect(unknown?.message.contains("'location' has the elements latitude, longitude, altitude") == true)
    #expect(refused(["place.timeZone.name": 1])?.message.contains("'timeZone' is no composite") == true)
    #expect(refused(["place.": 1])?.code == .unknownKey)
    #expect(refused(["nothing.latitude": 1])?.code == .unknownKey)
    #expect(refused(["name.length": 1])?.code == .invalidArgument)
    #expect(refused(["departures.number": 1])?.message.contains("make a request for the entity") == true)
    #expect(refused(["place": ["timeZone": "CET"], "place.timeZone": "CET"])?.message.contains("at once") == true)
    #expect(refused(["place.location.latitude": "north"])?.code == .invalidArgument)
    #expect(
      refused(["place.location.latitude": try! FetchExpression(format: "name")])?.code == .invalidArgument)
    #expect(try places() == ["EST 40.5 - 4", "EST 40.5 - 7", "- - - -"])
  }

  @Test func contextsAreToldOfABatch() throws {
    let context = container.viewContext
    let airports = try context.all("Airport", sort: [FetchSortDescriptor(key: "faaIdentifier")])
    let updated = try update(["name": "changed"])
    #expect(updated.objectIDNotification() == ObjectIDNotification(updated: airports.map { $0.objectID }))
    #expect(airports[0].value(forKey: "name") as? String == "JFK")
    context.mergeChanges(fromContextDidSave: updated.objectIDNotification())
    #expect(airports[0].value(forKey: "name") as? String == "changed")

    var insertion = BatchInsertRequest(entityName: "Airport", objects: [["faaIdentifier": "NEW"]])
    insertion.resultType = .objectIDs
    let inserted = try context.execute(insertion)
    #expect(inserted.objectIDNotification().insertedObjectIDs.count == 1)
    #expect(inserted.objectIDNotification() == ObjectIDNotification(inserted: Set(inserted.objectIDs)))

    var deletion = BatchDeleteRequest(objectIDs: [airports[2].objectID])
    deletion.resultType = .objectIDs
    let deleted = try context.execute(deletion)
    #expect(deleted.objectIDNotification() == ObjectIDNotification(deleted: [airports[2].objectID]))
    context.mergeChanges(fromContextDidSave: deleted.objectIDNotification())
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Airport")) == 3)
    // Nothing is named that was not asked for.
    deletion.resultType = .count
    #expect(try context.execute(deletion).objectIDNotification() == ObjectIDNotification())
  }

  /// What is computed for a relationship is an object, or nothing.
  @Test func relationshipsAreSetToObjectsAlone() throws {
    let context = container.viewContext
    let airport = try #require(try context.all("Airport", "faaIdentifier == 'JFK'").first)
    try context.make("LogEntry", ["number": 1, "origin": airport])
    try context.save()
    var request = BatchUpdateRequest(entityName: "LogEntry")
    for (format, expected) in [("origin.name", false), ("number + 1", false), ("origin", true), ("destination", true)] {
      request.propertiesToUpdate = ["origin": try FetchExpression(format: format)]
      let error = cambiumError { _ = try context.execute(request) }
      #expect(error?.code == (expected ? nil : .invalidArgument), "\(format): \(String(describing: error))")
      context.reset()
      let origin = try context.all("LogEntry").first?.value(forKey: "origin") as? ManagedObject
      #expect((origin?.objectID == airport.objectID) == (format != "destination"), "\(format)")
    }
  }
}
