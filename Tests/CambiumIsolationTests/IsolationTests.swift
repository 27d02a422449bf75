import Cambium
import Foundation
import Testing

// A module as new applications have it: its declarations are the main actor's unless they say otherwise, and members
// are seen of modules that a file imports itself (`MemberImportVisibility`).

nonisolated enum Genre: String, AttributeRepresentable { case rock, jazz }

@ManagedPaths nonisolated struct Place: CompositeRepresentable {
  var city: String?

  init(city: String?) { self.city = city }
  init?(compositeValues values: [String: Any]) { city = values["city"] as? String }
  var compositeValues: [String: Any] { ["city": city as Any] }
}

/// A structure that is the main actor's, as everything in the module by default.
@Composite struct Stage: Equatable {
  var name: String
  var width = 5.0
}

@ManagedPaths nonisolated class Person: ManagedObject {
  @Managed var name: String
  @Managed var home: Place?
  @Managed var acts: Set<Act>
}

@ManagedPaths nonisolated final class Agent: Person {
  @Managed var fee: Double
}

@ManagedPaths nonisolated final class Act: ManagedObject {
  @Managed var title: String
  @Managed(default: Genre.rock) var genre: Genre
  @Managed var agent: Agent?
  @Managed var crew: Set<Agent>
}

struct IsolationTests {
  @Test func compositesByMacro() {
    let stage = Stage(name: "main")
    #expect(Stage(compositeValues: stage.compositeValues) == stage)
    #expect(Stage(compositeValues: ["name": "left"])?.width == 5)
  }

  @Test func pathsOfASubclass() {
    let request = FetchRequest<Agent>(entityName: "Agent")
    request.filter { $0.fee > 2 && $0.name == "a" }
    #expect(request.predicate?.predicateFormat.contains("fee > 2") == true)
  }

  private func container() throws -> PersistentContainer {
    let model = try ManagedObjectModel {
      Entity("Person", class: Person.self) {
        Attribute("name", .string, optional: false, default: "")
        Attribute("home") { Attribute("city", .string) }
        ToMany("acts", "Act", inverse: "crew", deleteRule: .nullify)
      }
      Entity("Agent", parent: "Person", class: Agent.self) { Attribute("fee", .double, optional: false, default: 1.5) }
      Entity("Act", class: Act.self) {
        Attribute("title", .string)
        Attribute("genre", .string)
        ToOne("agent", "Agent", deleteRule: .deny)
        ToMany("crew", "Person", inverse: "acts")
      }
    }
    let container = PersistentContainer(name: "isolation", managedObjectModel: model)
    let description = PersistentStoreDescription(type: .inMemory)
    description.durability = .full
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    return container
  }

  @Test func conditionsAreMadeOnTheMainActor() throws {
    let context = try container().viewContext
    let act = Act(context: context)
    act.title = "Opening"
    act.genre = .jazz
    let agent = Agent(context: context)
    agent.name = "Nora"
    agent.home = Place(city: "Ulm")
    act.agent = agent
    act.crew = [agent]
    try context.save()
    let request = FetchRequest<Act>(entityName: "Act")
    request.filter { $0.title.beginsWith("O") && $0.genre == .jazz && $0.agent.home.city == "Ulm" }
    #expect(try context.fetch(request) == [act])
    // What a relationship leads to has the paths of its superclass.
    request.filter { $0.agent.name == "Nora" && $0.crew.any { $0.name == "Nora" && $0.acts.count == 1 } }
    request.sort { [$0.agent.name.ascending] }
    #expect(try context.fetch(request) == [act])
    request.predicate = try FetchPredicate(#Predicate<Act> { $0.title == "Opening" })
    #expect(try context.fetch(request) == [act])
    // And a subclass what it is asked for by name.
    let agents = FetchRequest<Agent>(entityName: "Agent")
    agents.filter { $0.name == "Nora" && FetchPath<Agent, Double>("fee") > 1 }
    #expect(try context.fetch(agents) == [agent])
    #expect(agents.entityName == "Agent" && DeleteRule.deny != .cascade && AttributeType.string.name == "String")
  }

  @Test func conditionsAreMadeElsewhere() async throws {
    let container = try container()
    let context = container.newBackgroundContext()
    let count = try await context.perform {
      let act = Act(context: context)
      act.title = "Opening"
      try context.save()
      return try context.count(for: FetchRequest<Act>(entityName: "Act").filter { $0.title == "Opening" })
    }
    #expect(count == 1)
  }
}
