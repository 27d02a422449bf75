import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Random changes of a graph, checked against the rule that both sides of every relationship agree, and against what
/// another context and the engine see after each save.
@Suite struct RandomGraphTests {
  private static let seeds: [UInt64] = [1, 7, 2026]

  private func objects(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    var result: [ManagedObject] = []
    for entity in context.persistentStoreCoordinator.managedObjectModel.entities {
      result += try context.all(entity.name)
    }
    return result
  }

  /// The graph as text: each object, by its number, with what its relationships lead to.
  private func graph(_ context: ManagedObjectContext) throws -> [String: [String]] {
    var result: [String: [String]] = [:]
    func name(_ id: ManagedObjectID) throws -> String { try name(context.object(with: id)) }
    func name(_ object: ManagedObject) throws -> String {
      "\(object.entity.name) \(try object.get("tag", as: Int.self) ?? -1)"
    }
    for object in try objects(context) {
      for relationship in object.entity.relationshipsByName.values {
        var names = try object.objectIDs(forRelationshipNamed: relationship.name).map { try name($0) }
        if !relationship.isOrdered { names.sort() }
        result[try name(object) + "." + relationship.name] = names
        for id in try object.objectIDs(forRelationshipNamed: relationship.name) {
          let other = context.object(with: id)
          let back = try #require(relationship.inverseRelationship?.name)
          let ids = try other.objectIDs(forRelationshipNamed: back)
          #expect(ids.contains(object.objectID), "\(object) \(relationship.name)")
          #expect(!other.isDeleted)
        }
      }
    }
    return result
  }

  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("A") {
        Attribute("tag", .integer64)
        ToOne("one", "B", inverse: "oneBack")
        ToMany("many", "B", inverse: "manyBack", deleteRule: .cascade)
        ToMany("list", "B", inverse: "listBack", ordered: true)
        ToMany("web", "B", inverse: "webBack")
        ToMany("friends", "A", inverse: "friends")
        ToMany("orderedWeb", "B", inverse: "orderedWebBack", ordered: true)
      }
      Entity("B") {
        Attribute("tag", .integer64)
        ToOne("oneBack", "A", inverse: "one")
        ToOne("manyBack", "A", inverse: "many")
        ToOne("listBack", "A", inverse: "list")
        ToMany("webBack", "A", inverse: "web")
        ToMany("orderedWebBack", "A", inverse: "orderedWeb", ordered: true)
      }
    }
  }

  @Test(arguments: seeds) func bothSidesAgree(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    print("seed \(seed)")
    let container = try memoryContainer(try model())
    let context = container.viewContext
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    var tag = 0
    var saved: [String: [String]] = [:]
    for step in 0..<250 {
      let all = try objects(context)
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<4:
        tag += 1
        try context.make(Bool.random(using: &random) ? "A" : "B", ["tag": tag])
      case 4..<15:
        guard let object = all.randomElement(using: &random) else { continue }
        let relationships = object.entity.relationshipsByName.values.sorted { $0.name < $1.name }
        let relationship = try #require(relationships.randomElement(using: &random))
        let others = all.filter { $0.entity === relationship.destinationEntity }
        guard let other = others.randomElement(using: &random) else { continue }
        switch Int.random(in: 0..<4, using: &random) {
        case 0 where relationship.isToMany: try object.remove(other, fromRelationship: relationship.name)
        case 1 where relationship.isToMany:
          let some = others.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
          try object.set(some.shuffled(using: &random), forKey: relationship.name)
        case _ where relationship.isToMany: try object.add(other, toRelationship: relationship.name)
        case 0: try object.set(nil, forKey: relationship.name)
        default: try object.set(other, forKey: relationship.name)
        }
      case 15, 16:
        if let object = all.randomElement(using: &random) { context.delete(object) }
      case 17:
        context.rollback()
        #expect(try graph(context) == saved, "rollback in step \(step) of seed \(seed)")
      default:
        let before = try graph(context)
        try context.save()
        saved = before
        #expect(try graph(context) == saved, "save in step \(step) of seed \(seed)")
        let other = container.newBackgroundContext()
        let seen = try other.performAndWait { try graph(other) }
        #expect(seen == saved, "other context, step \(step) of seed \(seed)")
        let report = try store.engine.check()
        #expect(report.isSound, "\(report.problems)")
      }
      if step % 5 == 0 { _ = try graph(context) }
    }
  }
}
