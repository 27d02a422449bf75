import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// What the check of a store says of relationships whose sides do not agree, or that lead nowhere.
@Suite struct RelationshipCheckTests {
  private static func schema() throws -> Schema {
    func with(_ relationship: RelationshipSchema, _ rule: DeleteRule) -> RelationshipSchema {
      var result = relationship
      result.deleteRule = rule
      return result
    }
    let person = EntitySchema(
      "Person",
      relationships: [
        RelationshipSchema("clubs", toMany: "Club", inverse: "members"),
        RelationshipSchema("spouse", to: "Person", inverse: "spouse"),
        RelationshipSchema("steps", toMany: "Step", inverse: "walker", ordered: true),
        RelationshipSchema("ranks", toMany: "Club", inverse: "ranked", ordered: true),
        RelationshipSchema("home", to: "Club", inverse: "residents"),
        RelationshipSchema("idol", to: "Person"),
        RelationshipSchema("fans", toMany: "Person"),
        RelationshipSchema("guests", toMany: "Club", inverse: "hosts"),
      ])
    let club = EntitySchema(
      "Club",
      relationships: [
        RelationshipSchema("members", toMany: "Person", inverse: "clubs"),
        RelationshipSchema("ranked", toMany: "Person", inverse: "ranks", ordered: true),
        RelationshipSchema("residents", toMany: "Person", inverse: "home"),
        with(RelationshipSchema("hosts", toMany: "Person", inverse: "guests"), .noAction),
      ])
    let step = EntitySchema("Step", relationships: [RelationshipSchema("walker", to: "Person", inverse: "steps")])
    return try Schema(SchemaDefinition([person, club, step]))
  }

  private struct World {
    let store: EntityStore
    let people: [ObjectReference]
    let clubs: [ObjectReference]
    let steps: [ObjectReference]

    init() throws {
      let store = try EntityStore.create(
        in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 3)),
        schema: try RelationshipCheckTests.schema())
      var made: [[ObjectReference]] = []
      for name in ["Person", "Club", "Step"] {
        let entity = try #require(store.schema.entity(named: name))
        made.append(
          try store.write { (t) throws(EngineError) in
            var result: [ObjectReference] = []
            for _ in 0..<4 {
              let reference = try t.reserveReference(entity)
              try t.insert(reference, RowValues())
              result.append(reference)
            }
            return result
          })
      }
      (self.store, people, clubs, steps) = (store, made[0], made[1], made[2])
    }

    /// Sets one side of a relationship, and leaves the other as it is, which no public interface does.
    func set(_ object: ObjectReference, _ name: String, _ targets: [ObjectReference]) throws {
      try store.write { (t) throws(EngineError) in
        let plan = try store.plan(object.entity)
        guard let place = plan.entity.allRelationships.firstIndex(where: { $0.name == name }) else { return }
        if let tree = plan.linkTree(place) {
          try t.removeLinks(plan, object.row)
          return try t.put(targets.map { linkKey(object.row, $0.row) }, tree)
        }
        guard let field = plan.layout.fieldByName[name] else { return }
        let writer = try t.writer(plan)
        try writer.begin(changing: object)
        try writer.saveAlone(field, references: targets)
      }
    }

    func set(_ object: ObjectReference, _ name: String, _ target: ObjectReference?) throws {
      try store.write { (t) throws(EngineError) in
        let plan = try store.plan(object.entity)
        guard let field = plan.layout.fieldByName[name] else { return }
        let writer = try t.writer(plan)
        try writer.begin(changing: object)
        try writer.saveAlone(field, reference: target)
      }
    }

    /// Removes a row, and leaves what leads to it as it is.
    func delete(_ object: ObjectReference) throws {
      try store.write { (t) throws(EngineError) in try t.writer(store.plan(object.entity)).removeRow(object) }
    }

    /// Whether the check finds that many problems that contain a text, and nothing else.
    func tells(_ count: Int, _ text: String? = nil, sourceLocation: SourceLocation = #_sourceLocation) throws {
      let report = try store.check()
      #expect(report.isSound, sourceLocation: sourceLocation)
      let problems = report.relationships
      let isRight = problems.count == count && (text.map { text in problems.allSatisfy { $0.contains(text) } } ?? true)
      #expect(isRight, "\(problems)", sourceLocation: sourceLocation)
    }
  }

  @Test func manyToMany() throws {
    let world = try World()
    try world.set(world.people[0], "clubs", [world.clubs[0], world.clubs[1]])
    try world.tells(2, "'clubs' leads to an object whose 'members' does not lead back")
    try world.set(world.clubs[0], "members", [world.people[0], world.people[2]])
    try world.set(world.clubs[1], "members", [world.people[0]])
    try world.tells(1, "'members' leads to an object whose 'clubs'")
    try world.set(world.people[2], "clubs", [world.clubs[0]])
    try world.tells(0)
    // One that is gone, with its own links, leaves those of the other side.
    try world.delete(world.clubs[0])
    try world.tells(2, "'clubs' leads to no object")
  }

  @Test func oneToOne() throws {
    let world = try World()
    try world.set(world.people[0], "spouse", world.people[1])
    try world.tells(1, "Person 1: 'spouse' leads to an object whose 'spouse' does not lead back")
    try world.set(world.people[1], "spouse", world.people[2])
    try world.tells(2, "'spouse'")
    try world.set(world.people[1], "spouse", world.people[0])
    try world.tells(0)
    try world.set(world.people[3], "spouse", world.people[3])
    try world.tells(0)
  }

  @Test func orderedOnes() throws {
    let world = try World()
    try world.set(world.people[0], "steps", [world.steps[2], world.steps[0]])
    try world.tells(3)
    try world.set(world.steps[2], "walker", world.people[0])
    try world.set(world.steps[0], "walker", world.people[0])
    try world.tells(0)
    // One that leads there, and is in no list.
    try world.set(world.steps[1], "walker", world.people[0])
    try world.tells(1, "the lists of 1 objects do not agree")
    try world.set(world.steps[1], "walker", nil)
    try world.set(world.people[1], "ranks", [world.clubs[3], world.clubs[0]])
    try world.tells(2, "do not agree")
    try world.set(world.clubs[3], "ranked", [world.people[1]])
    try world.set(world.clubs[0], "ranked", [world.people[1]])
    try world.tells(0)
  }

  @Test func whatMayLeadNowhere() throws {
    let world = try World()
    try world.set(world.people[0], "idol", world.people[1])
    try world.set(world.people[0], "fans", [world.people[1], world.people[2]])
    try world.set(world.people[0], "guests", [world.clubs[1]])
    try world.set(world.clubs[1], "hosts", [world.people[0]])
    try world.set(world.people[0], "home", world.clubs[2])
    try world.tells(0)
    // Nothing takes these back.
    try world.delete(world.people[1])
    try world.delete(world.clubs[1])
    try world.tells(0)
    // A rule does with this one.
    try world.delete(world.clubs[2])
    try world.tells(1, "Person 1: 'home' leads to no object")
  }

  /// Links of rows that are not there are told as well.
  @Test func linksOfNobody() throws {
    let world = try World()
    let clubs = try #require(world.store.schema.entity(named: "Person")?.relationship(named: "clubs"))
    let tree = try #require(world.store.catalogue.relationships[clubs.id])
    try world.store.write { (t) throws(EngineError) in try t.put([linkKey(77, world.clubs[0].row)], tree) }
    try world.tells(1, "links of objects that are not there")
  }
}
