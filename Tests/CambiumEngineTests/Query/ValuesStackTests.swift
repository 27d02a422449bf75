import CambiumEngine
import Foundation
import Testing

/// The deepest columns and conditions on groups, on a thread as small as Apple's are.
@Suite struct ValuesStackTests {
  private static func checkAll(_ schema: Schema, _ thing: EntitySchema) -> Int {
    var checked = 0
    for text in PredicateStackTests.texts() {
      guard let predicate = try? Predicate(format: text) else { continue }
      var expression = Expression.evaluatedObject
      if case .comparison(let comparison) = predicate {
        expression = comparison.left
        if case .constant = expression { expression = comparison.right }
      }
      for groups in [[], ["a"]] {
        for column in [expression, .function("sum", [expression])] {
          var request = EngineValuesFetch(EngineFetch(thing), columns: [EngineColumn("x", column)])
          request.groupBy = groups
          request.having = groups.isEmpty ? nil : predicate
          if (try? request.check(against: schema)) != nil { checked += 1 }
        }
      }
    }
    return checked
  }

  @Test func theDeepestFitASmallStack() async throws {
    let schema = try Schema(
      SchemaDefinition([
        EntitySchema(
          "Thing", attributes: [AttributeSchema("a", .integer16), AttributeSchema("b", .integer16)],
          relationships: [RelationshipSchema("l", toMany: "Thing", ordered: true)])
      ]))
    let thing = try #require(schema.entity(named: "Thing"))
    let checked = await withCheckedContinuation { continuation in
      let thread = Thread { continuation.resume(returning: Self.checkAll(schema, thing)) }
      thread.stackSize = PredicateStackTests.stackSize
      thread.start()
    }
    #expect(checked > 40)
  }
}
