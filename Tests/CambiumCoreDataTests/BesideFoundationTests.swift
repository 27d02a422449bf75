// As files of applications and of their XCTest cases begin: all of these modules declare or re-export an `NSPredicate`.
import CambiumCoreData
import Foundation
import Testing
import XCTest

/// A repository of an application, in a file that imports Foundation and XCTest as well.
private struct BookShelf {
  let context: NSManagedObjectContext
  var predicate: NSPredicate?
  var sortDescriptors: [NSSortDescriptor] = []

  func matching(_ parts: [NSPredicate]) -> NSCompoundPredicate {
    NSCompoundPredicate(andPredicateWithSubpredicates: parts)
  }

  func titled(_ title: String) -> NSPredicate {
    NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: "title"), rightExpression: NSExpression(forConstantValue: title),
      modifier: .direct, type: .beginsWith, options: [.caseInsensitive, .diacriticInsensitive])
  }

  func books() throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
    request.predicate = predicate
    request.sortDescriptors = sortDescriptors
    return try context.fetch(request)
  }
}

extension NSPredicate {
  fileprivate static var all: NSPredicate { NSPredicate(value: true) }
}

@Suite struct BesideFoundationTests {
  private func context() throws -> NSManagedObjectContext {
    let title = NSAttributeDescription()
    title.name = "title"
    title.attributeType = .stringAttributeType
    let pages = NSAttributeDescription()
    pages.name = "pages"
    pages.attributeType = .integer32AttributeType
    let book = NSEntityDescription()
    book.name = "Book"
    book.properties = [title, pages]
    let model = NSManagedObjectModel()
    model.entities = [book]
    let container = NSPersistentContainer(name: "Books", managedObjectModel: model)
    container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
    try container.loadPersistentStores()
    let context = container.viewContext
    for (title, pages) in [("Émile", 300), ("Emma", 400), ("Ulysses", 700)] {
      let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
      book.setValue(title, forKey: "title")
      book.setValue(pages, forKey: "pages")
    }
    try context.save()
    return context
  }

  @Test func predicatesAndOrders() throws {
    var shelf = BookShelf(context: try context())
    shelf.predicate = shelf.matching([NSPredicate(format: "pages > %d", 300), .all])
    shelf.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: false)]
    #expect(try shelf.books().map { $0.value(forKey: "title") as? String } == ["Ulysses", "Emma"])
    shelf.predicate = shelf.titled("em")
    #expect(try shelf.books().map { $0.value(forKey: "title") as? String } == ["Emma", "Émile"])
    let ofFoundation: Foundation.NSPredicate = Foundation.NSPredicate(value: true)
    #expect(ofFoundation.evaluate(with: nil))
  }

  @Test func comparisonsByTheirParts() throws {
    var shelf = BookShelf(context: try context())
    let pages = NSExpression(forKeyPath: "pages")
    func count(_ type: NSComparisonPredicate.Operator, _ value: Any) throws -> Int {
      shelf.predicate = NSComparisonPredicate(
        leftExpression: pages, rightExpression: NSExpression(forConstantValue: value), modifier: .direct, type: type)
      return try shelf.books().count
    }
    #expect(try count(.lessThan, 400) == 1)
    #expect(try count(.lessThanOrEqualTo, 400) == 2)
    #expect(try count(.greaterThan, 400) == 1)
    #expect(try count(.greaterThanOrEqualTo, 400) == 2)
    #expect(try count(.equalTo, 400) == 1)
    #expect(try count(.notEqualTo, 400) == 2)
    #expect(try count(.in, [300, 700]) == 2)
    #expect(try count(.between, [300, 400]) == 2)
  }

  @Test func undoManagersUnderTheirName() throws {
    let context = try context()
    context.undoManager = UndoManager()
    let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
    context.processPendingChanges()
    context.undoManager?.undo()
    #expect(book.managedObjectContext == nil || book.isDeleted || !book.isInserted)
    context.undoManager = nil
  }
}
