import CambiumCoreData
import Foundation
import Testing

/// The classes of a library's application, as Xcode generates them, with `@Managed` for `@NSManaged`.
final class LibraryBook: NSManagedObject {
  @Managed var identifier: UUID
  @Managed var title: String?
  @Managed var pages: Int32
  @Managed var copies: Int64
  @Managed var isLent: Bool
  @Managed var price: NSDecimalNumber
  @Managed var discount: NSDecimalNumber?
  @Managed var weight: NSNumber
  @Managed var homepage: URL
  @Managed var bought: Date?
  @Managed var author: LibraryAuthor!
  @Managed var publisher: LibraryAuthor
}

final class LibraryAuthor: NSManagedObject {
  @Managed var name: String?
  @Managed var books: NSSet
  @Managed var published: NSOrderedSet
}

/// The model and the stack of the application.
enum LibraryStack {
  static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    return attribute
  }

  static func model() -> NSManagedObjectModel {
    let book = NSEntityDescription()
    book.name = "LibraryBook"
    book.managedObjectClassName = "LibraryBook"
    let author = NSEntityDescription()
    author.name = "LibraryAuthor"
    author.managedObjectClassName = "LibraryAuthor"
    func relate(_ one: String, _ many: String, isOrdered: Bool) -> (
      NSRelationshipDescription, NSRelationshipDescription
    ) {
      let (toOne, toMany) = (NSRelationshipDescription(), NSRelationshipDescription())
      toOne.name = one
      toOne.destinationEntity = author
      toOne.maxCount = 1
      toMany.name = many
      toMany.destinationEntity = book
      toMany.maxCount = 0
      toMany.isOrdered = isOrdered
      toOne.inverseRelationship = toMany
      toMany.inverseRelationship = toOne
      return (toOne, toMany)
    }
    let (toAuthor, books) = relate("author", "books", isOrdered: false)
    let (toPublisher, published) = relate("publisher", "published", isOrdered: true)
    book.properties = [
      attribute("identifier", .UUIDAttributeType), attribute("title", .stringAttributeType),
      attribute("pages", .integer32AttributeType), attribute("copies", .integer64AttributeType),
      attribute("isLent", .booleanAttributeType), attribute("price", .decimalAttributeType),
      attribute("discount", .decimalAttributeType), attribute("weight", .floatAttributeType),
      attribute("homepage", .URIAttributeType), attribute("bought", .dateAttributeType), toAuthor, toPublisher,
    ]
    author.properties = [attribute("name", .stringAttributeType), books, published]
    let model = NSManagedObjectModel()
    model.entities = [book, author]
    return model
  }

  static func container() throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Library", managedObjectModel: model())
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in
      if let error = error as NSError? { Issue.record("\(error), \(error.userInfo)") }
    }
    return container
  }
}

@Suite struct LibraryCodeTests {
  @Test func valuesThatAreNumbers() throws {
    let context = try LibraryStack.container().viewContext
    let book = LibraryBook(context: context)
    (book.pages, book.copies, book.isLent) = (300, 7, true)
    book.price = NSDecimalNumber(string: "12.5")
    book.weight = 0.5
    book.title = "Emma"
    #expect(book.value(forKey: "pages") as? Int == 300)
    #expect(book.value(forKey: "pages") as? Int32 == 300)
    #expect(book.value(forKey: "pages") as? Int64 == 300)
    #expect(book.value(forKey: "copies") as? Double == 7)
    #expect((book.value(forKey: "copies") as? NSNumber)?.intValue == 7)
    #expect(book.value(forKey: "isLent") as? Bool == true)
    #expect((book.value(forKey: "isLent") as? NSNumber)?.boolValue == true)
    #expect(book.value(forKey: "price") as? NSDecimalNumber == NSDecimalNumber(string: "12.5"))
    #expect(book.value(forKey: "price") as? Decimal == 12.5)
    #expect(book.value(forKey: "weight") as? Float == 0.5)
    #expect(book.primitiveValue(forKey: "pages") as? Int16 == 300)
    #expect(book.value(forKey: "title") as? NSString == "Emma")
    #expect(book.value(forKey: "bought") == nil)
    let values = book.dictionaryWithValues(forKeys: ["pages", "title", "bought"])
    #expect(values["pages"] as? Int64 == 300 && values["bought"] is NSNull)
    #expect(book.value(forKeyPath: "author.name") == nil)
    #expect(book.changedValues()["pages"] as? Int16 == 300)
    try context.save()
    book.pages = 301
    #expect(book.committedValues(forKeys: ["pages", "bought"])["pages"] as? Int64 == 300)
    #expect(book.committedValues(forKeys: ["pages", "bought"])["bought"] is NSNull)
  }

  @Test func valuesThatAreSets() throws {
    let context = try LibraryStack.container().viewContext
    let author = LibraryAuthor(context: context)
    let books = (1...3).map { number in
      let book = LibraryBook(context: context)
      book.title = "\(number)"
      book.copies = Int64(number)
      book.author = author
      return book
    }
    #expect((author.value(forKey: "books") as? NSSet)?.count == 3)
    #expect((author.value(forKey: "books") as? NSSet)?.contains(books[0]) == true)
    #expect((author.value(forKey: "books") as? Set<LibraryBook>)?.count == 3)
    #expect((author.value(forKey: "books") as? NSSet)?.allObjects as? [LibraryBook] != nil)
    author.published = NSOrderedSet(array: [books[2], books[0]])
    let published = author.value(forKey: "published") as? NSOrderedSet
    #expect((published?.array as? [LibraryBook])?.map { $0.title } == ["3", "1"])
    #expect((published?.firstObject as? LibraryBook)?.title == "3")
    #expect(author.value(forKeyPath: "books.@sum.copies") as? Int64 == 6)
    #expect((author.value(forKeyPath: "books.copies") as? Set<Int64>) == [1, 2, 3])
    #expect((author.value(forKeyPath: "books.copies") as? NSSet)?.count == 3)
    books[1].title = nil
    #expect(author.value(forKeyPath: "books.title") as? Set<String> == ["1", "3"])
    #expect((author.books as NSSet).value(forKey: "title") as? Set<String> == ["1", "3"])
    #expect((author.value(forKeyPath: "published.title") as? NSOrderedSet)?.array as? [String] == ["3", "1"])
    // A path through an object to a relationship, and through two relationships.
    #expect((books[0].value(forKeyPath: "author.published") as? NSOrderedSet)?.count == 2)
    #expect(books[0].value(forKeyPath: "author.books.copies") as? Set<Int64> == [1, 2, 3])
    #expect(author.value(forKeyPath: "books.author.name") as? NSSet == NSSet())
    #expect(books[0].value(forKeyPath: "author.books.@count") as? Int == 3)
    author.setValue(NSSet(array: [books[0]]), forKey: "books")
    #expect(author.books.count == 1 && books[1].author == nil)
  }

  @Test func dictionariesOfNumbers() throws {
    let context = try LibraryStack.container().viewContext
    for pages in [100, 200] { LibraryBook(context: context).pages = Int32(pages) }
    try context.save()
    let total = NSExpressionDescription()
    total.name = "total"
    total.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "pages")])
    total.expressionResultType = .integer64AttributeType
    let request = NSFetchRequest<NSDictionary>(entityName: "LibraryBook")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = [total]
    let results = try context.fetch(request)
    #expect(results.first?["total"] as? Int64 == 300)
    #expect(results.first?.value(forKey: "total") as? Double == 300)
    let swift = NSFetchRequest<[String: Any]>(entityName: "LibraryBook")
    swift.propertiesToFetch = ["pages"]
    swift.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
    #expect(try context.fetch(swift).map { $0["pages"] as? Int64 } == [100, 200])
    let count = NSFetchRequest<NSNumber>(entityName: "LibraryBook")
    count.resultType = .countResultType
    #expect(try context.fetch(count).first?.intValue == 2)
  }

  @Test func propertiesThatAreNotOptional() throws {
    let context = try LibraryStack.container().viewContext
    let book = LibraryBook(context: context)
    #expect(book.price == 0 && book.weight == 0 && book.discount == nil)
    #expect(book.homepage.path == "/dev/null" && book.author == nil)
    let author = LibraryAuthor(context: context)
    #expect(author.books.count == 0 && author.published.count == 0)
    // Where Core Data ends the process.
    #expect(book.publisher.managedObjectContext == nil && book.publisher.name == nil)
    author.name = "Austen"
    book.author = author
    book.publisher = author
    book.price = NSDecimalNumber(value: 9.5)
    book.homepage = try #require(URL(string: "https://example.com"))
    try context.save()
    #expect(book.author.name == "Austen" && book.publisher === author)
    #expect(book.price.doubleValue == 9.5 && book.homepage.host == "example.com")
    #expect((author.published.firstObject as? LibraryBook) === book)
    author.books = NSSet()
    #expect(book.author == nil)
    #expect(context.recordedErrors.isEmpty)
  }

  @Test func argumentsOfFormats() throws {
    let context = try LibraryStack.container().viewContext
    let (book, author) = (LibraryBook(context: context), LibraryAuthor(context: context))
    book.identifier = UUID()
    book.copies = 0
    book.bought = Date(timeIntervalSinceReferenceDate: 1000)
    book.homepage = try #require(URL(string: "https://example.com"))
    book.author = author
    try context.save()
    func count(_ predicate: NSPredicate) throws -> Int {
      let request = NSFetchRequest<LibraryBook>(entityName: "LibraryBook")
      request.predicate = predicate
      return try context.count(for: request)
    }
    let day = Date(timeIntervalSinceReferenceDate: 0)
    #expect(try count(NSPredicate(format: "identifier == %@", book.identifier as CVarArg)) == 1)
    #expect(try count(NSPredicate(format: "%K == %@", "identifier", book.identifier as CVarArg)) == 1)
    #expect(try count(NSPredicate(format: "bought > %@ AND copies < %d", day as CVarArg, 3)) == 1)
    #expect(
      try count(NSPredicate(format: "bought > %@ AND homepage == %@", day as NSDate, book.homepage as CVarArg)) == 1)
    #expect(try count(NSPredicate(format: "identifier IN %@", [book.identifier] as CVarArg)) == 1)
    #expect(try count(NSPredicate(format: "identifier IN %@", Set([book.identifier]) as CVarArg)) == 1)
    #expect(try count(NSPredicate(format: "copies == %@ AND author == %@", NSNumber(value: 0), author)) == 1)
    #expect(try count(NSPredicate(format: "SELF == %@ OR identifier == %@", book.objectID, UUID() as CVarArg)) == 1)
    #expect(try count(NSPredicate(format: "author == %@ AND bought > %@", author as CVarArg, day as CVarArg)) == 1)
    #expect(throws: CambiumError.self) { try count(NSPredicate()) }
    // As logs of errors are written.
    let error = NSError(domain: "Shelf", code: 7, userInfo: ["reason": "full"])
    let line = String(format: "%@, %@", error, error.userInfo)
    #expect(line.contains("Shelf") && line.contains("full"))
    #expect(String(format: "%@", book.identifier as CVarArg) == book.identifier.uuidString)
    let template = NSPredicate(format: "copies < $MOST")
    #expect(try count(template.withSubstitutionVariables(["MOST": 1])) == 1)
    #expect(NSPredicate(format: "copies == 0").evaluate(with: book))
    #expect(!NSPredicate(format: "nothing == 0").evaluate(with: book) && context.recordedErrors.count == 1)
    #expect(throws: CambiumError.self) { try count(template.withSubstitutionVariables(["MOST": Set<Bool>.self])) }
  }

  @Test func partsOfTheStackAsKeys() throws {
    let container = try LibraryStack.container()
    let context = container.viewContext
    var seen: Set<NSManagedObjectContext> = [context, container.newBackgroundContext()]
    seen.insert(context)
    #expect(seen.count == 2)
    let coordinator = container.persistentStoreCoordinator
    #expect([coordinator: 1][coordinator] == 1)
    #expect(Set(coordinator.persistentStores).count == 1)
    let author = LibraryAuthor(context: context)
    #expect(author.entity == LibraryAuthor.entity())
    let model = LibraryStack.model()
    let entity = try #require(model.entitiesByName["LibraryAuthor"])
    #expect(author.entity == entity && author.entity != model.entitiesByName["LibraryBook"])
    #expect([author.entity: 1][entity] == 1)
    #expect(
      container.managedObjectModel == LibraryStack.model() && container.managedObjectModel != NSManagedObjectModel())
    #expect(Set([container.managedObjectModel, LibraryStack.model()]).count == 1)
    context.name = "view"
    #expect(context.debugDescription.contains("view"))
    #expect(author.entity.debugDescription.contains("LibraryAuthor") && coordinator.debugDescription.contains("memory"))
    #expect(container.managedObjectModel.debugDescription.contains("LibraryBook"))
  }

  @Test func typesOfStoresAsText() throws {
    let folder = try Folder()
    func open(type: String, at url: URL?) throws -> NSPersistentStore {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryStack.model())
      return try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: nil)
    }
    let store = try open(type: NSSQLiteStoreType, at: folder.file("a"))
    #expect(store.type == NSSQLiteStoreType && store.metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
    #expect(try open(type: NSInMemoryStoreType, at: nil).type == NSInMemoryStoreType)
    #expect(try open(type: NSBinaryStoreType, at: folder.file("b")).type == NSSQLiteStoreType)
    do {
      _ = try open(type: "Cloud", at: folder.file("c"))
      Issue.record("opened")
    } catch let error as NSError { #expect(error.code == NSPersistentStoreInvalidTypeError) }
    let container = NSPersistentContainer(name: "Library", managedObjectModel: LibraryStack.model())
    let description = NSPersistentStoreDescription(url: folder.file("d"))
    description.type = "Cloud"
    #expect(description.type == "Cloud")
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in #expect((error as NSError?)?.code == NSPersistentStoreInvalidTypeError)
    }
  }

  @Test func requestsOfAnyKind() throws {
    let context = try LibraryStack.container().newBackgroundContext()
    for _ in 1...3 { _ = LibraryBook(context: context) }
    try context.save()
    func run(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult { try context.execute(request) }
    let update = NSBatchUpdateRequest(entityName: "LibraryBook")
    update.propertiesToUpdate = ["copies": 2]
    update.resultType = .updatedObjectsCountResultType
    let updated = try run(update) as? NSBatchUpdateResult
    #expect(updated?.result as? Int == 3)
    let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: "LibraryBook"))
    delete.resultType = .resultTypeCount
    let result = try context.execute(delete)
    #expect(result.result as? Int == 3)
  }

  @Test func mappingModelsOfBundles() throws {
    let model = LibraryStack.model()
    #expect(NSMappingModel(from: nil, forSourceModel: model, destinationModel: model) == nil)
    #expect(NSMappingModel(from: [Bundle.main], forSourceModel: model, destinationModel: model) == nil)
    let indexed = try #require(model.entitiesByName["LibraryBook"]?.propertiesByName["title"])
    #expect(!indexed.isIndexed)
  }
}

@Suite struct LibraryErrorTests {
  private func saving(_ change: (NSManagedObjectContext) -> Void) throws -> NSError? {
    let context = try LibraryStack.container().viewContext
    change(context)
    do {
      try context.save()
      return nil
    } catch let error as NSError { return error }
  }

  @Test func errorsThatAreCaughtAsFoundations() throws {
    let unknown = try #require(try saving { LibraryBook(context: $0).setValue(1, forKey: "nothing") })
    #expect(unknown.domain == CambiumErrorDomain && unknown.code == CambiumError.Code.unknownKey.rawValue)
    #expect(unknown.userInfo[NSValidationKeyErrorKey] as? String == "nothing")
    #expect((unknown as any Error as? CambiumError)?.code == .unknownKey)
    #expect(unknown.localizedDescription.contains("nothing"))
    // A model that cannot be is no missing file, which has this number in Cocoa's domain.
    let broken = NSManagedObjectModel()
    let entity = NSEntityDescription()
    entity.name = "A"
    let relationship = NSRelationshipDescription()
    relationship.name = "nowhere"
    entity.properties = [relationship]
    broken.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: broken)
    do {
      try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
      Issue.record("opened")
    } catch let error as NSError { #expect(error.domain == CambiumErrorDomain && error.code == 4) }
    #expect(broken.versionChecksum == "" && broken.entityVersionHashesByName.isEmpty && entity.versionHash.isEmpty)
    // Errors that are no CambiumError.
    let composite = NSCompositeAttributeDescription()
    do { try composite.setElements([relationship]) } catch let error as NSError {
      #expect(error.domain == CambiumErrorDomain && (error as any Error) is ManagedObjectModelError)
    }
  }

  @Test func codesOfCocoa() throws {
    let context = try LibraryStack.container().viewContext
    let gone = LibraryBook(context: context)
    try context.save()
    context.delete(gone)
    try context.save()
    do { _ = try context.existingObject(with: gone.objectID) } catch CocoaError.managedObjectReferentialIntegrity {
      return
    } catch { Issue.record(error) }
    Issue.record("found")
  }

  @Test func numbersOfCodes() {
    #expect(CocoaError.Code.validationMultipleErrors.rawValue == NSValidationMultipleErrorsError)
    #expect(CocoaError.managedObjectConstraintMerge.rawValue == NSManagedObjectConstraintMergeError)
    #expect(CocoaError.Code(rawValue: NSManagedObjectValidationError) == .managedObjectValidation)
    #expect(CocoaError.coreData.rawValue == NSCoreDataError)
  }
}
