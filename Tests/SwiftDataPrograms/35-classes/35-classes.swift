// What a class may look like: nested types, extensions, computed and private properties, protocols, initial values that are expressions,
// models that make others, and names that are also words of the language.
// Expected output:
//   nested: Store.Order number 1000, items 2
//   made in an initializer: 2 lines, total 7.5
//   private set: 1, after shipping 2
//   initial values: 86400.0, [1, 2, 3], USD, 12, Optional(3)
//   each has its own: true
//   sorted: ["1000", "1001"]
//   hashed: 2
//   names of the language: class repeat
//   set in deinit's place: shipped
//   after a fetch: 1000 2 lines [1, 2, 3] transient 0 shipped
//   protocol: Order 1000, Line pen
//   static: 1000..., lazy: Order 1000!
//   in a generic function: 2 1
//   by key paths: 1000 shipped 2
//   changed by key paths: 1002
//   in another type: Archive has Order 1001
//   convenience: 0 lines
import CambiumSwiftData
import Foundation

protocol Labeled {
  var label: String { get }
}

protocol Totaled {
  var total: Double { get }
}

func seconds(perDay hours: Int = 24) -> Double { Double(hours) * 3600 }

enum Store {
  /// An order, which other modules may see.
  @Model
  public final class Order: Labeled, Totaled, Comparable, @MainActor CustomDebugStringConvertible {
    enum Status: String, Codable { case open, shipped }
    struct Money: Codable, Equatable {
      var amount: Double
      var currency = "USD"
    }

    static let firstNumber = 1000
    fileprivate(set) var number: Int
    private(set) var version: Int = 1
    var status: Status = Status.open
    var lifetime: Double = seconds(perDay: 24)
    var steps: [Int] = Array(1...3)
    var money: Money = Money(amount: 0)
    var month: Int = [3, 12].max() ?? 0
    var maybe: Int? = 3
    var token: UUID = UUID()
    internal var `class`: String = "class"
    var `repeat` = "repeat"
    @Transient var clicks: Int = 0
    @Transient lazy var cached: String = "Order \(number)!"
    @Relationship(deleteRule: .cascade, inverse: \Line.order)
    private(set) var lines: [Line]
    @Relationship
    var archive: Archive?

    /// An order without lines.
    public init(number: Int) {
      self.number = number
      self.lines = []
    }

    init(number: Int, lines names: [String: Double]) {
      self.number = number
      self.lines = names.sorted { $0.key < $1.key }.map { Line(name: $0.key, price: $0.value) }
    }

    convenience init() { self.init(number: Self.firstNumber + 5) }

    var total: Double { lines.reduce(0) { $0 + $1.price } }
    /// Orders come by their numbers.
    public static func < (a: Order, b: Order) -> Bool { a.number < b.number }
    /// For debuggers.
    public var debugDescription: String { "debug" }
  }
}

extension Store.Order {
  @Model
  final class Line: Labeled {
    var name: String
    var price: Double
    var order: Store.Order?
    init(name: String, price: Double) { (self.name, self.price) = (name, price) }
    var label: String { "Line \(name)" }
  }

  var label: String { "Order \(number)" }

  var isShipped: Bool {
    get { status == .shipped }
    set { status = newValue ? .shipped : .open }
  }

  func ship() {
    isShipped = true
    version += 1
  }
}

typealias Order = Store.Order

struct Outer {
  struct Inner {
    @Model final class Archive {
      var name: String = "Archive"
      @Relationship(inverse: \Order.archive) var orders: [Order] = []
      init() {}
    }
  }
}

typealias Archive = Outer.Inner.Archive

func counts<T: PersistentModel>(of type: T.Type, in context: ModelContext) throws -> Int {
  try context.fetchCount(FetchDescriptor<T>())
}

func read<T: PersistentModel, V: Codable>(_ model: T, _ keyPath: KeyPath<T, V>) -> V { model.getValue(forKey: keyPath) }

@main struct Main {
  @MainActor static func main() throws {
    let container = try ModelContainer(for: Order.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let first = Order(number: Order.firstNumber, lines: ["pen": 2.5, "ink": 5])
    print("nested: Store.\(type(of: first)) number \(first.number), items \(first.lines.count)")
    context.insert(first)
    print("made in an initializer: \(first.lines.count) lines, total \(first.total)")
    let before = first.version
    first.ship()
    print("private set: \(before), after shipping \(first.version)")
    print(
      "initial values: \(first.lifetime), \(first.steps), \(first.money.currency), \(first.month), \(first.maybe as Any)"
    )
    let second = Order(number: 1001)
    context.insert(second)
    print("each has its own:", first.token != second.token && first.lines.allSatisfy { $0.order === first })
    try context.save()
    print("sorted:", [second, first].sorted().map { "\($0.number)" })
    print("hashed:", Set([first, second, first]).count)
    print("names of the language:", first.class, first.repeat)
    print("set in deinit's place:", first.isShipped ? "shipped" : "open")
    first.clicks = 5

    let other = ModelContext(container)
    let again = try other.fetch(FetchDescriptor<Order>(sortBy: [SortDescriptor(\.number)]))
    print(
      "after a fetch: \(again[0].number) \(again[0].lines.count) lines \(again[0].steps) transient \(again[0].clicks)",
      again[0].status)
    let labeled: [any Labeled] = [first, first.lines.filter { $0.name == "pen" }[0]]
    print("protocol:", labeled.map(\.label).joined(separator: ", "))
    print("static: \(Order.firstNumber)..., lazy: \(first.cached)")
    print(
      "in a generic function:", try counts(of: Order.Line.self, in: other), try counts(of: Order.self, in: other) - 1)
    print("by key paths:", read(first, \.number), read(first, \.status), first.getValue(forKey: \.lines).count)
    first.setValue(forKey: \.number, to: 1002)
    print("changed by key paths:", first.number)
    let archive = Archive()
    archive.orders = [second]
    context.insert(archive)
    print("in another type: \(archive.name) has \(second.archive?.orders[0].label ?? "-")")
    print("convenience:", Order().lines.count, "lines")
  }
}
