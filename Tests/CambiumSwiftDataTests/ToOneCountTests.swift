import CambiumSwiftData
import Testing

import class Cambium.ManagedObjectModel

@Model private final class Keyring {
  @Relationship(minimumModelCount: 1) var first: Keyring?
  @Relationship(minimumModelCount: 5) var second: Keyring?
  var third: Keyring?
  init() {}
}

@Suite struct ToOneCountTests {
  /// Models from Xcode say 1 of to-one relationships, and the count is in the version hash. More than 1 is 1.
  @Test func countsOfToOneRelationshipsAreKept() throws {
    let model = try #require(ManagedObjectModel.makeManagedObjectModel(for: Keyring.self))
    let relationships = try #require(model.entitiesByName["Keyring"]).relationshipsByName
    #expect(["first", "second", "third"].map { relationships[$0]?.minCount } == [1, 1, 0])
    #expect(relationships.values.allSatisfy { !$0.isToMany })
  }
}
