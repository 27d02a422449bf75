import CambiumCoreData
import Foundation
import Testing

/// Validation of single properties, and other forms that Foundation has on Apple platforms alone.
@Suite struct ValueValidationTests {
  struct Refused: Error, Equatable { let name: String }

  /// As `cambium migrate-source` leaves a class with such methods.
  class Tag: NSManagedObject {
    @Managed var name: String?
    @Managed var size: Int16
    @Managed var made: Date?
    @Managed var other: Tag?

    func validateName(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
      guard let proposed = value.pointee as? String else { throw Refused(name: "none") }
      let trimmed = proposed.trimmingCharacters(in: .whitespaces)
      if trimmed.isEmpty { throw CambiumError(.validationStringTooShort, "empty") }
      if trimmed != proposed { value.pointee = trimmed as NSString }
    }

    func validateSize(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
      guard let number = value.pointee as? NSNumber else { return }
      if number.intValue > 10 { value.pointee = NSNumber(value: 10) }
      if number.intValue < 0 { throw Refused(name: "\(number)") }
    }

    func validateMade(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
      if let date = value.pointee as? Date, date < .distantPast { throw Refused(name: "early") }
    }

    func validateOther(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
      if value.pointee as? Tag === self { throw Refused(name: "itself") }
    }

    override func validateValue(
      _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
    ) throws {
      try super.validateValue(value, forKey: key)
      switch key {
      case "name": try validateName(value)
      case "size": try validateSize(value)
      case "made": try validateMade(value)
      case "other": try validateOther(value)
      default: break
      }
    }

    override func validateForInsert() throws {
      try validateValuesForInsert()
      try super.validateForInsert()
    }

    override func validateForUpdate() throws {
      try validateValuesForUpdate()
      try super.validateForUpdate()
    }
  }

  private func context() throws -> NSManagedObjectContext {
    let entity = NSEntityDescription()
    entity.name = "Tag"
    entity.managedObjectClassName = "ValueValidationTests.Tag"
    let other = NSRelationshipDescription()
    other.name = "other"
    other.destinationEntity = entity
    other.maxCount = 1
    other.isOptional = true
    entity.properties = [
      FlightLog.attribute("name", .stringAttributeType), FlightLog.attribute("size", .integer16AttributeType),
      FlightLog.attribute("made", .dateAttributeType), other,
    ]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let container = NSPersistentContainer(name: "Tags", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(type: .inMemory)]
    try container.loadPersistentStores()
    return container.newBackgroundContext()
  }

  @Test func savesCallTheMethods() throws {
    let context = try context()
    let tag = Tag(context: context)
    tag.name = "  oak "
    tag.size = 12
    tag.made = Date()
    tag.other = Tag(context: context)
    tag.other?.name = "elm"
    try context.save()
    #expect(tag.name == "oak" && tag.size == 10)
    #expect(!context.hasChanges)

    // Of a change, the properties that changed are asked.
    tag.other = tag
    #expect(throws: Refused(name: "itself")) { try context.save() }
    tag.other = nil
    tag.name = " "
    let error = #expect(throws: (any Error).self) { try context.save() } as NSError?
    #expect(error?.code == NSValidationStringTooShortError)
    tag.size = -1
    let both = #expect(throws: CambiumError.self) { try tag.validateForUpdate() }
    #expect(both?.code == .validationMultipleErrors)
    #expect(both?.detailedErrors.map { $0.code } == [.validationStringTooShort, .managedObjectValidation])
    #expect(both?.detailedErrors.last?.underlyingErrors.first as? Refused == Refused(name: "-1"))
  }

  @Test func errorsHaveTheValue() throws {
    let book = NSEntityDescription()
    book.name = "Book"
    let title = FlightLog.attribute("title", .stringAttributeType)
    title.setValidationPredicates([NSPredicate(format: "length < 4")], withValidationWarnings: ["long"])
    book.properties = [title]
    let model = NSManagedObjectModel()
    model.entities = [book]
    let container = NSPersistentContainer(name: "Books", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(type: .inMemory)]
    try container.loadPersistentStores()
    let context = container.viewContext
    NSManagedObject(entity: book, insertInto: context).setValue("Emma", forKey: "title")
    let error = #expect(throws: (any Error).self) { try context.save() } as NSError?
    #expect(error?.userInfo[NSValidationValueErrorKey] as? String == "Emma")
    #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "title")
  }

  @Test func oneValueIsValidatedByPointer() throws {
    let tag = Tag(context: try context())
    var value: AnyObject? = "  ash" as NSString
    try tag.validateValue(&value, forKey: "name")
    #expect(value as? String == "ash")
    value = nil
    #expect(throws: Refused(name: "none")) { try tag.validateValue(&value, forKey: "name") }
    // The model's rules come first, and know no other types.
    value = NSNumber(value: 70_000)
    #expect(throws: CambiumError.self) { try tag.validateValue(&value, forKey: "size") }
    value = "x" as NSString
    #expect(throws: CambiumError.self) { try tag.validateValue(&value, forKey: "made") }
    #expect(throws: CambiumError.self) { try tag.validateValue(&value, forKey: "nothing") }
    #expect(tag.name == nil)
  }

  @Test func collectionsHaveValuesByKey() throws {
    let context = try context()
    let tags = ["a", "b", "b"].enumerated().map { place, name in
      let tag = Tag(context: context)
      tag.name = name
      tag.size = Int16(place + 1)
      return tag
    }
    let set = NSSet(array: tags)
    #expect(set.value(forKeyPath: "@sum.size") as? Int == 6)
    #expect(set.value(forKeyPath: "@avg.size") as? Double == 2)
    #expect((set.value(forKeyPath: "@max.size") as? NSNumber)?.int16Value == 3)
    #expect(set.value(forKeyPath: "@count") as? Int == 3)
    #expect(set.value(forKey: "name") as? Set<String> == ["a", "b"])
    let list = NSOrderedSet(array: tags)
    #expect(list.value(forKeyPath: "@unionOfObjects.name") as? [String] == ["a", "b", "b"])
    #expect(NSArray(array: tags).value(forKey: "name") as? [String] == ["a", "b", "b"])
    #expect((NSArray(array: tags).value(forKey: "other") as? [Any])?.allSatisfy { $0 is NSNull } == true)
    #expect(NSArray(array: [3, 1, 2]).value(forKeyPath: "@max.self") as? Int == 3)
    #expect(NSArray(array: [["n": 1], ["n": 4]]).value(forKeyPath: "@sum.n") as? Int == 5)
    #expect(set.value(forKeyPath: "@median.size") == nil)
    #expect(set.value(forKeyPath: "@sum.name") == nil)
  }

  @Test func undoOfTargets() throws {
    let context = try context()
    let manager = UndoManager()
    manager.groupsByEvent = false
    context.undoManager = manager
    final class Form { var text = "new" }
    let form = Form()
    manager.registerUndo(withTarget: form) { $0.text = "old" }
    manager.undo()
    #expect(form.text == "old")
    manager.registerUndo(withTarget: form) { $0.text = "gone" }
    manager.removeAllActions(withTarget: form)
    #expect(!manager.canUndo)
    var short: Form? = Form()
    manager.registerUndo(withTarget: try #require(short)) { _ in form.text = "called" }
    short = nil
    manager.undo()
    #expect(form.text == "old")
  }

  @Test func progressOfAMigrationIsObserved() throws {
    let folder = try Folder()
    let (old, new) = (try FlightLog.model(0), try FlightLog.model(1))
    let container = try FlightLog.container(folder.file("old"), old)
    _ = NSEntityDescription.insertNewObject(forEntityName: "Aircraft", into: container.viewContext)
    try container.viewContext.save()
    let manager = NSMigrationManager(sourceModel: try FlightLog.model(0), destinationModel: new)
    var seen: [Float] = []
    var observation: NSKeyValueObservation? = manager.observe(\.migrationProgress, options: [.initial, .new]) {
      manager, change in
      #expect(change.newValue == manager.migrationProgress && !change.isPrior)
      #expect(change.oldValue.map { $0 < manager.migrationProgress } ?? seen.isEmpty)
      seen.append(manager.migrationProgress)
    }
    func migrate(_ name: String) throws {
      try manager.migrateStore(
        from: folder.file("old"), sourceType: NSSQLiteStoreType, options: nil,
        with: try NSMappingModel.inferredMappingModel(forSourceModel: manager.sourceModel, destinationModel: new),
        toDestinationURL: folder.file(name), destinationType: NSSQLiteStoreType, destinationOptions: nil)
    }
    try migrate("new")
    #expect(seen.first == 0 && seen.last == 1 && seen.count > 2)
    let count = seen.count
    observation?.invalidate()
    observation = nil
    try migrate("newer")
    #expect(seen.count == count)
  }

  @Test func poolsAndTypesOfResults() throws {
    #expect(try autoreleasepool { try context().registeredObjects.count } == 0)
    #expect(NSFetchRequest<Tag>.smallTags.predicate == NSPredicate(format: "size < 3"))
  }

  @Test func expressionsAreArgumentsOfFormats() throws {
    let name = NSExpression(forKeyPath: "name")
    let predicate = NSPredicate(
      format: "%K == '%@' AND %@ != %@ AND %ld <= %@", "a", name, "b", 1, NSExpression(forVariable: "n"))
    #expect(predicate == NSPredicate(format: "a == '%@' AND name != 'b' AND 1 <= $n"))
    let context = try context()
    for (name, size) in [("a", 1), ("a", 4), ("b", 2)] {
      let tag = Tag(context: context)
      (tag.name, tag.size) = (name, Int16(size))
    }
    try context.save()
    let sum = NSExpressionDescription()
    sum.name = "total"
    sum.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "size")])
    sum.expressionResultType = .integer64AttributeType
    let request = NSFetchRequest<NSDictionary>(entityName: "Tag")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["name", sum]
    request.propertiesToGroupBy = ["name"]
    request.havingPredicate = NSPredicate(format: "%@ > %lf", NSExpression(forVariable: "total"), 3.0)
    #expect(try context.fetch(request).map { $0["total"] as? Int } == [5])
  }
}

extension NSFetchRequest where ResultType == ValueValidationTests.Tag {
  fileprivate static var smallTags: NSFetchRequest<ValueValidationTests.Tag> {
    let request = NSFetchRequest<ValueValidationTests.Tag>(entityName: "Tag")
    request.predicate = NSPredicate(format: "%@ < %ld", NSExpression(forKeyPath: "size"), 3)
    return request
  }
}
