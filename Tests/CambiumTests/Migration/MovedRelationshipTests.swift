import Foundation
import Testing

@testable import Cambium

/// Relationships that come to be those of a subentity: objects that do not have them any more leave no links behind.
@Suite struct MovedRelationshipTests {
  private static func model(isMoved: Bool) throws -> ManagedObjectModel {
    // Those with an inverse lose it when they are moved: their links were derived from the other side's until then, or
    // its from theirs.
    @EntityBuilder func relationships() -> [EntityBuilderPart] {
      ToMany("marks", "Tag")
      ToMany("steps", "Tag", ordered: true)
      ToOne("best", "Tag")
      ToMany("first", "Tag", inverse: isMoved ? nil : "zFirst")
      ToMany("zLast", "Tag", inverse: isMoved ? nil : "last")
      ToMany("owned", "Tag", inverse: isMoved ? nil : "owner")
    }
    return try ManagedObjectModel {
      Entity("Item") {
        Attribute("name", .string)
        if !isMoved { relationships() }
      }
      Entity("Special", parent: "Item") { if isMoved { relationships() } }
      Entity("Other", parent: "Item") {}
      Entity("Tag") {
        Attribute("name", .string)
        if !isMoved {
          ToMany("zFirst", "Item", inverse: "first")
          ToMany("last", "Item", inverse: "zLast")
          ToOne("owner", "Item", inverse: "owned")
        }
      }
    }
  }

  @Test(arguments: [false, true])
  func movedDown(defers: Bool) throws {
    let directory = try TemporaryDirectory()
    do {
      let context = try directory.container(model: Self.model(isMoved: false)).newBackgroundContext()
      let tags = try ["a", "b"].map { try context.make("Tag", ["name": $0]) }
      for entity in ["Item", "Special", "Other"] {
        try context.make(
          entity,
          [
            "name": entity, "marks": Set(tags), "best": tags[0], "steps": [tags[1], tags[0]], "first": Set(tags),
            "zLast": Set(tags), "owned": Set([try context.make("Tag", ["name": entity])]),
          ])
      }
      try context.save()
    }
    let earlier = try Self.model(isMoved: false)
    let container = try directory.container(model: Self.model(isMoved: true)) {
      $0.sourceModels = [earlier]
      if defers { $0.setOption(true, forKey: PersistentStoreCoordinator.deferredLightweightMigrationOption) }
    }
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let report = try store.check()
    #expect(report.isSound && report.looseRelationships.isEmpty, "\(report)")
    let context = container.newBackgroundContext()
    let special = try #require(try context.all("Special").first)
    for name in ["marks", "steps", "first", "zLast"] { #expect(try special.count(ofRelationship: name) == 2) }
    #expect(try special.count(ofRelationship: "owned") == 1)
    #expect((special.value(forKey: "best") as? ManagedObject)?.value(forKey: "name") as? String == "a")
    #expect(try context.all("Item").count == 3)
    // They do not come back with the relationship.
    context.delete(special)
    try context.save()
    #expect(try store.check().looseRelationships.isEmpty)
  }
}
