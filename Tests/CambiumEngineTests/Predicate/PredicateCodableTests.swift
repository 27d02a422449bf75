import CambiumTesting
import Foundation
import Testing

@testable import CambiumEngine

@Suite struct PredicateCodableTests {
  @Test func comesBackTheSame() throws {
    for seed in UInt64(1)...500 {
      var random = SplitMix64(seed: seed)
      let predicate = randomPredicate(&random, depth: 3)
      let expression = randomExpression(&random, depth: 3)
      let data = try JSONEncoder().encode(predicate)
      #expect(try JSONDecoder().decode(CambiumEngine.Predicate.self, from: data) == predicate)
      let other = try JSONEncoder().encode(expression)
      #expect(try JSONDecoder().decode(CambiumEngine.Expression.self, from: other) == expression)
    }
  }

  @Test func theFormIsVersioned() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let data = try encoder.encode(try CambiumEngine.Predicate(format: "a.@count > 2"))
    #expect(String(decoding: data, as: UTF8.self) == #"{"format":"a.@count > 2","version":1}"#)
    let deep = String(repeating: "(", count: 300) + "a == 1" + String(repeating: ")", count: 300)
    for text in [
      #"{"format":"a == 1","version":2}"#, #"{"format":"a == 1"}"#, #"{"format":"a ==","version":1}"#,
      #"{"version":1}"#,
      #"{"format":"\#(deep)","version":1}"#,
    ] {
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode(CambiumEngine.Predicate.self, from: Data(text.utf8))
      }
    }
  }

  @Test func refusesWhatHasNoText() {
    var deep = CambiumEngine.Predicate.true
    for _ in 0..<1000 { deep = .not(deep) }
    let fetch = Expression.fetch(request: path("a"), context: path("b"), countOnly: true)
    for predicate: CambiumEngine.Predicate in [
      deep, .compare(fetch, .equal, of(1)), .compare(.assignment(variable: "x", of(1)), .equal, of(1)),
      .compare(.function("shout", []), .equal, of(1)),
    ] {
      #expect(throws: EncodingError.self) { try JSONEncoder().encode(predicate) }
    }
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(fetch) }
  }
}
