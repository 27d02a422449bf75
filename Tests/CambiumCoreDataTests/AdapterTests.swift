import CambiumCoreData
import Testing

/// What is spelt otherwise in Core Data's code: of requests, histories, sections, policies and classes.
@Suite struct AdapterTests {
  @ManagedPaths final class Stop: NSManagedObject {
    @Managed var name: String?
    @Managed var minute: Int
    @Managed var trip: Trip?
  }

  final class Trip: NSManagedObject {
    @Managed var stops: NSOrderedSet?
    /// What the initialiser sets.
    private(set) var isSetUp = false

    // Where Core Data's code has `override`.
    required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
      super.init(entity: entity, insertInto: context)
      isSetUp = true
    }
  }

  private func container(_ folder: Folder) throws -> NSPersistentContainer {
    func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      FlightLog.attribute(name, type)
    }
    let (stop, trip) = (NSEntityDescription(), NSEntityDescription())
    (stop.name, stop.managedObjectClassName) = ("Stop", "AdapterTests.Stop")
    (trip.name, trip.managedObjectClassName) = ("Trip", "AdapterTests.Trip")
    let (toTrip, toStops) = (NSRelationshipDescription(), NSRelationshipDescription())
    (toTrip.name, toTrip.destinationEntity, toTrip.maxCount) = ("trip", trip, 1)
    (toStops.name, toStops.destinationEntity, toStops.maxCount) = ("stops", stop, 0)
    toStops.isOrdered = true
    toTrip.inverseRelationship = toStops
    toStops.inverseRelationship = toTrip
    let note = attribute("note", .stringAttributeType)
    note.isTransient = true
    stop.properties = [attribute("name", .stringAttributeType), attribute("minute", .integer32AttributeType)]
    stop.properties += [note, toTrip]
    trip.properties = [toStops]
    let model = NSManagedObjectModel()
    model.entities = [stop, trip]
    let container = NSPersistentContainer(name: "Trips", managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: folder.file("store"))
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    return container
  }

  private func stop(_ name: String, _ minute: Int, in context: NSManagedObjectContext) -> Stop {
    let stop = Stop(context: context)
    (stop.name, stop.minute) = (name, minute)
    return stop
  }

  /// A context that has saved so many stops, and a request for them.
  private func saved(
    _ stops: [(String, Int)], in folder: Folder
  ) throws -> (NSManagedObjectContext, NSFetchRequest<Stop>) {
    let context = try container(folder).newBackgroundContext()
    for (name, minute) in stops { _ = stop(name, minute, in: context) }
    try context.save()
    return (context, NSFetchRequest<Stop>(entityName: "Stop"))
  }

  @Test func ordersByKeyPath() throws {
    let folder = try Folder()
    let (context, request) = try saved([("b", 1), ("a", 2), ("a", 1)], in: folder)
    request.sortDescriptors = [
      NSSortDescriptor(keyPath: \Stop.name, ascending: false), NSSortDescriptor(keyPath: \Stop.minute, ascending: true),
    ]
    #expect(try context.fetch(request).map { "\($0.name ?? "")\($0.minute)" } == ["b1", "a1", "a2"])
  }

  /// Each change of a mutable ordered set; places that there are not change nothing.
  @Test func mutableOrderedSets() throws {
    let folder = try Folder()
    let container = try container(folder)
    let context = container.viewContext
    let trip = Trip(context: context)
    let stops = (0..<5).map { number in
      let stop = Stop(context: context)
      stop.name = "\(number)"
      return stop
    }
    let list = trip.mutableOrderedSetValue(forKey: "stops")
    func names() -> String { list.objects.map { $0.value(forKey: "name") as? String ?? "?" }.joined() }
    list.addObjects(from: stops)
    #expect(names() == "01234" && list.index(of: stops[3]) == 3 && list.index(of: trip) == NSNotFound)
    #expect(list.firstObject as? Stop === stops[0] && list.lastObject as? Stop === stops[4])
    list.moveObjects(at: [0, 1], to: 2)
    #expect(names() == "23014")
    list.moveObjects(at: [3, 9], to: 99)
    #expect(names() == "23041")
    list.exchangeObject(at: 0, withObjectAt: 4)
    list.exchangeObject(at: 0, withObjectAt: 7)
    #expect(names() == "13042")
    list.removeObject(at: 1)
    list.removeObject(at: -1)
    list.removeObjects(at: [0, 3])
    #expect(names() == "04")
    list.replaceObject(at: 1, with: stops[2])
    list.replaceObject(at: 8, with: stops[1])
    list.replaceObject(at: 0, with: "text")
    #expect(names() == "02" && stops[4].trip == nil && stops[2].trip === trip)
    try context.save()
    #expect(context.recordedErrors.isEmpty)
  }

  @Test func orderedSets() throws {
    let folder = try Folder()
    let container = try container(folder)
    let context = container.newBackgroundContext()
    let trip = Trip(context: context)
    #expect(trip.isSetUp)
    let stops = (0..<3).map { stop("\($0)", $0, in: context) }
    trip.stops = NSOrderedSet(array: [stops[2], stops[0]])
    #expect(stops[2].trip === trip && stops[1].trip == nil)
    try context.save()
    let other = container.newBackgroundContext()
    let read = try #require(try other.existingObject(with: trip.objectID) as? Trip)
    #expect(read.isSetUp && read.stops?.count == 2)
    #expect(read.stops?.array.compactMap { ($0 as? Stop)?.name } == ["2", "0"])
    #expect((read.stops?.firstObject as? Stop)?.name == "2")
    trip.stops = nil
    try context.save()
    #expect(trip.stops?.count == 0 && stops[2].trip == nil)
  }

  @Test func sectionsOfResults() throws {
    let folder = try Folder()
    let (context, request) = try saved([("a", 1), ("b", 1), ("c", 2)], in: folder)
    request.sortDescriptors = [
      NSSortDescriptor(key: "minute", ascending: true), NSSortDescriptor(key: "name", ascending: true),
    ]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "minute", cacheName: nil)
    #expect(controller.sections == nil)
    try controller.performFetch()
    var told: [String] = []
    for info in controller.sections ?? [] { told.append("\(info.name): \(info.numberOfObjects)") }
    #expect(told == ["1: 2", "2: 1"])
    let info: NSFetchedResultsSectionInfo = try #require(controller.sections?.first)
    #expect(info.name == "1" && info.indexTitle == "1" && info.numberOfObjects == 2)
    #expect((info.objects as? [Stop])?.map { $0.name } == ["a", "b"])
    let all: [NSFetchedResultsSectionInfo]? = controller.sections
    #expect(all?.map { $0.objects?.count } == [2, 1])
    #expect((controller.sections?[1].objects?.first as? Stop)?.name == "c")
  }

  @Test func historyForOtherContexts() throws {
    let folder = try Folder()
    let container = try container(folder)
    let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
    let (kept, gone) = (stop("a", 1, in: context), stop("b", 2, in: context))
    try context.save()
    #expect(kept.name == "a" && gone.name == "b")
    let token = try #require(container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil))
    try other.performAndWait {
      try other.existingObject(with: kept.objectID).setValue("A", forKey: "name")
      other.delete(try other.existingObject(with: gone.objectID))
      _ = stop("c", 3, in: other)
      try other.save()
    }
    var request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
    let resultType: NSPersistentHistoryResultType = .transactionsAndChanges
    request.resultType = resultType
    let transactions = try context.execute(request).result as? [NSPersistentHistoryTransaction]
    let transaction = try #require(transactions?.first)
    #expect(transactions?.count == 1 && kept.name == "a")
    let userInfo = transaction.objectIDNotification().userInfo
    #expect(
      Set(userInfo?.keys.compactMap { $0 as? String } ?? [])
        == [NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey, NSDeletedObjectIDsKey])
    #expect(userInfo?[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID> == [gone.objectID])
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: transaction.objectIDNotification().userInfo ?? [:], into: [context])
    #expect(kept.name == "A" && gone.isFault)
    #expect(ObjectIDNotification().userInfo?.isEmpty == true)

    // The first of all is passed over.
    var page = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
    let which = try #require(NSPersistentHistoryTransaction.fetchRequest)
    (which.fetchOffset, which.fetchLimit) = (1, 1)
    page.fetchRequest = which
    #expect(page.fetchRequest?.fetchOffset == 1)
    let second = try context.execute(page).result as? [NSPersistentHistoryTransaction]
    #expect(second?.map(\.transactionNumber) == [transaction.transactionNumber])

    // Changes by a request of their own.
    let changes = try #require(NSPersistentHistoryChange.fetchRequest)
    changes.predicate = NSPredicate(format: "changedObjectID == %@", kept.objectID)
    let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(withFetch: changes))
    let found = result.result as? [NSPersistentHistoryChange]
    #expect(found?.map(\.changeType) == [.insert, .update])
    #expect(found?.last?.updatedProperties?.map { $0.name } == ["name"])
    #expect(found?.last?.updatedProperties?.first === kept.entity.attributesByName["name"])
  }

  @Test func policiesOfOnesOwn() throws {
    final class Counting: NSMergePolicy, @unchecked Sendable {
      var names: [String] = []
      override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        for conflict in list { names.append(conflict.objectSnapshot["name"] as? String ?? "") }
        try super.resolve(optimisticLockingConflicts: list)
      }
    }
    let folder = try Folder()
    let container = try container(folder)
    let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
    let kind: NSMergePolicyType = .overwriteMergePolicyType
    let policy = Counting(merge: kind)
    context.mergePolicy = policy
    let object = stop("a", 1, in: context)
    try context.save()
    #expect(object.name == "a")
    try other.performAndWait {
      try other.existingObject(with: object.objectID).setValue("theirs", forKey: "name")
      try other.save()
    }
    object.name = "mine"
    try context.save()
    #expect(policy.names == ["mine"] && object.name == "mine")
  }

  @Test func changesOfObjects() throws {
    let folder = try Folder()
    let context = try container(folder).newBackgroundContext()
    let object = stop("a", 1, in: context)
    try context.save()
    // What is kept in memory alone makes no change of the object.
    object.setValue("x", forKey: "note")
    #expect(object.value(forKey: "note") as? String == "x")
    #expect(!object.hasChanges && !object.hasPersistentChangedValues && !context.hasChanges)
    object.name = nil
    let changed = object.changedValues()
    #expect(Array(changed.keys) == ["name"] && changed["name"] is NSNull)
    #expect(object.hasChanges && object.hasPersistentChangedValues)
  }

  @Test func expressionsOfTheObjectItself() throws {
    let folder = try Folder()
    let context = try container(folder).newBackgroundContext()
    let objects = [stop("a", 1, in: context), stop("b", 2, in: context)]
    try context.save()
    let identifier = NSExpressionDescription()
    identifier.name = "objectID"
    identifier.expression = NSExpression.expressionForEvaluatedObject()
    identifier.expressionResultType = .objectIDAttributeType
    let request = NSFetchRequest<[String: Any]>(entityName: "Stop")
    request.propertiesToFetch = ["name", identifier] as [Any]
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    #expect(try context.fetch(request).map { $0["objectID"] as? NSManagedObjectID } == objects.map { $0.objectID })
    // As Core Data's `NSFetchRequest<NSNumber>` is written here.
    #expect(try context.fetch(NSFetchRequest<Int>(entityName: "Stop")) == [2])
  }
}
