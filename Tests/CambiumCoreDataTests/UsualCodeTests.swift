import CambiumCoreData
import Testing

/// What applications written for Core Data have in their first files: it compiles, and does what it does there.
@Suite struct UsualCodeTests {
  /// A class that is named with its module, and not like its entity.
  final class TodoItem: NSManagedObject {
    @Managed var title: String?
    @Managed var rank: Int32
    @Managed var price: NSDecimalNumber?
    @Managed var weight: NSNumber?
    @Managed var list: TodoList?
  }

  final class TodoList: NSManagedObject {
    @Managed var name: String?
    @Managed var items: NSSet?

    class func fetchRequest() -> NSFetchRequest<TodoList> { NSFetchRequest<TodoList>(entityName: "TodoList") }
  }

  private func model() throws -> NSManagedObjectModel {
    func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let result = NSAttributeDescription()
      result.name = name
      result.attributeType = type
      return result
    }
    let item = NSEntityDescription()
    item.name = "Item"
    item.managedObjectClassName = "UsualCodeTests.TodoItem"
    let list = NSEntityDescription()
    list.name = "TodoList"
    list.managedObjectClassName = "TodoList"
    let (toList, toItems) = (NSRelationshipDescription(), NSRelationshipDescription())
    toList.name = "list"
    toList.destinationEntity = list
    toList.maxCount = 1
    toItems.name = "items"
    toItems.destinationEntity = item
    toItems.maxCount = 0
    toList.inverseRelationship = toItems
    toItems.inverseRelationship = toList
    item.properties = [attribute("title", .stringAttributeType), attribute("rank", .integer32AttributeType), toList]
    item.properties += [attribute("price", .decimalAttributeType), attribute("weight", .doubleAttributeType)]
    list.properties = [attribute("name", .stringAttributeType), toItems]
    let model = NSManagedObjectModel()
    model.entities = [item, list]
    return model
  }

  /// As Xcode's template has it, for previews.
  private func container() throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Todo", managedObjectModel: try model())
    container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
    container.loadPersistentStores { _, error in
      if let error { Issue.record(error) }
    }
    return container
  }

  @Test func theNullDeviceIsAStoreInMemory() throws {
    let container = try container()
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    #expect(store.url == nil)
    container.viewContext.performAndWait {
      _ = TodoItem(context: container.viewContext)
      #expect(throws: Never.self) { try container.viewContext.save() }
    }
    try container.loadPersistentStores()
    #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
  }

  @Test func numbersOfFoundationsClasses() throws {
    let container = try container()
    let context = container.viewContext
    let item = TodoItem(context: context)
    #expect(item.price == nil && item.weight == nil)
    item.price = NSDecimalNumber(string: "12.34")
    item.weight = 2.5
    try context.save()
    let read = try #require(try container.newBackgroundContext().existingObject(with: item.objectID) as? TodoItem)
    #expect(read.price == NSDecimalNumber(string: "12.34") && read.weight == 2.5)
    #expect(read.price?.adding(1) == NSDecimalNumber(string: "13.34"))
    item.price = nil
    item.weight = nil
    try context.save()
    #expect(item.price == nil && item.weight == nil)
  }

  @Test func contextsThatAreFilledInLater() throws {
    let container = try container()
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.automaticallyMergesChangesFromParent = true
    context.persistentStoreCoordinator = container.persistentStoreCoordinator
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    #expect(throws: (any Error).self) { try child.fetch(TodoItem.fetchRequest()) }
    child.parent = context
    let item = TodoItem(context: child)
    item.title = "a"
    try child.save()
    #expect(context.hasChanges && context.insertedObjects.count == 1)
    try context.save()
    let id = item.objectID
    let other = container.newBackgroundContext()
    #expect(try other.existingObject(with: id).value(forKey: "title") as? String == "a")
    // Too late, or in a circle.
    child.parent = other
    #expect(child.parent === context && child.recordedErrors.last?.code == .invalidArgument)
    let empty = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    empty.parent = empty
    #expect(empty.parent == nil && empty.recordedErrors.last?.code == .invalidArgument)
    empty.parent = other
    #expect(empty.persistentStoreCoordinator === container.persistentStoreCoordinator)
    empty.parent = nil
    #expect(empty.parent == nil)
    empty.persistentStoreCoordinator = container.persistentStoreCoordinator
    #expect(try empty.count(for: TodoItem.fetchRequest()) == 1)
  }

  @Test func entitiesOfClasses() throws {
    let container = try container()
    let context = container.viewContext
    #expect(TodoItem.entity().name == "Item" && TodoList.entity().name == "TodoList")
    let item = TodoItem(entity: TodoItem.entity(), insertInto: context)
    #expect(item.entity.name! == "Item" && item.objectID.entity.name == "Item")
    #expect(item.objectID.entity.managedObjectModel.entities.count == 2)
    // Off Apple platforms nothing finds a class by its name: it is known from the first time that it is asked for.
    #expect(try context.count(for: NSFetchRequest<TodoItem>(entityName: "Item")) == 1)
    _ = TodoItem(context: context)
    let made = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context) as? TodoItem
    #expect(made != nil)
    try context.save()
    let request: NSFetchRequest<NSFetchRequestResult> = TodoItem.fetchRequest()
    #expect(request.entityName == "Item")
    let typed: NSFetchRequest<TodoList> = TodoList.fetchRequest()
    #expect(try context.fetch(typed).isEmpty)
    let byEntity = NSFetchRequest<TodoItem>()
    byEntity.entity = NSEntityDescription.entity(forEntityName: "Item", in: context)
    #expect(byEntity.entity?.name == "Item" && byEntity.entityName == "Item")
    #expect(try context.fetch(byEntity).count == 3)
    let deletion = NSBatchDeleteRequest(fetchRequest: byEntity)
    deletion.resultType = .resultTypeObjectIDs
    let ids = (try context.execute(deletion) as NSBatchDeleteResult?)?.result as? [NSManagedObjectID]
    #expect(ids?.count == 3)
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: ids ?? []], into: [context])
    #expect(try context.count(for: byEntity) == 0)
    // Of several that end alike, the one that is named exactly, or none.
    let entities = ["First", "Second", "Third"].map { name in
      let entity = NSEntityDescription()
      entity.name = name
      return entity
    }
    entities[0].managedObjectClassName = "A.Same"
    entities[1].managedObjectClassName = "B.Same"
    final class Same: NSManagedObject {}
    let several = NSManagedObjectModel()
    several.entities = entities
    try several.takeIntoUse()
    #expect(Same.entity().name == "Same")
    let exact = NSManagedObjectModel()
    exact.entities = ["First", "Second"].map { name in
      let entity = NSEntityDescription()
      entity.name = name
      entity.managedObjectClassName = name == "First" ? "A.Same" : "Same"
      return entity
    }
    try exact.takeIntoUse()
    #expect(Same.entity().name == "Second")
    // What nobody knows has its own name.
    final class Unknown: NSManagedObject {}
    #expect(Unknown.entity().name == "Unknown")
  }

  @Test func changesFromElsewhereByURI() throws {
    let container = try container()
    let context = container.newBackgroundContext()
    let item = TodoItem(context: context)
    item.title = "a"
    try context.save()
    #expect(item.title == "a")
    let other = container.newBackgroundContext()
    try other.performAndWait {
      try other.existingObject(with: item.objectID).setValue("b", forKey: "title")
      try other.save()
    }
    #expect(item.title == "a")
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSUpdatedObjectsKey: [item.objectID.uriRepresentation()]], into: [context])
    #expect(item.title == "b")
  }

  @Test func optionalsOfCoreData() throws {
    let container = try container()
    let context = container.viewContext
    let item = TodoItem(context: context)
    try context.save()
    let id = context.persistentStoreCoordinator?.managedObjectID(
      forURIRepresentation: item.objectID.uriRepresentation())
    #expect(id == item.objectID)
    if let coordinator = context.persistentStoreCoordinator { #expect(coordinator.persistentStores.count == 1) }
    #expect(context.persistentStoreCoordinator.persistentStores.count == 1)
    let coordinator: NSPersistentStoreCoordinator = context.persistentStoreCoordinator
    #expect(coordinator.persistentStores.count == 1)
    if let name = item.entity.name { #expect(name == "Item") }
    #expect(item.entity.name.count == 4 && "\(item.entity.name ?? "")" == "Item")
  }

  @Test func keysAndValues() throws {
    let context = try container().viewContext
    let item = TodoItem(context: context)
    item.setValuesForKeys(["title": "a", "rank": NSNumber(value: 3), "list": NSNull()])
    #expect(item.title == "a" && item.rank == 3)
    let values = item.dictionaryWithValues(forKeys: ["title", "list"])
    #expect(values["title"] as? String == "a" && values["list"] is NSNull)
  }

  @Test func blocksThatAreScheduled() async throws {
    let container = try container()
    let context = container.newBackgroundContext()
    let count = try await context.perform(schedule: .enqueued) {
      _ = TodoItem(context: context)
      try context.save()
      return try context.count(for: NSFetchRequest<TodoItem>(entityName: "Item"))
    }
    #expect(count == 1)
  }

  @Test func dictionariesOfProperties() throws {
    let context = try container().newBackgroundContext()
    for rank in [1, 1, 2] {
      let item = TodoItem(context: context)
      item.title = "t\(rank)"
      item.rank = Int32(rank)
    }
    try context.save()
    let sum = NSExpressionDescription()
    sum.name = "sum"
    sum.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "rank")])
    let request = NSFetchRequest<[String: Any]>(entityName: "Item")
    let title = "title"
    request.propertiesToFetch = [title, sum] as [Any]
    request.propertiesToGroupBy = [try #require(TodoItem.entity().propertiesByName["title"])] as [Any]
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    let found = try context.fetch(request)
    #expect(found.compactMap { $0["title"] as? String } == ["t1", "t2"])
    #expect(found.compactMap { $0["sum"] as? Int } == [2, 2])
    let compound = NSCompoundPredicate(
      type: .and,
      subpredicates: [
        NSPredicate(format: "rank > 0"),
        NSCompoundPredicate(type: .not, subpredicates: [NSPredicate(format: "rank == 2")]),
      ])
    let typed = NSFetchRequest<TodoItem>(entityName: "Item")
    typed.predicate = compound
    #expect(try context.count(for: typed) == 2)
  }

  /// As Apple's sample reads what others have saved.
  @Test func historyOfOthers() async throws {
    let folder = try Folder()
    let container = NSPersistentContainer(name: "Todo", managedObjectModel: try model())
    let description = NSPersistentStoreDescription(url: folder.file("Todo.sqlite"))
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    for author in ["app", "import"] {
      await container.performBackgroundTask { context in
        context.transactionAuthor = author
        _ = TodoItem(context: context)
        #expect(throws: Never.self) { try context.save() }
      }
    }
    let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
    fetch.predicate = NSPredicate(format: "author != %@", "app")
    var request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
    request.fetchRequest = fetch
    let context = container.newBackgroundContext()
    let result = try context.execute(request) as NSPersistentHistoryResult?
    #expect(result?.transactions.compactMap { $0.author } == ["import"])
    #expect(request.fetchRequest?.predicate != nil)
  }

  @Test func setsThatAreChanged() throws {
    let context = try container().viewContext
    let list = TodoList(context: context)
    let items = (0..<3).map { _ in TodoItem(context: context) }
    let set = list.mutableSetValue(forKey: "items")
    set.addObjects(from: items)
    #expect(set.allObjects.count == 3 && items[0].list === list)
    set.intersect(items.prefix(2))
    set.minus([items[0]])
    #expect(set.allObjects.count == 1 && items[0].list == nil)
    set.union(items)
    #expect(set.allObjects.count == 3)
    set.removeAllObjects()
    #expect(list.items?.count == 0 && items[0].list == nil)
  }

  /// A view controller's code.
  private final class Delegate: NSFetchedResultsControllerDelegate {
    var calls: [String] = []
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
      calls.append("will \(controller.fetchedObjects?.count ?? -1)")
    }
    func controller(
      _ controller: NSFetchedResultsController<NSFetchRequestResult>,
      didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
      for type: NSFetchedResultsChangeType
    ) {
      calls.append("section \(sectionInfo.name) \(sectionInfo.numberOfObjects) \(sectionIndex) \(type)")
    }
    func controller(
      _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
      for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      calls.append("\((anObject as? TodoItem)?.title ?? "?") \(type) \(newIndexPath.map { Array($0) } ?? [])")
    }
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
      calls.append("did \(controller.sections?.count ?? -1)")
    }
  }

  @Test func delegatesOfResults() throws {
    let context = try container().newBackgroundContext()
    let request = NSFetchRequest<TodoItem>(entityName: "Item")
    request.sortDescriptors = [
      NSSortDescriptor(key: "rank", ascending: true), NSSortDescriptor(key: "title", ascending: true),
    ]
    let results = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "rank", cacheName: nil)
    let delegate = Delegate()
    results.delegate = delegate
    #expect(results.sections?.count == nil)
    try results.performFetch()
    let item = TodoItem(context: context)
    (item.title, item.rank) = ("a", 1)
    context.processPendingChanges()
    #expect(delegate.calls == ["will 1", "section 1 1 0 insert", "a insert [0, 0]", "did 1"])
    // A save tells nothing twice.
    try context.save()
    #expect(delegate.calls.count == 4)
    #expect(results.sectionIndexTitles == ["1"] && results.sectionIndexTitle(forSectionName: "abc") == "A")
    let section: Int = results.section(forSectionIndexTitle: "1", at: 0)
    #expect(section == 0 && results.section(forSectionIndexTitle: "2", at: 0) == NSNotFound)
    #expect(results.cacheName == nil)
    NSFetchedResultsController<NSFetchRequestResult>.deleteCache(withName: nil)
    #expect(results.sections?[0].numberOfObjects == 1 && results.sections!.count == 1)
    let first = results.object(at: IndexPath(indexes: [0, 0]))
    #expect(first.title == "a")
    // Where Core Data raises.
    let none = results.object(at: IndexPath(indexes: [3, 0]))
    #expect(none.managedObjectContext == nil && none.title == nil)
    // A controller of any objects is given itself.
    let any = NSFetchedResultsController(
      fetchRequest: request.ofAnyObjects(), managedObjectContext: context, sectionNameKeyPath: nil, cacheName: "c")
    let anyDelegate = Delegate()
    any.delegate = anyDelegate
    try any.performFetch()
    item.title = "b"
    try context.save()
    #expect(anyDelegate.calls == ["will 1", "b update [0, 0]", "did 1"])
  }

  @Test func errorsAsFoundationHasThem() throws {
    final class Checked: NSManagedObject {
      struct Refusal: Error {}
      override func validateForInsert() throws { throw Refusal() }
    }
    let entity = NSEntityDescription()
    entity.name = "Checked"
    entity.managedObjectClassName = "Checked"
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let container = NSPersistentContainer(name: "Checked", managedObjectModel: model)
    container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
    try container.loadPersistentStores()
    let context = container.viewContext
    _ = Checked(context: context)
    #expect(throws: Checked.Refusal.self) { try context.save() }
    _ = Checked(context: context)
    do {
      try context.save()
      Issue.record("saved")
    } catch {
      let error = error as NSError
      #expect(error.domain == NSCocoaErrorDomain && error.code == NSValidationMultipleErrorsError)
      let all = error.userInfo[NSDetailedErrorsKey] as? [NSError]
      #expect(all?.count == 2 && all?.first?.userInfo[NSUnderlyingErrorKey] is Checked.Refusal)
    }
  }
}
