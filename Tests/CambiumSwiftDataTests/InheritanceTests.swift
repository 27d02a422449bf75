import CambiumSwiftData
import Foundation
import Testing

@Suite struct InheritanceTests {
  @Test func inheritedPropertiesAreOneModelsBeforeAndAfterInsertion() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let tanker = Tanker(name: "T", load: 3)
    tanker.trailers.append(Trailer(length: 2))
    func check(_ tanker: Tanker) {
      #expect(tanker.name == "T" && tanker.wheels == 6 && tanker.load == 3 && tanker.liquid == "milk")
      #expect(tanker.trailers.map(\.length) == [2] && tanker.trailers[0].vehicle === tanker)
    }
    #expect(tanker.name == "T" && tanker.wheels == 6 && tanker.load == 3 && tanker.liquid == "milk")
    context.insert(tanker)
    check(tanker)
    try context.save()
    check(tanker)
    check(try #require(try ModelContext(container).fetch(FetchDescriptor<Tanker>()).first))
  }

  @Test func aFetchOfTheSuperclassGivesEachModelItsClass() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    for vehicle in [Vehicle(name: "a"), Truck(name: "b", load: 1), Tanker(name: "c", load: 2)] {
      context.insert(vehicle)
    }
    try context.save()
    let other = ModelContext(container)
    let all = try other.all(Vehicle.self, by: \.name)
    #expect(all.map { "\(type(of: $0))" } == ["Vehicle", "Truck", "Tanker"])
    #expect(try other.fetchCount(FetchDescriptor<Truck>()) == 2)
    var only = FetchDescriptor<Truck>()
    only.includesSubclasses = false
    #expect(try other.fetch(only).map(\.name) == ["b"])
    #expect(
      try other.fetch(FetchDescriptor<Truck>(predicate: #Predicate { $0.name == "c" && $0.load == 2 })).count == 1)
    try other.delete(model: Truck.self, includeSubclasses: false)
    try other.save()
    #expect(try ModelContext(container).all(Vehicle.self, by: \.name).map(\.name) == ["a", "c"])
  }

  @Test func aContainerWithoutASubclassSaysSo() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("inherit-\(UUID()).store")
    defer { try? FileManager.default.removeItem(at: file) }
    let full = try ModelContainer(
      for: Vehicle.self, Truck.self, configurations: ModelConfiguration(url: file))
    let context = ModelContext(full)
    context.insert(Truck(name: "t", load: 1))
    try context.save()
    #expect(throws: SwiftDataError.unknownSchema) {
      _ = try ModelContext(full).fetch(FetchDescriptor<Tanker>())
    }
  }
  /// Two versions of a schema may have subclasses of one name.
  @Test func aSubclassOfTheSameNameIsAnotherOne() throws {
    let container = try ModelContainer(
      for: Vehicle.self, Garage1.Van.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    context.insert(Garage1.Van(name: "v"))
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Vehicle>(predicate: #Predicate { $0 is Garage1.Van })) == 1)
    #expect(throws: SwiftDataError.unsupportedPredicate) {
      try context.fetchCount(FetchDescriptor<Vehicle>(predicate: #Predicate { $0 is Garage2.Van }))
    }
  }
}

private enum Garage1 { @Model final class Van: Vehicle {} }
private enum Garage2 { @Model final class Van: Vehicle {} }
