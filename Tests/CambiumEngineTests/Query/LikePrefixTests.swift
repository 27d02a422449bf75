import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Patterns whose beginning an index is asked for: it leaves out nothing that the pattern describes.
@Suite struct LikePrefixTests {
  @Test(arguments: [
    "e\\\u{301}*", "e\u{301}*", "\u{E9}*", "e*", "a\\*b*", "a?c", "*", "", "\\", "\u{1F1E9}*", "K*", "\u{212A}*",
  ])
  func indexAndScanAgree(_ pattern: String) throws {
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
      schema: try FetchExpressionTests.schema())
    let thing = try #require(store.schema.entity(named: "Thing"))
    let texts = [
      "\u{E9}a", "e\u{301}a", "ea", "e", "\u{E9}", "a*b", "a*bc", "aXb", "abc", "", "\\", "\u{1F1E9}\u{1F1EA}", "K",
      "\u{212A}", "e\u{301}\u{32F}",
    ]
    try store.write { (t) throws(EngineError) in
      for text in texts {
        var values = RowValues()
        values.set("text", .string(text))
        try t.insert(try t.reserveReference(thing), values)
      }
    }
    var fetch = EngineFetch.preferringIndexes(thing, .compare(.keyPath("text"), .like, .constant(.string(pattern))))
    let view = try store.view()
    let found = try view.fetch(fetch)
    fetch.usesIndexes = false
    #expect(try found == view.fetch(fetch))
    #expect(try view.explain(fetch).kinds.contains(.scan))
  }
}
