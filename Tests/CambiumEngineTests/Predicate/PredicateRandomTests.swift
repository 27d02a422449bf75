import CambiumTesting
import Testing

@testable import CambiumEngine

@Suite struct PredicateRandomTests {
  @Test func printedTreesParseBack() throws {
    for seed in UInt64(1)...3000 {
      var random = SplitMix64(seed: seed)
      let predicate = randomPredicate(&random, depth: 4)
      #expect(try Predicate(format: predicate.description) == predicate, "seed \(seed): \(predicate)")
    }
  }

  /// Twenty thousand texts of random bytes and of pieces of the language, none of which may trap.
  @Test func randomTexts() {
    var random = SplitMix64(seed: 77)
    let pieces = [
      "a == 1", "b.c IN {1, 'x'}", "a", "b.c", "==", "!=", "<", "IN", "BETWEEN", "{", "}", "(", ")", "[", "]", "[cd]",
      ",", "1", "1.5", "-", "0x", "'x'", "\"",
      "'", "\\", "%@", "%K", "%d", "%", "$", "$x", "#", ".", "@count", "AND", "OR", "NOT", "!", "ANY", "ALL", "NIL",
      "SELF", "CAST",
      "'NSDate'", "LIKE", "é", "\u{0}", "e", "9", "+", "*", "**", ":=", ":", "&&", "||", "&", "TRUEPREDICATE",
      "CONTAINS", "MATCHES", "SUBQUERY(", "TERNARY(", "sum(", "lowercase(", "add:to:(", "CAST(", "'NSString'",
      "[FIRST]",
      "[0]", "@sum", "-", "/", "a.@count", "$y.z",
    ]
    var accepted = 0
    for index in 0..<20_000 {
      let text: String
      if index.isMultiple(of: 2) {
        text = String(decoding: random.bytes(random.below(40)), as: UTF8.self)
      } else {
        let separator = random.oneIn(2) ? " " : ""
        text = (0..<random.below(14)).map { _ in random.pick(pieces) }.joined(separator: separator)
      }
      let arguments = (0..<random.below(3)).map { _ in
        random.oneIn(2) ? PredicateArgument.value(randomValue(&random, depth: 1)) : .keyPath(randomText(&random))
      }
      do throws(PredicateError) {
        let predicate = try Predicate(format: text, arguments: arguments)
        accepted += 1
        if let again = try? Predicate(format: predicate.description) { #expect(again == predicate, "\(text)") }
        _ = try? predicate.evaluate(variables: ["x": 1]) { _, _ in Value.string("a") }
      } catch {
        #expect((0...text.utf8.count).contains(error.position ?? -1), "\(text)")
      }
    }
    #expect(accepted > 20)
  }

  /// Sound predicates with a few bytes changed.
  @Test func changedTexts() {
    var random = SplitMix64(seed: 78)
    for _ in 0..<4000 {
      var bytes = Array(randomPredicate(&random, depth: 2).description.utf8)
      for _ in 0...random.below(3) where !bytes.isEmpty {
        let place = random.below(bytes.count)
        switch random.below(3) {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.remove(at: place)
        default: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: place)
        }
      }
      _ = try? Predicate(format: String(decoding: bytes, as: UTF8.self))
    }
  }
}

/// A predicate that is written as the parser writes them.
func randomPredicate(_ random: inout SplitMix64, depth: Int) -> Predicate {
  switch random.below(depth > 0 ? 8 : 5) {
  case 5: return .and((0..<2 + random.below(3)).map { _ in randomPredicate(&random, depth: depth - 1) })
  case 6: return .or((0..<2 + random.below(3)).map { _ in randomPredicate(&random, depth: depth - 1) })
  case 7: return .not(randomPredicate(&random, depth: depth - 1))
  case 4: return random.oneIn(2) ? .true : .false
  default:
    let comparator = random.pick(Comparator.allCases)
    var right = randomExpression(&random, depth: depth)
    if comparator == .between {
      right = Expression.list(of: [randomExpression(&random, depth: 0), randomExpression(&random, depth: depth)])
    }
    return .compare(
      randomExpression(&random, depth: depth), comparator, right, ComparisonOptions(rawValue: UInt8(random.below(8))),
      modifier: random.pick(ComparisonModifier.allCases))
  }
}

private let randomNames = [
  "a", "größe", "in", "NOT", "SELF", "two words", "size", "cast", "9a", "$x", "true", "any", "a'b", "a\"b\n", "@x",
  "first", "sum",
]

private func randomPath(_ random: inout SplitMix64) -> String {
  (0...random.below(3)).map { _ in random.pick(randomNames) }.joined(separator: ".")
}

/// An expression that is written as the parser writes them.
func randomExpression(_ random: inout SplitMix64, depth: Int) -> Expression {
  func inner() -> Expression { randomExpression(&random, depth: depth - 1) }
  switch random.below(depth > 0 && random.oneIn(2) ? 16 : 6) {
  case 0: return .variable(random.pick(["x", "NAME", "_1"]))
  case 1: return .evaluatedObject
  case 2:
    return Expression.list(
      of: (0..<random.below(4)).map { _ in
        random.oneIn(3) ? .keyPath("a") : .constant(randomValue(&random, depth: 2))
      })
  case 3: return .keyPath(randomPath(&random))
  case 6, 7: return .arithmetic(random.pick(ArithmeticOperator.allCases), inner(), inner())
  case 8: return .negated(inner())
  case 9:
    let name = random.pick(PredicateFunction.allCases.map { $0.name })
    return .function(name, (0..<random.below(4)).map { _ in inner() })
  case 10:
    let operand = inner()
    if case .constant = operand { return operand }
    return .cast(operand, type: random.pick(["NSString", "NSDate", "number"]))
  case 11:
    return .ternary(randomPredicate(&random, depth: depth - 1), then: inner(), otherwise: inner())
  case 12:
    return .subquery(
      collection: inner(), variable: random.pick(["x", "y"]), condition: randomPredicate(&random, depth: depth - 1))
  case 13:
    return .aggregate(
      random.pick(CollectionOperator.allCases), inner(), path: random.oneIn(2) ? nil : randomPath(&random))
  case 14: return .member(random.oneIn(2) ? .variable("y") : inner(), path: randomPath(&random))
  case 15:
    let index: ElementIndex = random.pick([.first, .last, .size, .at(inner()), .at(.keyPath("first"))])
    return .element(inner(), index)
  default: return .constant(randomValue(&random, depth: 2))
  }
}
