import CambiumSwiftData
import Foundation
import Testing

/// Each predicate is asked while nothing is saved, and again when everything is.
@Suite struct PredicateTests {
  private struct Scene {
    let context: ModelContext
    let ada: Person
    let grace: Person

    init(isSaved: Bool) throws {
      context = ModelContext(try makeContainer())
      ada = Person("Ada", age: 36, nickname: "Enchantress")
      ada.address = Address(street: "a", city: "London", zip: 1, place: Place(latitude: 51, longitude: 0))
      ada.papers = [Paper("Notes", pages: 66), Paper("Engine", pages: 40)]
      ada.papers[0].topics = [Topic("engines"), Topic("numbers")]
      grace = Person("Grace", age: 85)
      grace.rank = .admiral
      grace.papers = [Paper("Cobol", pages: 10)]
      for model in [ada, grace, Person("Adrian", age: 50, nickname: "Ed")] { context.insert(model) }
      context.insert(Paper("Lost", pages: 1))
      for vehicle in [Vehicle(name: "car"), Truck(name: "truck", load: 5), Tanker(name: "tanker", load: 9)] {
        vehicle.trailers = [Trailer(length: vehicle.name.count)]
        context.insert(vehicle)
      }
      if isSaved { try context.save() }
    }

    func people(_ predicate: Foundation.Predicate<Person>) throws -> [String] {
      try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])).map(\.name)
    }

    func papers(_ predicate: Foundation.Predicate<Paper>) throws -> [String] {
      try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.title)])).map(\.title)
    }

    func vehicles(_ predicate: Foundation.Predicate<Vehicle>) throws -> [String] {
      try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])).map(\.name)
    }
  }

  @Test(arguments: [false, true]) func fieldsOfStructures(isSaved: Bool) throws {
    let scene = try Scene(isSaved: isSaved)
    #expect(try scene.people(#Predicate { $0.address?.city == "London" }) == ["Ada"])
    #expect(try scene.people(#Predicate { $0.address == nil }) == ["Adrian", "Grace"])
    #expect(try scene.people(#Predicate { ($0.address?.place?.latitude ?? 0) > 50 }) == ["Ada"])
    #expect(try scene.papers(#Predicate { $0.author?.address?.city == "London" }) == ["Engine", "Notes"])
  }

  @Test(arguments: [false, true]) func enumerations(isSaved: Bool) throws {
    let scene = try Scene(isSaved: isSaved)
    let admiral = Rank.admiral
    #expect(try scene.people(#Predicate { $0.rank == admiral }) == ["Grace"])
    #expect(throws: SwiftDataError.unsupportedPredicate) { _ = try scene.people(#Predicate { $0.rank.rawValue > 0 }) }
    scene.context.insert(Values())
    let calm = FetchDescriptor<Values>(predicate: #Predicate { $0.mood.rawValue == "calm" })
    #expect(try scene.context.fetchCount(calm) == 1)
    let title = FetchDescriptor<Values>(predicate: #Predicate { $0.mood.title == "calm" })
    #expect(throws: SwiftDataError.unsupportedPredicate) { _ = try scene.context.fetchCount(title) }
    let ranks: [Rank] = [.civil]
    #expect(try scene.people(#Predicate { ranks.contains($0.rank) }) == ["Ada", "Adrian"])
  }

  @Test(arguments: [false, true]) func identifiers(isSaved: Bool) throws {
    let scene = try Scene(isSaved: isSaved)
    let id = scene.ada.persistentModelID
    let ids = [id, scene.grace.persistentModelID]
    #expect(try scene.people(#Predicate { $0.persistentModelID == id }) == ["Ada"])
    #expect(try scene.people(#Predicate { $0.id != id }) == ["Adrian", "Grace"])
    #expect(try scene.people(#Predicate { ids.contains($0.persistentModelID) }) == ["Ada", "Grace"])
    #expect(try scene.papers(#Predicate { $0.author?.persistentModelID == id }) == ["Engine", "Notes"])
    #expect(try scene.people(#Predicate { $0.papers.contains { $0.title == "Cobol" } }) == ["Grace"])
    let paper = scene.ada.papers[1].persistentModelID
    #expect(try scene.people(#Predicate { $0.papers.contains { $0.persistentModelID == paper } }) == ["Ada"])
  }

  @Test(arguments: [false, true]) func relationshipsOverSeveralLevels(isSaved: Bool) throws {
    let scene = try Scene(isSaved: isSaved)
    #expect(try scene.papers(#Predicate { $0.author == nil }) == ["Lost"])
    #expect(try scene.papers(#Predicate { $0.author != nil && $0.pages < 20 }) == ["Cobol"])
    #expect(
      try scene.people(#Predicate { $0.papers.contains { $0.topics.contains { $0.name == "numbers" } } }) == ["Ada"])
    #expect(try scene.people(#Predicate { $0.papers.allSatisfy { $0.pages > 30 } }) == ["Ada", "Adrian"])
    #expect(try scene.papers(#Predicate { $0.topics.isEmpty && $0.author?.nickname != nil }) == ["Engine"])
    #expect(try scene.papers(#Predicate { ($0.author?.papers.count ?? 0) == 2 }) == ["Engine", "Notes"])
  }

  @Test(arguments: [false, true]) func classes(isSaved: Bool) throws {
    let scene = try Scene(isSaved: isSaved)
    #expect(try scene.vehicles(#Predicate { $0 is Truck }) == ["tanker", "truck"])
    #expect(try scene.vehicles(#Predicate { !($0 is Tanker) && $0.wheels > 0 }) == ["car", "truck"])
    #expect(try scene.vehicles(#Predicate { ($0 as? Truck)?.load == 5 }) == ["truck"])
    let long = #Predicate<Trailer> { $0.vehicle is Truck }
    #expect(try scene.context.fetch(FetchDescriptor(predicate: long)).map(\.length).sorted() == [5, 6])
  }

  @Test(arguments: [false, true]) func joinedPredicates(isSaved: Bool) throws {
    let scene = try Scene(isSaved: isSaved)
    let old = #Predicate<Person> { $0.age > 40 }
    let named = #Predicate<Person> { $0.name.starts(with: "Ad") }
    #expect(try scene.people([old, named].conjunction()) == ["Adrian"])
    #expect(try scene.people([old, named].disjunction()) == ["Ada", "Adrian", "Grace"])
    #expect(try scene.people([old].negation()) == ["Ada"])
    #expect(try scene.people([[old, named].conjunction()].negation()) == ["Ada", "Grace"])
    #expect(try scene.people([Foundation.Predicate<Person>]().conjunction()) == ["Ada", "Adrian", "Grace"])
    #expect(try [old, named].conjunction().evaluate(scene.grace) == false)
  }

  @Test func whatCannotBeAnsweredIsRefusedByName() throws {
    let scene = try Scene(isSaved: true)
    func refused<T: PersistentModel>(_ predicate: Foundation.Predicate<T>, _ text: String) {
      #expect {
        _ = try scene.context.fetch(FetchDescriptor(predicate: predicate))
      } throws: {
        SwiftDataError.unsupportedPredicate ~= $0 && "\($0)".contains(text)
      }
    }
    refused(#Predicate<Values> { $0.texts.isEmpty }, "Values.texts")
    refused(#Predicate<Values> { $0.draft == "x" }, "Values.draft")
    refused(#Predicate<Person> { $0.isSelected }, "property of type Bool is no stored one of Person")
    #expect {
      _ = try scene.people(#Predicate { $0.isSelected })
    } throws: {
      "\($0)".components(separatedBy: "no stored one").count == 2 && !"\($0)".contains("0x")
    }
    let shape = Shape.dot
    refused(#Predicate<Values> { $0.shape == shape }, "Values.shape")
    // Asking for the number and the identifiers is refused alike.
    let descriptor = FetchDescriptor<Values>(predicate: #Predicate { $0.texts.isEmpty })
    #expect(throws: SwiftDataError.unsupportedPredicate) { _ = try scene.context.fetchCount(descriptor) }
    #expect(throws: SwiftDataError.unsupportedPredicate) { _ = try scene.context.fetchIdentifiers(descriptor) }
  }

  @Test func ordersByPathsAndFields() throws {
    let scene = try Scene(isSaved: true)
    let byAuthor = FetchDescriptor<Paper>(sortBy: [
      SortDescriptor(\.author?.name, order: .reverse), SortDescriptor(\.title),
    ])
    #expect(try scene.context.fetch(byAuthor).map(\.title) == ["Cobol", "Engine", "Notes", "Lost"])
    let byCity = FetchDescriptor<Person>(sortBy: [SortDescriptor(\.address?.city), SortDescriptor(\.age)])
    #expect(try scene.context.fetch(byCity).map(\.name) == ["Adrian", "Grace", "Ada"])
    for (title, pages) in [("a10", 1), ("A9", 2), ("b1", 3)] { scene.context.insert(Paper(title, pages: pages + 100)) }
    let added = #Predicate<Paper> { $0.pages > 100 }
    func titles(_ order: SortDescriptor<Paper>) throws -> [String] {
      try scene.context.fetch(FetchDescriptor(predicate: added, sortBy: [order])).map(\.title)
    }
    #expect(try titles(SortDescriptor(\.title)) == ["A9", "a10", "b1"])
    #expect(try titles(SortDescriptor(\.title, comparator: .lexical)) == ["A9", "a10", "b1"])
    #expect(try titles(SortDescriptor(\.title, comparator: .localizedStandard)) == ["A9", "a10", "b1"])
    #expect(throws: SwiftDataError.unsupportedSortDescriptor) { _ = try titles(SortDescriptor(\.upper)) }
    let byUpperName = FetchDescriptor<Paper>(sortBy: [SortDescriptor(\.author?.shouting)])
    #expect(throws: SwiftDataError.unsupportedSortDescriptor) { _ = try scene.context.fetch(byUpperName) }
    #expect(throws: SwiftDataError.unsupportedSortDescriptor) {
      _ = try scene.context.fetch(FetchDescriptor<Paper>(sortBy: [SortDescriptor(\.authorName)]))
    }
  }

  @Test func aggregatesAndValues() throws {
    let scene = try Scene(isSaved: true)
    let context = scene.context
    #expect(try context.aggregate(.sum(\.pages), of: FetchDescriptor<Paper>()) == 117)
    #expect(try context.aggregate(.count, of: FetchDescriptor<Paper>(predicate: #Predicate { $0.author != nil })) == 3)
    #expect(try context.aggregate(.average(\.age), of: FetchDescriptor<Person>()) == 57)
    #expect(try context.aggregate(.minimum(\.name), of: FetchDescriptor<Person>()) == "Ada")
    #expect(try context.aggregate(.maximum(\.nickname), of: FetchDescriptor<Person>()) == "Enchantress")
    #expect(try context.aggregate(.count(\.nickname), of: FetchDescriptor<Person>()) == 2)
    let lines = #Expression<Paper, Int> { $0.pages * 40 }
    #expect(try context.aggregate(.sum(lines), of: FetchDescriptor<Paper>()) == 4680)
    #expect(
      try context.aggregate(.maximum(#Expression<Person, Int> { $0.papers.count }), of: FetchDescriptor<Person>()) == 2)
    let none = FetchDescriptor<Person>(predicate: #Predicate { $0.age < 0 })
    #expect(try context.aggregate(.sum(\.age), of: none) == 0 && context.aggregate(.average(\.age), of: none) == nil)
    let groups = try context.aggregate(.count, .sum(\.pages), by: \.author?.name, of: FetchDescriptor<Paper>())
    #expect(groups.map(\.key) == [nil, "Ada", "Grace"] && groups.map(\.values.0) == [1, 2, 1])
    #expect(groups.map(\.values.1) == [1, 106, 10])
    let ranks = try context.aggregate(.count, by: \.rank, of: FetchDescriptor<Person>())
    #expect(ranks.map(\.key) == [.civil, .admiral] && ranks.map(\.values) == [2, 1])
    let names = FetchDescriptor<Person>(sortBy: [SortDescriptor(\.name)])
    #expect(try context.values(of: \.name, names) == ["Ada", "Adrian", "Grace"])
    #expect(try context.values(of: \.address?.city, names) == ["London", nil, nil])
    #expect(
      try context.values(of: \.rank, FetchDescriptor<Person>(), distinct: true).count
        == 2)
    #expect(throws: SwiftDataError.unsupportedKeyPath) { _ = try context.values(of: \.upper, FetchDescriptor<Paper>()) }
    #expect(try context.explain(names).isEmpty == false)
  }
}

extension Paper {
  var upper: String { title.uppercased() }
  var authorName: String { author?.name ?? "" }
}

extension Person {
  var shouting: String { name.uppercased() }
}

extension Mood {
  var title: String { self == .calm ? "calm" : "very wild" }
}
