import CambiumCoreData
// Here, too, the names that Foundation also has are Cambium's.
import Foundation
import Synchronization
import Testing

/// What Core Data code uses beside what the seeds do.
@Suite struct NamesTests {
  private func context(_ folder: Folder, _ model: NSManagedObjectModel? = nil) throws -> NSManagedObjectContext {
    let container = try FlightLog.container(folder.file("store.sqlite"), try model ?? FlightLog.model())
    return container.newBackgroundContext()
  }

  private func fill(_ context: NSManagedObjectContext, _ count: Int) throws {
    for number in 0..<count {
      let aircraft = Aircraft(context: context)
      aircraft.tailNumber = "N\(number)"
      aircraft.setValue(NSNumber(value: number), forKey: "numPassengers")
      aircraft.setValue("C\(number % 2)" as NSString, forKey: "aircraftType")
    }
    try context.save()
  }

  @Test func argumentsOfPredicates() throws {
    let folder = try Folder()
    let context = try context(folder)
    try fill(context, 6)
    let first = try #require(try context.fetch(Aircraft.fetchRequest()).first)
    let missing: String? = nil
    for (predicate, count) in [
      (NSPredicate(format: "numPassengers > %d", 3), 2),
      (NSPredicate(format: "numPassengers == %@", NSNumber(value: 4)), 1),
      (NSPredicate(format: "numPassengers IN %@", [1, 2, 9]), 2),
      (NSPredicate(format: "numPassengers IN %@", NSArray(array: [NSNumber(value: 1)])), 1),
      (NSPredicate(format: "tailNumber == %@", NSString(string: "N3")), 1),
      (NSPredicate(format: "%K == %@", "tailNumber", "N3"), 1), (NSPredicate(format: "SELF == %@", first), 1),
      (NSPredicate(format: "SELF IN %@", [first.objectID]), 1), (NSPredicate(format: "photo == %@", missing), 6),
      (NSPredicate(format: "photo == %@", NSNull()), 6), (NSPredicate(format: "TRUEPREDICATE"), 6),
      (NSPredicate(format: "tailNumber IN %@ AND aircraftType == %@", argumentArray: [["N1", "N2"], "C1"]), 1),
      (NSPredicate(format: "numPassengers > 2", argumentArray: nil), 3),
      (NSPredicate(format: "numPassengers > 3", argumentArray: []), 2),
      (
        NSCompoundPredicate(andPredicateWithSubpredicates: [
          NSPredicate(format: "numPassengers > 1"),
          NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "numPassengers > 3")),
        ]), 2
      ),
      (
        NSCompoundPredicate(orPredicateWithSubpredicates: [
          NSPredicate(value: false), NSPredicate(format: "numPassengers == 0"),
        ]), 1
      ),
    ] {
      let request = Aircraft.fetchRequest()
      request.predicate = predicate
      #expect(try context.count(for: request) == count, "\(predicate)")
    }
  }

  @Test func mistakesInPredicatesAreThrownByWhatUsesThem() throws {
    let folder = try Folder()
    let context = try context(folder)
    try fill(context, 2)
    let broken = NSPredicate(format: "tailNumber = = %@", "N1")
    for predicate in [
      broken, NSPredicate(format: "tailNumber == %@"),
      NSCompoundPredicate(orPredicateWithSubpredicates: [.init(value: true), broken]),
      NSCompoundPredicate(notPredicateWithSubpredicate: broken),
    ] {
      let request = Aircraft.fetchRequest()
      request.predicate = predicate
      #expect(throws: CambiumError.self) { _ = try context.fetch(request) }
      #expect(throws: CambiumError.self) { _ = try context.count(for: request) }
      // Also where the objects in memory are looked at.
      _ = Aircraft(context: context)
      #expect(throws: CambiumError.self) { _ = try context.fetch(request) }
      context.rollback()
    }
  }

  @Test func entitiesThatAreNotThere() throws {
    let folder = try Folder()
    let context = try context(folder)
    let object = NSEntityDescription.insertNewObject(forEntityName: "None", into: context)
    object.setValue(1, forKey: "anything")
    #expect(throws: CambiumError.self) { try context.save() }
    #expect(NSEntityDescription.entity(forEntityName: "Aircraft", in: context)?.name == "Aircraft")
  }

  @Test func batchRequests() throws {
    let folder = try Folder()
    let context = try context(folder)
    let insert = NSBatchInsertRequest(
      entityName: "Aircraft",
      objects: [["tailNumber": "A"], ["tailNumber": NSString(string: "B"), "numPassengers": NSNumber(value: 2)]])
    insert.resultType = .count
    #expect(try context.execute(insert).result as? Int == 2)
    var left = 3
    let more = NSBatchInsertRequest(entityName: "Aircraft") { (values: NSMutableDictionary) in
      if left == 0 { return true }
      left -= 1
      values["tailNumber"] = "C\(left)"
      values["numPassengers"] = NSNumber(value: left)
      return false
    }
    try context.execute(more)
    #expect(try context.count(for: Aircraft.fetchRequest()) == 5)
    let update = NSBatchUpdateRequest(entityName: "Aircraft")
    update.predicate = NSPredicate(format: "tailNumber BEGINSWITH 'C'")
    update.propertiesToUpdate = ["aircraftType": "X", "numPassengers": NSExpression(forConstantValue: 9)]
    update.resultType = .updatedObjectIDsResultType
    #expect((try context.execute(update).result as? [NSManagedObjectID])?.count == 3)
    let request = Aircraft.fetchRequest()
    request.predicate = NSPredicate(format: "numPassengers == 9 AND aircraftType == 'X'")
    #expect(try context.count(for: request) == 3)
    let which = NSFetchRequest<NSFetchRequestResult>(entityName: "Aircraft")
    which.predicate = request.predicate
    let delete = NSBatchDeleteRequest(fetchRequest: which)
    delete.resultType = .resultTypeObjectIDs
    let result = try context.execute(delete)
    #expect((result.result as? [NSManagedObjectID])?.count == 3)
    #expect(try context.count(for: Aircraft.fetchRequest()) == 2)
  }

  @Test func mergePoliciesAndErrors() throws {
    let folder = try Folder()
    let model = try FlightLog.model()
    model.entitiesByName["Aircraft"]?.uniquenessConstraints = [["tailNumber"]]
    let context = try context(folder, model)
    #expect(context.mergePolicy == NSErrorMergePolicy)
    try fill(context, 1)
    let twin = Aircraft(context: context)
    twin.tailNumber = "N0"
    twin.aircraftClass = "new"
    do {
      try context.save()
      Issue.record("saved")
    } catch {
      let error = error as NSError
      #expect(error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectConstraintMergeError)
      let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
      #expect(conflicts?.first?.constraint == ["tailNumber"])
      #expect(error.localizedDescription.contains("N0"))
    }
    context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    try context.save()
    let all = try context.fetch(Aircraft.fetchRequest())
    #expect(all.count == 1 && all.first?.aircraftClass == "new" && all.first?.aircraftType == "C0")

    let entity = try #require(NSEntityDescription.entity(forEntityName: "Aircraft", in: context))
    #expect(entity.attributesByName["tailNumber"]?.attributeType == .stringAttributeType)
    #expect(NSAttributeType.UUIDAttributeType.rawValue == 1100 && NSDeleteRule.denyDeleteRule.rawValue == 3)
    #expect(NSManagedObjectMergeError == 133020 && NSValidationMultipleErrorsError == 1560)
  }

  @Test func resultsAndOrders() async throws {
    let folder = try Folder()
    let container = try FlightLog.container(folder.file("store.sqlite"), try FlightLog.model())
    let context = container.newBackgroundContext()
    try fill(context, 4)
    let request = Aircraft.fetchRequest()
    request.sortDescriptors = [
      NSSortDescriptor(key: "aircraftType", ascending: true), NSSortDescriptor(key: "tailNumber", ascending: false),
    ]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "aircraftType", cacheName: "Root")
    try controller.performFetch()
    #expect(controller.sections?.map(\.name) == ["C0", "C1"])
    #expect(controller.fetchedObjects?.map(\.tailNumber) == ["N2", "N0", "N3", "N1"])

    let dictionaries = NSFetchRequest<[String: Any]>(entityName: "Aircraft")
    dictionaries.resultType = .dictionaryResultType
    let sum = NSExpressionDescription()
    sum.name = "total"
    sum.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "numPassengers")])
    dictionaries.propertiesToFetch = ["aircraftType", sum]
    dictionaries.propertiesToGroupBy = ["aircraftType"]
    dictionaries.sortDescriptors = [NSSortDescriptor(key: "aircraftType", ascending: true)]
    #expect(try context.fetch(dictionaries).map { $0["total"] as? Int } == [2, 4])

    let count = await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
      let search = NSAsynchronousFetchRequest(fetchRequest: NSFetchRequest<NSManagedObjectID>(entityName: "Aircraft")) {
        continuation.resume(returning: $0.finalResult?.count ?? -1)
      }
      do { try context.execute(search) } catch { continuation.resume(returning: -2) }
    }
    #expect(count == 4)
  }

  /// Saves, and answers what is posted under some names: asked for anew if nothing is, since the test of another target
  /// ends the posting, which asking for a name begins again.
  private func posted(
    _ names: @autoclosure () -> [Notification.Name],
    after act: (NSManagedObjectContext) throws -> Void = { _ in }, _ note: @escaping @Sendable (Notification) -> Void
  ) throws -> Bool {
    let isTold = Mutex(false)
    for _ in 0..<5 where !isTold.withLock({ $0 }) {
      let folder = try Folder()
      let context = try context(folder)
      let observers = names().map { name in
        NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { notification in
          isTold.withLock { $0 = true }
          note(notification)
        }
      }
      defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
      try fill(context, 3)
      try act(context)
    }
    return isTold.withLock { $0 }
  }

  @Test func notifications() throws {
    let told = Mutex<[String: Int]>([:])
    let isTold = try posted([.NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs]) { notification in
      for (key, value) in notification.userInfo ?? [:] {
        let count = (value as? Set<NSManagedObject>)?.count ?? (value as? Set<NSManagedObjectID>)?.count ?? -1
        told.withLock { $0["\(key)"] = count }
      }
    }
    #expect(isTold && told.withLock { $0 } == [NSInsertedObjectsKey: 3, NSInsertedObjectIDsKey: 3])
  }

  /// What is merged is told by identifiers.
  @Test func mergesArePosted() throws {
    let told = Mutex<Set<NSManagedObjectID>>([])
    let ids = Mutex<Set<NSManagedObjectID>>([])
    let isTold = try posted(
      [.NSManagedObjectContextDidMergeChangesObjectIDs],
      after: { context in
        let objects = try context.fetch(NSFetchRequest<Aircraft>(entityName: "Aircraft"))
        defer { withExtendedLifetime(objects) {} }
        let some = Set(objects.map { $0.objectID })
        ids.withLock { $0 = some }
        context.mergeChanges(fromContextDidSave: ObjectIDNotification(updated: some))
      }
    ) { notification in
      let some = notification.userInfo?[NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID> ?? []
      told.withLock { $0 = some }
    }
    #expect(isTold && told.withLock { $0 } == ids.withLock { $0 } && !told.withLock { $0.isEmpty })
  }

  /// Names as Swift has them since, which have to be posted as well.
  @Test func notificationsByTheirNewNames() throws {
    let told = Mutex<Set<String>>([])
    let isTold = try posted([
      NSManagedObjectContext.didChangeObjectsNotification, NSManagedObjectContext.didSaveObjectsNotification,
    ]) { notification in
      let name = notification.name.rawValue
      told.withLock { _ = $0.insert(name) }
    }
    #expect(isTold && told.withLock { $0.count } == 2)
  }

  /// What is not of a save is not merged.
  @Test func otherNotificationsAreNotMerged() throws {
    let folder = try Folder()
    let context = try context(folder)
    let merged = Mutex(0)
    let observation = context.observe { told in
      if told.kind == .didMergeChanges { merged.withLock { $0 += 1 } }
    }
    context.mergeChanges(fromContextDidSave: Notification(name: NSManagedObjectContext.willSaveObjectsNotification))
    context.mergeChanges(fromContextDidSave: Notification(name: Notification.Name("of another"), userInfo: [:]))
    #expect(merged.withLock { $0 } == 0)
    context.mergeChanges(fromContextDidSave: Notification(name: NSManagedObjectContext.didSaveObjectsNotification))
    #expect(merged.withLock { $0 } == 1)
    withExtendedLifetime(observation) {}
  }

  @Test func storesByTypeAndOptions() throws {
    let folder = try Folder()
    let url = folder.file("store.sqlite")
    do { try fill(try context(folder), 2) }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try FlightLog.model())
    let options: [AnyHashable: Any] = [
      NSReadOnlyPersistentStoreOption: NSNumber(value: 1), NSSQLitePragmasOption: ["journal_mode": "WAL"],
    ]
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
    #expect(store.isReadOnly && store.readOnlyReason == .requested)
    try coordinator.remove(store)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
    #expect(metadata[NSStoreUUIDKey] as? String == store.identifier)

    let container = NSPersistentContainer(name: "memory", managedObjectModel: try FlightLog.model())
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    #expect(container.persistentStoreCoordinator.persistentStores.first?.type == NSInMemoryStoreType)
    #expect(NSPersistentContainer(path: "", managedObjectModel: try FlightLog.model()) == nil)
  }

  @Test func filesOfSQLite() throws {
    let folder = try Folder()
    let url = folder.file("Real.sqlite")
    let bytes = Data("SQLite format 3\0".utf8) + Data(repeating: 0, count: 4080)
    try bytes.write(to: url)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try FlightLog.model())
    do {
      try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
      Issue.record("opened")
    } catch {
      let error = error as NSError
      #expect(error.code == NSPersistentStoreTypeMismatchError)
      #expect(error.localizedDescription.contains("SQLite"))
    }
    #expect(try Data(contentsOf: url) == bytes)
  }
}
