import CambiumCoreData
import Foundation
import Testing

/// The forms that `cambium migrate-source` writes: they compile beside Foundation, and do what Core Data's forms do.
@Suite struct MovedCodeTests {
  enum Genre: Int16, AttributeRepresentable { case fiction, travel }

  final class Book: NSManagedObject {
    @Managed var title: String
    @Managed(default: Genre.fiction) var genre: Genre
    @Managed(default: []) var keywords: [String]
    @Managed("isLent") var lent: Bool
    @Managed var author: Author!

    required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
      super.init(entity: entity, insertInto: context)
    }

    init(title: String, context: NSManagedObjectContext) {
      super.init(entity: Book.entity(), insertInto: context)
      self.title = title
    }
  }

  final class Author: NSManagedObject {
    @Managed var books: NSSet?
    @Managed var ranked: NSOrderedSet!

    class func fetchRequest() -> NSFetchRequest<Author> { NSFetchRequest<Author>(entityName: "Author") }

    func addToBooks(_ value: Book) { mutableSetValue(forKey: "books").add(value) }
    func removeFromBooks(_ value: Book) { mutableSetValue(forKey: "books").remove(value) }
    func addToBooks(_ values: NSSet) {
      mutableSetValue(forKey: "books").formUnion(values.compactMap { $0 as? NSManagedObject })
    }
    func removeFromBooks(_ values: NSSet) {
      mutableSetValue(forKey: "books").subtract(values.compactMap { $0 as? NSManagedObject })
    }
    func insertIntoRanked(_ value: Book, at idx: Int) {
      mutableOrderedSetValue(forKey: "ranked").insert(value, at: idx)
    }
    func removeFromRanked(at idx: Int) { mutableOrderedSetValue(forKey: "ranked").removeObject(at: idx) }
    func insertIntoRanked(_ values: [Book], at indexes: NSIndexSet) {
      for (value, place) in zip(values, indexes) {
        mutableOrderedSetValue(forKey: "ranked").insert(value, at: place)
      }
    }
    func removeFromRanked(at indexes: NSIndexSet) {
      mutableOrderedSetValue(forKey: "ranked").removeObjects(at: indexes as IndexSet)
    }
    func replaceRanked(at idx: Int, with value: Book) {
      mutableOrderedSetValue(forKey: "ranked").replaceObject(at: idx, with: value)
    }
    func replaceRanked(at indexes: NSIndexSet, with values: [Book]) {
      for (place, value) in zip(indexes, values) {
        mutableOrderedSetValue(forKey: "ranked").replaceObject(at: place, with: value)
      }
    }
    func addToRanked(_ values: NSOrderedSet) {
      mutableOrderedSetValue(forKey: "ranked").formUnion(values.compactMap { $0 as? NSManagedObject })
    }
  }

  private func context() throws -> NSManagedObjectContext {
    let model = try ManagedObjectModel {
      Entity("Book", class: Book.self) {
        Attribute("title", .string)
        Attribute("genre", .integer16)
        Attribute("keywords", .transformable)
        Attribute("isLent", .boolean)
        ToOne("author", "Author", inverse: "books")
        ToMany("rankedBy", "Author", inverse: "ranked")
      }
      Entity("Author", class: Author.self) {
        ToMany("books", "Book", inverse: "author")
        ToMany("ranked", "Book", inverse: "rankedBy", ordered: true)
      }
    }
    let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
    container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
    try container.loadPersistentStores()
    return container.viewContext
  }

  @Test func properties() throws {
    let context = try context()
    let book = Book(title: "Emma", context: context)
    #expect(book.title == "Emma" && book.genre == .fiction && book.keywords == [] && !book.lent && book.author == nil)
    book.genre = .travel
    book.lent = true
    book.author = Author(context: context)
    try context.save()
    #expect(book.value(forKey: "isLent") as? Bool == true && book.value(forKey: "genre") as? Int == 1)
    let request = NSFetchRequest<Book>(entityName: "Book")
    request.predicate = NSPredicate(format: "%K == %d", "genre", Genre.travel.rawValue)
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    #expect(try context.fetch(request) == [book])
    #expect(try context.fetch(Author.fetchRequest()).first?.books?.count == 1)
  }

  @Test func generatedMethods() throws {
    let context = try context()
    let author = Author(context: context)
    let books = ["a", "b", "c"].map { Book(title: $0, context: context) }
    var titles: String { author.ranked.compactMap { ($0 as? Book)?.title }.joined() }
    author.addToBooks(books[0])
    author.addToBooks(NSSet(array: books))
    #expect(author.books?.count == 3 && books.allSatisfy { $0.author === author })
    author.removeFromBooks(books[0])
    #expect(author.books?.count == 2 && books[0].author == nil)
    author.removeFromBooks(NSSet(array: books))
    #expect(author.books?.count == 0)
    author.addToRanked(NSOrderedSet(array: books))
    #expect(titles == "abc")
    author.removeFromRanked(at: 1)
    #expect(titles == "ac")
    author.insertIntoRanked(books[1], at: 0)
    #expect(titles == "bac")
    author.removeFromRanked(at: NSIndexSet(indexesIn: NSRange(location: 1, length: 2)))
    #expect(titles == "b")
    author.insertIntoRanked([books[0], books[2]], at: NSIndexSet(indexesIn: NSRange(location: 0, length: 2)))
    #expect(titles == "acb")
    author.removeFromRanked(at: 2)
    author.replaceRanked(at: 1, with: books[1])
    #expect(titles == "ab")
    author.replaceRanked(at: NSIndexSet(index: 0), with: [books[2]])
    #expect(titles == "cb")
  }

  @Test func errors() throws {
    let context = try context()
    Author(context: context).setValue("text", forKey: "books")
    do {
      try context.save()
      Issue.record("saved")
    } catch let error where (error as NSError).code == -7 {
      Issue.record(error)
    } catch {
      let failure = error as NSError
      #expect(failure.domain == NSCocoaErrorDomain && failure.code != 0)
    }
    let optional: (any Error)? = CambiumError(.coreData, "a")
    if let error = optional as NSError? { #expect(error.domain == NSCocoaErrorDomain) } else { Issue.record("nil") }
  }

  /// A closure in the place of a selector.
  @Test func observers() throws {
    final class Observer: @unchecked Sendable {
      // Unchecked: the test's thread alone posts.
      var count = 0
      func didSave(_ notification: Notification) { count += 1 }
      func observe(_ context: NSManagedObjectContext) {
        _ = NotificationCenter.default.addObserver(
          forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { [weak self] notification in self?.didSave(notification) }
      }
    }
    let context = try context()
    let observer = Observer()
    observer.observe(context)
    _ = Author(context: context)
    try context.save()
    #expect(observer.count == 1)
  }
}
