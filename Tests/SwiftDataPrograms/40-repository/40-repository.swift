// The layers that many put around a store: a shared container, a generic repository behind a protocol, a view model, sample data, a
// filter that is put together at run time, and an exporter that knows no class.
// Expected output:
//   shared: 3 items
//   items: ["Beer", "Apple", "Corn"]
//   filtered by text: ["Corn"], by price: ["Apple", "Corn"], by both: ["Apple"], by neither: 3
//   view model: 3 items, 14 in all, told true
//   removed at offsets: ["Apple", "Corn"]
//   updated: 2
//   first by id: Corn
//   exported: Item: [name, order, price, quantity, tags, unit]
//   any: ["Item", "Item", "Unit"]
//   duplicate: Corn copy, other identity true
//   groups: ["kg": 2, "none": 1]
//   deleted all: 0, units 1
//   preview: 3
import CambiumSwiftData
import Foundation
import Observation
import Synchronization

@Model
final class Item {
  var name: String
  var price: Decimal
  var quantity: Int
  var order: Int
  var tags: Set<String> = []
  var unit: Unit?

  init(name: String, price: Decimal, quantity: Int = 1, order: Int = 0, unit: Unit? = nil) {
    self.name = name
    self.price = price
    self.quantity = quantity
    self.order = order
    self.unit = unit
  }

  func duplicate() -> Item {
    Item(name: name + " copy", price: price, quantity: quantity, order: order + 1, unit: unit)
  }
}

@Model
final class Unit {
  @Attribute(.unique) var symbol: String
  @Relationship(deleteRule: .nullify, inverse: \Item.unit) var items: [Item]? = []
  init(symbol: String) { self.symbol = symbol }
}

protocol Repository<Model> {
  associatedtype Model
  func all() throws -> [Model]
  func add(_ model: Model)
  func remove(_ model: Model) throws
}

struct ModelRepository<Model: PersistentModel>: Repository {
  let context: ModelContext
  var order: [SortDescriptor<Model>] = []

  func all() throws -> [Model] { try context.fetch(FetchDescriptor(sortBy: order)) }
  func find(where predicate: Predicate<Model>) throws -> [Model] {
    try context.fetch(FetchDescriptor(predicate: predicate, sortBy: order))
  }
  func find(_ id: Model.ID) throws -> Model? where Model.ID == PersistentIdentifier {
    var descriptor = FetchDescriptor<Model>(predicate: #Predicate { $0.persistentModelID == id })
    descriptor.fetchLimit = 1
    return try context.fetch(descriptor).first
  }
  func add(_ model: Model) { context.insert(model) }
  func remove(_ model: Model) throws {
    context.delete(model)
    try context.save()
  }
}

struct Filter {
  var text = ""
  var maximum: Decimal?

  var predicate: Predicate<Item> {
    var parts: [Predicate<Item>] = []
    if !text.isEmpty {
      let text = text
      parts.append(#Predicate { $0.name.localizedStandardContains(text) })
    }
    if let maximum { parts.append(#Predicate { $0.price <= maximum }) }
    return parts.conjunction()
  }
}

@MainActor
@Observable
final class ItemsModel {
  private let repository: ModelRepository<Item>
  private(set) var items: [Item] = []
  var total: Int { items.reduce(0) { $0 + $1.quantity } }

  init(context: ModelContext) throws {
    repository = ModelRepository(context: context, order: [SortDescriptor(\.name)])
    try reload()
  }

  func reload() throws { items = try repository.all() }

  func remove(at offsets: IndexSet) throws {
    for offset in offsets { try repository.remove(items[offset]) }
    try reload()
  }
}

@MainActor
enum Shared {
  static let container: ModelContainer = {
    do {
      return try ModelContainer(
        for: Schema([Item.self, Unit.self]), configurations: [ModelConfiguration(isStoredInMemoryOnly: true)])
    } catch {
      fatalError("Could not create ModelContainer: \(error)")
    }
  }()

  static let preview: ModelContainer = {
    let container = try? ModelContainer(for: Item.self, configurations: .init(isStoredInMemoryOnly: true))
    guard let container else { fatalError("no preview") }
    addSamples(to: container.mainContext)
    return container
  }()

  static func addSamples(to context: ModelContext) {
    let kilogram = Unit(symbol: "kg")
    context.insert(kilogram)
    context.insert(Item(name: "Beer", price: 9, quantity: 6))
    context.insert(Item(name: "Apple", price: 2, quantity: 3, order: 1, unit: kilogram))
    context.insert(Item(name: "Corn", price: 5, quantity: 5, order: 2, unit: kilogram))
  }
}

func export(_ entity: Schema.Entity) -> String {
  "\(entity.name): [\(entity.properties.map(\.name).sorted().joined(separator: ", "))]"
}

@main struct Main {
  @MainActor static func main() throws {
    let context = Shared.container.mainContext
    Shared.addSamples(to: context)
    try context.save()
    print("shared:", try context.fetchCount(FetchDescriptor<Item>()), "items")
    let repository = ModelRepository<Item>(context: context, order: [SortDescriptor(\.order), SortDescriptor(\.name)])
    print("items:", try repository.all().map(\.name))
    func filtered(_ filter: Filter) throws -> [String] { try repository.find(where: filter.predicate).map(\.name) }
    print(
      "filtered by text: \(try filtered(Filter(text: "cor"))),",
      "by price: \(try filtered(Filter(maximum: 5))),",
      "by both: \(try filtered(Filter(text: "A", maximum: 5))), by neither: \(try filtered(Filter()).count)")

    let model = try ItemsModel(context: context)
    let isTold = Mutex(false)
    withObservationTracking {
      _ = model.total
    } onChange: {
      isTold.withLock { $0 = true }
    }
    model.items[0].quantity += 0
    print("view model: \(model.items.count) items, \(model.total) in all, told \(isTold.withLock { $0 })")
    try model.remove(at: IndexSet(integer: 1))
    print("removed at offsets:", model.items.map(\.name))
    var updated = 0
    for item in model.items where item.unit?.symbol == "kg" {
      item.tags.insert("fresh")
      updated += item.hasChanges ? 1 : 0
    }
    try context.save()
    print("updated:", updated)
    let corn = try repository.find(model.items[1].persistentModelID)
    print("first by id:", corn?.name ?? "-")
    if let entity = Shared.container.schema.entity(for: Item.self) { print("exported:", export(entity)) }
    var anything: [any PersistentModel] = model.items
    anything += try context.fetch(FetchDescriptor<Unit>()) as [any PersistentModel]
    print("any:", anything.map { "\(type(of: $0))" })
    if let copy = corn?.duplicate() {
      context.insert(copy)
      print("duplicate: \(copy.name), other identity \(copy != corn && copy.id != corn?.id)")
      copy.unit = nil
    }
    try context.save()
    let groups = Dictionary(grouping: try repository.all()) { $0.unit?.symbol ?? "none" }
    print("groups: [\(groups.map { "\"\($0)\": \($1.count)" }.sorted().joined(separator: ", "))]")
    try context.delete(model: Item.self)
    try context.save()
    print("deleted all: \(try repository.all().count), units \(try context.fetchCount(FetchDescriptor<Unit>()))")
    print("preview:", try Shared.preview.mainContext.fetchCount(FetchDescriptor<Item>()))
  }
}
