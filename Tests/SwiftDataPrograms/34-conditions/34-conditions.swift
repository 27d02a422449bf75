// Conditions of all kinds, each answered by the store.
// Expected output:
//   compare: ["Dune", "Emma"] ["Ulysses"] ["Emma"]
//   arithmetic: ["Ulysses"] ["Dune", "Ulysses"] ["Dune"]
//   text: ["Dune"] ["Emma"] ["Dune"] ["Emma", "Ulysses"]
//   two steps: ["Dune", "Emma"] ["Ulysses"] ["Dune", "Emma"]
//   choice: ["Dune", "Ulysses"] ["Emma"] ["Dune"]
//   sets: ["Emma"] ["Dune", "Ulysses"] ["Dune", "Emma"]
//   ranges: ["Dune"] ["Dune", "Emma"] ["Ulysses"]
//   to-many: ["Dune"] ["Ulysses"] ["Dune"] ["Emma", "Ulysses"] ["Dune"]
//   enumerations: ["Emma"] ["Dune", "Emma"] ["Ulysses"] ["Dune"]
//   composites: ["Dune"] ["Dune", "Emma"] ["Emma"]
//   identifiers: ["Emma"] ["Dune"] ["Dune", "Ulysses"] ["Dune"] ["Ulysses"]
//   dates: ["Dune"] ["Dune", "Emma", "Ulysses"] ["Emma", "Ulysses"]
//   joined: ["Dune"] ["Dune", "Emma"] ["Ulysses"] ["Dune", "Emma", "Ulysses"] []
//   other types: ["Emma"] ["Emma"] ["Dune"]
//   ordered: ["Dune"]
//   refused: tags headline reviews
import CambiumSwiftData
import Foundation

enum Binding: String, Codable { case hard, soft }
enum Grade: Int, Codable { case low = 1, high = 9 }

struct Size: Codable, Equatable {
  var width: Double
  var height: Double
  var unit: Unit?
  enum Unit: String, Codable { case cm, inch }
}

@Model final class Country {
  var name: String
  var code: String?
  @Relationship(inverse: \Publisher.country) var publishers: [Publisher] = []
  init(_ name: String) { self.name = name }
}

@Model final class Publisher {
  var name: String
  var country: Country?
  @Relationship(inverse: \Book.publisher) var books: [Book] = []
  init(_ name: String, in country: Country?) {
    self.name = name
    self.country = country
  }
}

@Model final class Book {
  var title: String
  var subtitle: String?
  var pages: Int
  var rating: Double?
  var binding: Binding
  var grade: Grade?
  var size: Size?
  var isbn: UUID
  var site: URL?
  var isLent: Bool
  var published: Date
  var lentUntil: Date?
  var tags: [String] = []
  var publisher: Publisher?
  @Relationship(deleteRule: .cascade, inverse: \Review.book) var reviews: [Review] = []
  @Relationship(.ordered) var lines: [Line] = []

  init(_ title: String, pages: Int, binding: Binding, published: Date, isbn: UUID = UUID()) {
    self.title = title
    self.pages = pages
    self.binding = binding
    self.published = published
    self.isbn = isbn
    isLent = false
  }

  var headline: String { title.uppercased() }
}

@Model final class Line {
  var text: String
  init(text: String) { self.text = text }
}

@Model final class Review {
  var stars: Int
  var by: String
  var book: Book?
  init(_ stars: Int, by: String) {
    self.stars = stars
    self.by = by
  }
}

@main struct Main {
  static func day(_ number: Double) -> Date { Date(timeIntervalSince1970: number * 86_400) }

  static func main() throws {
    let container = try ModelContainer(for: Book.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let isbn = UUID()
    let dune = Book("Dune", pages: 400, binding: .soft, published: day(100))
    let emma = Book("Emma", pages: 300, binding: .hard, published: day(-200), isbn: isbn)
    let ulysses = Book("Ulysses", pages: 900, binding: .soft, published: day(-50))
    let norway = Country("Norway")
    norway.code = "NO"
    let press = Publisher("Press", in: norway)
    dune.publisher = press
    emma.publisher = press
    ulysses.publisher = Publisher("Lonely", in: nil)
    dune.subtitle = "Desert planet"
    dune.rating = 4.5
    dune.lines = [Line(text: "first"), Line(text: "second")]
    dune.grade = .high
    dune.size = Size(width: 10, height: 20, unit: .cm)
    emma.size = Size(width: 12, height: 18)
    emma.grade = .low
    emma.site = URL(string: "https://emma.org")
    emma.isLent = true
    dune.lentUntil = Date.now.addingTimeInterval(3600)
    dune.reviews = [Review(5, by: "Ada"), Review(3, by: "Bo")]
    ulysses.reviews = [Review(1, by: "Bo")]
    for book in [dune, emma, ulysses] { context.insert(book) }
    try context.save()

    func books(_ predicate: Predicate<Book>) throws -> [String] {
      try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.title)])).map(\.title)
    }
    print(
      "compare:", try books(#Predicate { $0.pages <= 400 }), try books(#Predicate { $0.title > "Emma" }),
      try books(#Predicate { $0.isLent == true }))
    print(
      "arithmetic:", try books(#Predicate { $0.pages - 100 > 300 }),
      try books(#Predicate { $0.pages % 200 == 0 || $0.pages / 3 == 300 }), try books(#Predicate { $0.rating ?? 0 > 4 })
    )
    // swift-format-ignore: NeverForceUnwrap
    print(
      "text:", try books(#Predicate { $0.title.starts(with: "Du") }), try books(#Predicate { $0.title.contains("mm") }),
      try books(#Predicate { $0.subtitle?.localizedStandardContains("PLANET") == true }),
      try books(#Predicate { $0.subtitle == nil || $0.subtitle!.isEmpty }))
    let no = "NO"
    print(
      "two steps:", try books(#Predicate { $0.publisher?.country?.code == no }),
      try books(#Predicate { $0.publisher?.country == nil }),
      try books(#Predicate { $0.publisher?.country?.name.contains("way") ?? false }))
    let longBooks = true
    print(
      "choice:", try books(#Predicate { longBooks ? $0.pages > 300 : $0.pages <= 300 }),
      try books(#Predicate { if $0.isLent { $0.pages == 300 } else { $0.pages == 0 } }),
      try books(#Predicate { if let text = $0.subtitle { text.contains("planet") } else { false } }))
    let titles: Set<String> = ["Emma", "Other"]
    let sizes = [400, 900]
    print(
      "sets:", try books(#Predicate { titles.contains($0.title) }), try books(#Predicate { sizes.contains($0.pages) }),
      try books(#Predicate { !["Ulysses"].contains($0.title) }))
    let range = 301...400
    print(
      "ranges:", try books(#Predicate { range.contains($0.pages) }),
      try books(#Predicate { (0..<900).contains($0.pages) }),
      try books(#Predicate { $0.pages >= 900 }))
    print(
      "to-many:", try books(#Predicate { $0.reviews.contains { $0.stars == 5 } }),
      try books(#Predicate { !$0.reviews.isEmpty && $0.reviews.allSatisfy { $0.by == "Bo" } }),
      try books(#Predicate { $0.reviews.count == 2 }),
      try books(#Predicate { $0.reviews.filter { $0.stars > 2 }.isEmpty }),
      try books(#Predicate { $0.reviews.filter { $0.stars > 2 }.count > 1 }))
    let (hard, high) = (Binding.hard, Grade.high)
    let grades: [Grade?] = [.low, .high]
    print(
      "enumerations:", try books(#Predicate { $0.binding == hard }),
      try books(#Predicate { grades.contains($0.grade) }),
      try books(#Predicate { $0.grade == nil }), try books(#Predicate { $0.grade == high && $0.binding != hard }))
    let cm = Size.Unit.cm
    print(
      "composites:", try books(#Predicate { $0.size?.unit == cm }), try books(#Predicate { $0.size != nil }),
      try books(#Predicate { ($0.size?.width ?? 0) > 11 }))
    let id = dune.persistentModelID
    let ids = [dune.id, ulysses.id]
    let lonely = ulysses.publisher?.persistentModelID
    print(
      "identifiers:", try books(#Predicate { $0.persistentModelID != id && $0.isLent }),
      try books(#Predicate { $0.id == id }), try books(#Predicate { ids.contains($0.persistentModelID) }),
      try books(#Predicate { $0.reviews.contains { $0.book?.persistentModelID == id } }),
      try books(#Predicate { $0.publisher?.persistentModelID == lonely }))
    let now = Date.now
    let (epoch, until) = (day(0), day(50))
    // swift-format-ignore: NeverForceUnwrap
    print(
      "dates:", try books(#Predicate { $0.lentUntil != nil && $0.lentUntil! > now }),
      try books(#Predicate { $0.published < now }),
      try books(#Predicate { $0.published < until || $0.published < epoch }))
    let soft = #Predicate<Book> { $0.binding != hard }
    let short = #Predicate<Book> { $0.pages < 500 }
    print(
      "joined:", try books([soft, short].conjunction()),
      try books([short, #Predicate { $0.title == "Emma" }].disjunction()), try books([short].negation()),
      try books([Predicate<Book>]().conjunction()), try books([Predicate<Book>]().disjunction()))
    let site = URL(string: "https://emma.org")
    print(
      "other types:", try books(#Predicate { $0.isbn == isbn }), try books(#Predicate { $0.site == site }),
      try books(#Predicate { $0.rating == 4.5 }))
    print("ordered:", try books(#Predicate { $0.lines[1].text == "second" }))

    var refused: [String] = []
    func isRefused(_ name: String, _ predicate: Predicate<Book>) throws {
      do { _ = try books(predicate) } catch SwiftDataError.unsupportedPredicate { refused.append(name) }
    }
    try isRefused("tags", #Predicate { $0.tags.contains("x") })
    try isRefused("headline", #Predicate { $0.headline == "DUNE" })
    try isRefused("reviews", #Predicate { $0.reviews[0].stars == 5 })
    print("refused:", refused.joined(separator: " "))
  }
}
