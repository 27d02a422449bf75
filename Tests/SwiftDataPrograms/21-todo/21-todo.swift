// A list of things to do, with categories and tags: many to many, by two relationships that nobody pairs by hand.
// Expected output:
//   open: ["1 Buy milk", "3 Call Ada", "2 Pay rent"]
//   of home: ["Buy milk", "Pay rent"]
//   tags of milk: ["errand", "food"]
//   tasks of errand: ["Buy milk", "Call Ada"]
//   tagged food or errand: ["Buy milk", "Call Ada"]
//   after the tag is gone: ["food"], 3 tasks
//   overdue: ["Pay rent"]
//   finished: true, by method: true
//   after the category is gone: ["Call Ada"], categories: 1
//   all done: 1, left: 0
import CambiumSwiftData
import Foundation

enum Priority: Int, Codable, CaseIterable, Comparable {
  case low = 1
  case medium
  case high
  static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
}

@Model
class Category {
  @Attribute(.unique)
  var name: String

  @Relationship(deleteRule: .cascade, inverse: \TodoItem.category)
  var items: [TodoItem]?

  init(name: String = "") {
    self.name = name
  }
}

@Model
class Tag {
  @Attribute(.unique) var title: String
  var items: [TodoItem] = []

  init(_ title: String) {
    self.title = title
  }
}

@Model
class TodoItem: Identifiable {
  var id: UUID
  var title: String
  var dueDate: Date
  var priority: Priority
  private(set) var isDone: Bool
  private(set) var finishedAt: Date?
  var category: Category?
  var tags: [Tag] = []

  init(
    id: UUID = UUID(), _ title: String, due: Date = .now, priority: Priority = .low, category: Category? = nil
  ) {
    self.id = id
    self.title = title
    self.dueDate = due
    self.priority = priority
    self.isDone = false
    self.category = category
  }

  var isOverdue: Bool { !isDone && dueDate < .now }

  func finish(at date: Date = .now) {
    isDone = true
    finishedAt = date
  }
}

let schema = Schema([
  TodoItem.self,
  Category.self,
  Tag.self,
])

@main
struct TodoApp {
  static func main() throws {
    let configuration = ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)
    let container = try ModelContainer(for: schema, configurations: [configuration])
    let context = ModelContext(container)

    let home = Category(name: "Home")
    let friends = Category(name: "Friends")
    let (food, errand) = (Tag("food"), Tag("errand"))
    let milk = TodoItem("Buy milk", due: .now.addingTimeInterval(3600), category: home)
    milk.tags = [food, errand]
    let rent = TodoItem("Pay rent", due: .now.addingTimeInterval(-3600), priority: .medium, category: home)
    let call = TodoItem("Call Ada", due: .now.addingTimeInterval(7200), priority: .high, category: friends)
    errand.items.append(call)
    for item in [milk, rent, call] { context.insert(item) }
    try context.save()

    let open = FetchDescriptor<TodoItem>(
      predicate: #Predicate { $0.isDone == false }, sortBy: [SortDescriptor(\.title)])
    print("open:", try context.fetch(open).map { "\($0.priority.rawValue) \($0.title)" })
    print("of home:", (home.items ?? []).map(\.title).sorted())
    print("tags of milk:", milk.tags.map(\.title).sorted())
    print("tasks of errand:", errand.items.map(\.title).sorted())
    let wanted = ["food", "errand"]
    let tagged = FetchDescriptor<TodoItem>(
      predicate: #Predicate { item in item.tags.contains { wanted.contains($0.title) } },
      sortBy: [SortDescriptor(\.title)])
    print("tagged food or errand:", try context.fetch(tagged).map(\.title))

    context.delete(errand)
    try context.save()
    print(
      "after the tag is gone: \(milk.tags.map(\.title)), \(try context.fetchCount(FetchDescriptor<TodoItem>())) tasks")

    let now = Date.now
    let overdue = FetchDescriptor<TodoItem>(predicate: #Predicate { !$0.isDone && $0.dueDate < now })
    let late = try context.fetch(overdue)
    print("overdue:", late.map(\.title))
    late[0].finish()
    print("finished: \(rent.isDone && rent.finishedAt != nil), by method: \(!rent.isOverdue)")
    try context.save()

    context.delete(home)
    try context.save()
    let left = try context.fetch(FetchDescriptor<TodoItem>())
    let categories = try context.fetchCount(FetchDescriptor<Category>())
    print("after the category is gone: \(left.map(\.title)), categories: \(categories)")

    left.forEach { $0.finish() }
    let done = #Predicate<TodoItem> { $0.isDone && $0.finishedAt != nil }
    let count = try context.fetchCount(FetchDescriptor(predicate: done))
    try context.delete(model: TodoItem.self, where: done)
    try context.save()
    print("all done: \(count), left: \(try context.fetchCount(FetchDescriptor<TodoItem>()))")
  }
}
