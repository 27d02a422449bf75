import Foundation

// An application made for Apple's platforms, with its imports unchanged, in a target as Xcode sets it up: everything belongs to the
// main actor, and the names of a module are seen only by files that import it.
// Expected output:
//   SwiftData is here: true
//   saved by itself: true
//   unread: ["Dune", "Emma"]
//   Herbert has 2 books, the first is Dune
//   in the default store: ["Dune", "Emma", "Messiah"]
//   bestsellers: ["Emma"]
//   not a bestseller, but by Herbert: ["Dune", "Messiah"]
#if canImport(SwiftData)
  import SwiftData
  let hasSwiftData = true
#else
  let hasSwiftData = false
#endif

@Model
final class Author {
  @Attribute(.unique) var name: String
  @Relationship(deleteRule: .cascade, inverse: \Book.author)
  var books: [Book] = []

  init(name: String) {
    self.name = name
  }
}

@Model
final class Book {
  var title: String
  var copiesSold: Int
  var isRead: Bool = false
  var addedAt: Date = Date.now
  var author: Author?

  init(title: String, copiesSold: Int = 0) {
    self.title = title
    self.copiesSold = copiesSold
  }
}

extension Book {
  static var sampleData: [Book] {
    [Book(title: "Dune", copiesSold: 20), Book(title: "Messiah", copiesSold: 5), Book(title: "Emma", copiesSold: 30)]
  }

  static func bestsellers(over limit: Int) -> Predicate<Book> {
    #Predicate { $0.copiesSold > limit }
  }
}

@main
struct BookshelfApp {
  let container: ModelContainer

  init() throws {
    container = try ModelContainer(for: Author.self, Book.self)
  }

  static func main() async throws {
    print("SwiftData is here:", hasSwiftData)
    let app = try BookshelfApp()
    try await app.fill()
    try app.show()
    try await app.container.close()
    try showAgain()
  }

  func fill() async throws {
    let context = container.mainContext
    let herbert = Author(name: "Herbert")
    let austen = Author(name: "Austen")
    let books = Book.sampleData
    for book in books { context.insert(book) }
    books[0].author = herbert
    books[1].author = herbert
    books[1].isRead = true
    austen.books.append(books[2])
    // The main context saves by itself, at the end of this job.
    for _ in 0..<1000 where context.hasChanges { await Task.yield() }
    print("saved by itself:", !context.hasChanges)
  }

  func show() throws {
    let context = container.mainContext
    let unread = FetchDescriptor<Book>(
      predicate: #Predicate { book in !book.isRead },
      sortBy: [SortDescriptor(\Book.title, comparator: .localizedStandard)])
    print("unread:", try context.fetch(unread).map(\.title))
    var one = FetchDescriptor<Author>(predicate: #Predicate { $0.name == "Herbert" })
    one.fetchLimit = 1
    if let herbert = try context.fetch(one).first {
      let books = herbert.books.sorted { $0.title < $1.title }
      print("\(herbert.name) has \(books.count) books, the first is \(books[0].title)")
    }
  }

  static func showAgain() throws {
    let container = try ModelContainer(for: Book.self)
    let context = ModelContext(container)
    let all = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)])
    print("in the default store:", try context.fetch(all).map(\.title))
    let best = Book.bestsellers(over: 25)
    print("bestsellers:", try context.fetch(FetchDescriptor(predicate: best)).map(\.title))
    let name = "Herbert"
    let byHerbert = #Predicate<Book> { $0.author?.name == name }
    let others = [[best].negation(), byHerbert].conjunction()
    print(
      "not a bestseller, but by Herbert:",
      try context.fetch(FetchDescriptor(predicate: others, sortBy: [SortDescriptor(\.title)])).map(\.title))
  }
}
