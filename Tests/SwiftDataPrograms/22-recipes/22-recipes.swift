// A book of recipes: steps keep their order by an option that SwiftData lacks; amounts are structures with enumerations in them.
// Expected output:
//   ["Boil", "Fry", "Serve"]
//   moved: ["Serve", "Boil", "Fry"]
//   read again: ["Serve", "Boil", "Fry"]
//   inserted in the middle: ["Serve", "Chop", "Boil", "Fry"] and back: true
//   ingredients: 200 g flour, 2 pieces egg
//   with egg: ["Pancake", "Pasta"]
//   minutes: 12
//   quick: ["Pasta"]
//   long names first: ["Pancake", "Pasta"]
//   a shared ingredient stays: 2
//   steps of the deleted recipe: 1
import CambiumSwiftData
import Foundation

struct Measure: Codable, Hashable {
  enum Unit: String, Codable { case grams = "g", pieces }
  var amount: Double
  var unit: Unit
}

@Model final class Recipe {
  var name: String
  var note: String = ""
  @Relationship(.ordered, deleteRule: .cascade, inverse: \Step.recipe) var steps: [Step] = []
  @Relationship(deleteRule: .cascade, inverse: \Amount.recipe) var amounts: [Amount] = []

  init(_ name: String, steps: [Step] = []) {
    self.name = name
    self.steps = steps
  }

  var minutes: Int { steps.reduce(0) { $0 + $1.minutes } }

  func add(_ amount: Double, _ unit: Measure.Unit, of ingredient: Ingredient) {
    amounts.append(Amount(Measure(amount: amount, unit: unit), ingredient))
  }
}

@Model final class Step {
  var text: String
  var minutes: Int
  var recipe: Recipe?
  init(_ text: String, minutes: Int = 1) {
    self.text = text
    self.minutes = minutes
  }
}

@Model final class Amount {
  var measure: Measure
  @Relationship(deleteRule: .nullify) var ingredient: Ingredient?
  var recipe: Recipe?
  init(_ measure: Measure, _ ingredient: Ingredient) {
    self.measure = measure
    self.ingredient = ingredient
  }
}

@Model final class Ingredient {
  @Attribute(.unique) var name: String
  @Relationship(inverse: \Amount.ingredient) var uses: [Amount] = []
  init(_ name: String) { self.name = name }
}

extension Amount: CustomStringConvertible {
  var description: String {
    "\(measure.amount.formatted0) \(measure.unit.rawValue) \(ingredient?.name ?? "nothing")"
  }
}

extension Double {
  var formatted0: String { String(Int(self)) }
}

@main struct Main {
  static func main() throws {
    let container = try ModelContainer(
      for: Recipe.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let pancake = Recipe("Pancake", steps: [Step("Boil", minutes: 5), Step("Fry", minutes: 6), Step("Serve")])
    let (egg, flour) = (Ingredient("egg"), Ingredient("flour"))
    pancake.add(200, .grams, of: flour)
    pancake.add(2, .pieces, of: egg)
    context.insert(pancake)
    let pasta = Recipe("Pasta", steps: [Step("Knead", minutes: 3)])
    context.insert(pasta)
    pasta.add(3, .pieces, of: egg)
    try context.save()
    print(pancake.steps.map(\.text))

    let last = pancake.steps.removeLast()
    pancake.steps.insert(last, at: 0)
    print("moved:", pancake.steps.map(\.text))
    try context.save()

    let other = ModelContext(container)
    let byName = { (name: String) in
      try other.fetch(FetchDescriptor<Recipe>(predicate: #Predicate { $0.name == name })).first
    }
    guard let read = try byName("Pancake") else { return print("lost") }
    print("read again:", read.steps.map(\.text))
    let chop = Step("Chop", minutes: 0)
    read.steps.insert(chop, at: 1)
    try other.save()
    print("inserted in the middle: \(read.steps.map(\.text)) and back: \(chop.recipe === read)")

    print("ingredients:", read.amounts.map(\.description).joined(separator: ", "))
    let withEgg = FetchDescriptor<Recipe>(
      predicate: #Predicate { $0.amounts.contains { $0.ingredient?.name == "egg" } }, sortBy: [SortDescriptor(\.name)])
    print("with egg:", try other.fetch(withEgg).map(\.name))
    print("minutes:", read.minutes)
    let quick = FetchDescriptor<Recipe>(predicate: #Predicate { $0.steps.allSatisfy { $0.minutes < 5 } })
    print("quick:", try other.fetch(quick).map(\.name))
    let all = try other.fetch(FetchDescriptor<Recipe>())
    print("long names first:", all.sorted { $0.name.count > $1.name.count }.map(\.name))

    other.delete(read)
    try other.save()
    print("a shared ingredient stays:", try other.fetchCount(FetchDescriptor<Ingredient>()))
    print("steps of the deleted recipe:", try other.fetchCount(FetchDescriptor<Step>()))
  }
}
