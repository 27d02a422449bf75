// A tracker of expenses: prices are decimals, and sums, averages, groups and distinct values are the store's work.
// Expected output:
//   total 60.6, of 4 expenses, 3 with a note
//   least 0.5, greatest 39.9, average tip 1.5, of none nil
//   food: 2, 20.2, tip 2.0
//   rent: 1, 39.9, tip nil
//   travel: 1, 0.5, tip 1.0
//   categories: ["food", "rent", "travel"]
//   prices of food: [12.5, 7.7]
//   shops: ["Kiwi", "Meny"]
//   cities: ["Bergen", "Oslo"]
//   over ten: ["Lunch", "October"]
//   exact: ["Lunch"]
//   oldest first: ["October", "Lunch", "Snack", "Tram"]
//   this week: 3
//   tips of minutes: 3 of 9
//   unsaved does not count: 4
//   payers: Ada 2, nobody 2
import CambiumSwiftData
import Foundation

enum Category: String, Codable, CaseIterable { case food, rent, travel }

struct Address: Codable, Equatable {
  var street: String
  var city: String
}

@Model final class Expense {
  #Index<Expense>([\.date], [\.category, \.price])
  var title: String
  var price: Decimal
  var tip: Double?
  var note: String?
  var minutes: Int
  var date: Date
  var category: Category
  var shop: Shop?
  var address: Address?
  var payer: Payer?

  init(
    _ title: String, _ price: Decimal, _ category: Category, daysAgo: Double, tip: Double? = nil, note: String? = nil
  ) {
    self.title = title
    self.price = price
    self.category = category
    self.tip = tip
    self.note = note
    minutes = Int(daysAgo)
    date = Date.now.addingTimeInterval(-daysAgo * 24 * 60 * 60)
  }
}

@Model final class Shop {
  @Attribute(.unique) var name: String
  @Relationship(inverse: \Expense.shop) var expenses: [Expense] = []
  init(name: String) { self.name = name }
}

@Model final class Payer {
  var name: String
  @Relationship(inverse: \Expense.payer) var expenses: [Expense] = []
  init(name: String) { self.name = name }
}

@main struct Main {
  static func main() throws {
    let container = try ModelContainer(
      for: Expense.self, Shop.self, Payer.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let lunch = Expense("Lunch", Decimal(string: "12.5") ?? 0, .food, daysAgo: 2, tip: 2, note: "with Bo")
    let snack = Expense("Snack", Decimal(string: "7.7") ?? 0, .food, daysAgo: 1, note: "late")
    let tram = Expense("Tram", Decimal(string: "0.5") ?? 0, .travel, daysAgo: 0, tip: 1)
    let october = Expense("October", Decimal(string: "39.9") ?? 0, .rent, daysAgo: 6, note: "high")
    let (kiwi, meny) = (Shop(name: "Kiwi"), Shop(name: "Meny"))
    lunch.shop = kiwi
    snack.shop = meny
    tram.shop = kiwi
    lunch.address = Address(street: "a", city: "Oslo")
    snack.address = Address(street: "b", city: "Bergen")
    let ada = Payer(name: "Ada")
    ada.expenses = [lunch, october]
    for expense in [lunch, snack, tram, october] { context.insert(expense) }
    context.insert(ada)
    try context.save()

    let all = FetchDescriptor<Expense>()
    let total = try context.aggregate(.sum(\.price), of: all)
    let count = try context.aggregate(.count, of: all)
    print("total \(total), of \(count) expenses, \(try context.aggregate(.count(\.note), of: all)) with a note")
    let none = FetchDescriptor<Expense>(predicate: #Predicate { $0.title == "nothing" })
    let least = try context.aggregate(.minimum(\.price), of: all)
    let greatest = try context.aggregate(.maximum(\.price), of: all)
    let average = try context.aggregate(.average(\.tip), of: all)
    let missing = try context.aggregate(.maximum(\.tip), of: none)
    print(
      "least \(least ?? -1), greatest \(greatest ?? -1), average tip \(average ?? -1),",
      "of none \(missing.map { "\($0)" } ?? "nil")")
    for (category, (number, sum, tip)) in try context.aggregate(
      .count, .sum(\.price), .average(\.tip), by: \.category, of: all)
    {
      print("\(category): \(number), \(sum), tip \(tip.map { "\($0)" } ?? "nil")")
    }
    print("categories:", try context.values(of: \.category, all, distinct: true).map(\.rawValue).sorted())
    let food = Category.food
    let foods = FetchDescriptor<Expense>(
      predicate: #Predicate { $0.category == food }, sortBy: [SortDescriptor(\.price, order: .reverse)])
    print("prices of food:", try context.values(of: \.price, foods))
    let withShop = FetchDescriptor<Expense>(predicate: #Predicate { $0.shop != nil })
    print("shops:", try context.values(of: \.shop?.name, withShop, distinct: true).compactMap { $0 }.sorted())
    let withAddress = FetchDescriptor<Expense>(predicate: #Predicate { $0.address != nil })
    print("cities:", try context.values(of: \.address?.city, withAddress, distinct: true).compactMap { $0 }.sorted())
    let ten = Decimal(10)
    let over = FetchDescriptor<Expense>(predicate: #Predicate { $0.price > ten }, sortBy: [SortDescriptor(\.title)])
    print("over ten:", try context.fetch(over).map(\.title))
    let exact = lunch.price
    print(
      "exact:", try context.fetch(FetchDescriptor<Expense>(predicate: #Predicate { $0.price == exact })).map(\.title))
    print("oldest first:", try context.fetch(FetchDescriptor<Expense>(sortBy: [SortDescriptor(\.date)])).map(\.title))
    let week = Date.now.addingTimeInterval(-5 * 24 * 60 * 60)
    print("this week:", try context.fetchCount(FetchDescriptor<Expense>(predicate: #Predicate { $0.date >= week })))
    let minutes = try context.aggregate(.sum(\.minutes), of: all)
    let most = try context.aggregate(
      .maximum(\.minutes), of: FetchDescriptor<Expense>(predicate: #Predicate { $0.minutes < 6 }))
    print("tips of minutes: \((most ?? 0) + 1) of \(minutes)")
    context.insert(Expense("Unsaved", 1, .food, daysAgo: 0))
    print("unsaved does not count:", try context.aggregate(.count, of: all))
    context.rollback()
    let payers = try context.aggregate(.count, by: \.payer?.name, of: all)
    let byName = payers.map { "\($0.key ?? "nobody") \($0.values)" }.sorted()
    print("payers:", byName.joined(separator: ", "))
  }
}
