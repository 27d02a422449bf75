// A reader of articles in pages: limits, offsets, batches, walks, identifiers.
// Expected output:
//   page 0: ["Article 1", "Article 2", "Article 3"]
//   page 3: ["Article 10"]
//   page 9: []
//   limited count: 2
//   batches: 10, the last is Article 10, a slice: ["Article 3", "Article 4"]
//   identifiers: 10, in batches: 10, the first is Article 1
//   walked 10, 55 words
//   changes on the way are refused: true
//   changes on the way: 10 read
//   stopped at: Article 4
//   newest first, then by name: ["Article 10", "Article 9"]
//   authors in order: ["a", "B", "c", "Z10", "Z9"]
//   authors as letters stand: ["B", "Z10", "Z9", "a", "c"]
//   authors with numbers: ["a", "B", "c", "Z9", "Z10"]
//   the same by name: ["a", "B", "c", "Z9", "Z10"]
//   backwards: ["Z10", "Z9", "c", "B", "a"]
//   unsaved: with 11, without 10
//   an order that no store knows: true
import CambiumSwiftData
import Foundation

@Model final class Article {
  var title: String
  var number: Int
  var words: Int
  var isRead = false
  var author: String
  var section: Section?

  init(number: Int, author: String) {
    title = "Article \(number)"
    self.number = number
    words = number
    self.author = author
  }

  var headline: String { title.uppercased() }
}

@Model final class Section {
  var name: String
  var articles = [Article]()
  init(name: String) { self.name = name }
}

struct Stop: Error {}

@main enum Reader {
  static func main() throws {
    let container = try ModelContainer(
      for: Article.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let writer = ModelContext(container)
    let section = Section(name: "News")
    writer.insert(section)
    let authors = ["a", "B", "c", "Z10", "Z9"]
    for number in 1...10 { section.articles.append(Article(number: number, author: authors[number % 5])) }
    try writer.save()

    let context = ModelContext(container)
    func page(_ number: Int, size: Int = 3) -> FetchDescriptor<Article> {
      var descriptor = FetchDescriptor<Article>(sortBy: [SortDescriptor(\.number)])
      descriptor.fetchLimit = size
      descriptor.fetchOffset = number * size
      return descriptor
    }
    print("page 0:", try context.fetch(page(0)).map(\.title))
    print("page 3:", try context.fetch(page(3)).map(\.title))
    print("page 9:", try context.fetch(page(9)).map(\.title))
    print("limited count:", try context.fetchCount(page(1, size: 2)))

    let ordered = FetchDescriptor<Article>(sortBy: [SortDescriptor(\.number, order: .forward)])
    let batches = try context.fetch(ordered, batchSize: 4)
    print(
      "batches: \(batches.count), the last is \(batches[batches.endIndex - 1].title),",
      "a slice: \(batches[(batches.startIndex + 2)..<4].map(\.title))")
    let identifiers = try context.fetchIdentifiers(ordered)
    let inBatches = try context.fetchIdentifiers(ordered, batchSize: 3)
    let first = context.model(for: identifiers[0]) as? Article
    print("identifiers: \(identifiers.count), in batches: \(inBatches.count), the first is \(first?.title ?? "-")")

    var (walked, words) = (0, 0)
    try context.enumerate(FetchDescriptor<Article>()) { article in
      walked += 1
      words += article.words
    }
    print("walked \(walked), \(words) words")
    do {
      try context.enumerate(ordered, batchSize: 2) { $0.isRead = true }
      print("changes on the way are refused: false")
    } catch {
      print("changes on the way are refused: true")
    }
    context.rollback()
    try context.enumerate(ordered, batchSize: 2, allowEscapingMutations: true) { $0.isRead = true }
    try context.save()
    let read = try context.fetchCount(FetchDescriptor<Article>(predicate: #Predicate { $0.isRead }))
    print("changes on the way:", read, "read")
    var last = ""
    do {
      try context.enumerate(ordered) { article in
        last = article.title
        if article.number == 4 { throw Stop() }
      }
    } catch is Stop {
      print("stopped at:", last)
    }

    var newest = FetchDescriptor<Article>(
      sortBy: [SortDescriptor(\.section?.name), SortDescriptor(\.number, order: .reverse)])
    newest.fetchLimit = 2
    newest.relationshipKeyPathsForPrefetching = [\.section]
    print("newest first, then by name:", try context.fetch(newest).map(\.title))

    func distinctAuthors(_ order: SortDescriptor<Article>) throws -> [String] {
      var seen = Set<String>()
      return try context.fetch(FetchDescriptor(sortBy: [order])).map(\.author).filter { seen.insert($0).inserted }
    }
    print(
      "authors in order:", try distinctAuthors(SortDescriptor(\.author)).sorted { $0.lowercased() < $1.lowercased() })
    print("authors as letters stand:", try distinctAuthors(SortDescriptor(\.author, comparator: .lexical)))
    print("authors with numbers:", try distinctAuthors(SortDescriptor(\.author)))
    print("the same by name:", try distinctAuthors(SortDescriptor(\.author, comparator: .localizedStandard)))
    print("backwards:", try distinctAuthors(SortDescriptor(\.author, comparator: .localizedStandard, order: .reverse)))

    context.insert(Article(number: 11, author: "c"))
    var saved = FetchDescriptor<Article>()
    let with = try context.fetchCount(saved)
    saved.includePendingChanges = false
    print("unsaved: with \(with), without \(try context.fetch(saved).count)")
    do {
      _ = try context.fetch(FetchDescriptor<Article>(sortBy: [SortDescriptor(\.headline)]))
      print("an order that no store knows: false")
    } catch SwiftDataError.unsupportedSortDescriptor {
      print("an order that no store knows: true")
    }
  }
}
