import Cambium
import Foundation
import Testing

/// Batch updates of entities with derived attributes.
@Suite struct BatchDerivedTests {
  private static func model(isNewer: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Title") {
        Attribute("text", .string)
        if isNewer { Attribute("searchText", .string, derived: "canonical:(text)") }
      }
    }
  }

  /// An attribute that a migration brings has no value in what is there. An update that gives nothing new computes it.
  @Test func computedAfterAMigration() throws {
    let directory = try TemporaryDirectory()
    do {
      let context = try directory.container(model: Self.model(isNewer: false)).newBackgroundContext()
      for text in ["Éclair", "Über", "plain"] { try context.make("Title", ["text": text]) }
      try context.make("Title", [:])
      try context.save()
    }
    let container = try directory.container(model: Self.model(isNewer: true)) { $0.tracksHistory = true }
    let context = container.newBackgroundContext()
    #expect(try context.all("Title", "searchText != nil").isEmpty)
    var update = BatchUpdateRequest(entityName: "Title")
    update.propertiesToUpdate = ["text": try FetchExpression(format: "text")]
    update.resultType = .count
    #expect(try context.execute(update).count == 4)
    let found = try context.all("Title", "searchText != nil", sort: [FetchSortDescriptor(key: "searchText")])
    #expect(found.map { $0.value(forKey: "searchText") as? String } == ["eclair", "plain", "uber"])
    #expect(found.map { $0.value(forKey: "text") as? String } == ["Éclair", "plain", "Über"])
    let history = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
    var changed: Set<String> = []
    for change in history.transactions.last?.changes ?? [] { changed.formUnion(change.updatedProperties ?? []) }
    // A batch tells what it has set, whether it was another value or not.
    #expect(changed == ["text", "searchText"])
  }
}
