import Cambium
import CambiumTesting
import Foundation
import Testing

/// Questions that are hard to answer right, or at all: what a store finds by its indexes, what its objects in memory
/// answer, and how long it takes.
@Suite struct HardQuestionTests {
  private let directory: TemporaryDirectory
  private let context: ManagedObjectContext

  init() throws {
    directory = try TemporaryDirectory()
    let model = try ManagedObjectModel {
      Entity("Thing") {
        Attribute("number", .integer64)
        Attribute("real", .double)
        Attribute("narrow", .float)
        Attribute("text", .string)
        Attribute("plain", .string)
        ToOne("parent", "Thing", inverse: "children")
        ToMany("children", "Thing", inverse: "parent")
        ToMany("links", "Thing", inverse: "linked", ordered: true)
        ToMany("linked", "Thing", inverse: "links")
        Index("byNumber", "number")
        Index("byReal", "real", "number")
        Index("byNarrow", "narrow")
        Index("byText", "text")
      }
    }
    context = try directory.container(model: model).viewContext
  }

  private func request(_ predicate: FetchPredicate?) -> FetchRequest<ManagedObject> {
    let request = FetchRequest<ManagedObject>(entityName: "Thing")
    request.predicate = predicate
    return request
  }

  /// What a fetch finds, which has to be what the objects themselves answer, and as many as are counted.
  @discardableResult
  private func found(
    _ format: String, _ arguments: [any Sendable] = [], sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Int {
    let predicate = try FetchPredicate(format: format, argumentArray: arguments)
    let found = try context.fetch(request(predicate))
    let expected = try context.fetch(request(nil)).filter { try predicate.evaluate(with: $0) }
    let text = "\(format.prefix(200)) \(String(describing: arguments).prefix(200))"
    #expect(Set(found.map(\.objectID)) == Set(expected.map(\.objectID)), "\(text)", sourceLocation: sourceLocation)
    #expect(found.count == expected.count, "\(text)", sourceLocation: sourceLocation)
    #expect(try context.count(for: request(predicate)) == found.count, "\(text)", sourceLocation: sourceLocation)
    return found.count
  }

  @Test func numbersAtTheEdge() throws {
    let reals: [Double?] = [
      nil, .nan, -.nan, .infinity, -.infinity, 0, -0.0, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
      .greatestFiniteMagnitude, 1, 1.5, 0x1p53, 0x1p53 + 2, -0x1p63, 0x1p63, 0.1, Double(Float(0.1)),
    ]
    let integers: [Int64?] = [nil, 0, 1, -1, .max, .min, .max - 1, 1 << 53, (1 << 53) + 1, 2]
    for (place, real) in reals.enumerated() {
      try context.make(
        "Thing", ["real": real, "narrow": real.map { Float($0) }, "number": integers[place % integers.count]])
    }
    try context.save()
    for attribute in ["real", "narrow", "number"] {
      for real in reals {
        guard let real else { continue }
        for sign in ["==", "!=", "<", "<=", ">", ">="] {
          try found("\(attribute) \(sign) %@", [real])
          try found("NOT (\(attribute) \(sign) %@)", [real])
          try found("%@ \(sign) \(attribute)", [real])
        }
        try found("\(attribute) IN %@", [[real, 1.0]])
        for other in [Double.nan, 0, 1, .infinity] {
          try found("\(attribute) BETWEEN %@", [[real, other]])
          try found("\(attribute) >= %@ AND \(attribute) < %@", [real, other])
        }
      }
      for integer in integers {
        guard let integer else { continue }
        for sign in ["==", "!=", "<", "<=", ">", ">="] { try found("\(attribute) \(sign) %@", [integer]) }
        try found("\(attribute) BETWEEN %@", [[integer, Int64.max]])
        try found("real == %@ AND number <= %@", [1.0, integer])
      }
      for ascending in [true, false] {
        let request = request(nil)
        request.sortDescriptors = [FetchSortDescriptor(key: attribute, ascending: ascending)]
        let all = try context.fetch(request).map(\.objectID)
        #expect(all.count == reals.count)
        for limit in [1, 5, 17] {
          request.fetchLimit = limit
          #expect(try context.fetch(request).map(\.objectID) == Array(all.prefix(limit)), "\(attribute)")
        }
      }
    }
    #expect(try found("real == 0") == 2)
    #expect(try found("real == -0.0") == 2)
    // One group for both zeros, and one for what is no number.
    let groups = FetchRequest<[String: Any]>(entityName: "Thing")
    groups.propertiesToFetch = ["real"]
    groups.returnsDistinctResults = true
    #expect(try context.fetch(groups).count == reals.count - 2)
  }

  @Test func arithmeticAtTheEdge() throws {
    let integers: [Int64?] = [nil, 0, 1, -1, .max, .min, .max - 1, 63, 64, -64]
    let reals: [Double] = [.nan, .infinity, -.infinity, 0, -0.0, 0x1p63, -0x1p63, 1e300, 0.5, -1]
    var last: ManagedObject?
    for integer in integers {
      for real in reals {
        let thing = try context.make("Thing", ["number": integer, "real": real, "text": "\(real)"])
        thing.setValue(last, forKey: "parent")
        thing.setValue([last, thing].compactMap { $0 }, forKey: "links")
        last = real == 0.5 ? thing : last
      }
    }
    try context.save()
    let values = [
      "number + number", "number - 1", "number * number", "number / 0", "number / -1", "number / number",
      "number ** 1000",
      "number ** -1", "2 ** number", "-(number)", "abs(number)", "modulus:by:(number, 0)", "modulus:by:(number, -1)",
      "modulus:by:(number, number)", "leftshift:by:(number, 64)", "leftshift:by:(1, number)",
      "rightshift:by:(number, 100)",
      "rightshift:by:(number, number)", "bitwiseXor:with:(number, -1)", "onesComplement(number)", "real + real",
      "real / 0",
      "real ** real", "sqrt(real)", "log(real)", "ln(real)", "exp(real)", "floor(real)", "ceiling(real)", "trunc(real)",
      "CAST(real, 'NSDate')", "CAST(CAST(real, 'NSDate'), 'NSNumber')", "CAST(real, 'NSDecimalNumber')",
      "CAST(real, 'NSString')",
      "CAST(text, 'NSNumber')", "CAST(number, 'NSDecimalNumber') * number", "CAST(text, 'NSDecimalNumber') + 1",
      "number + real", "number * real", "modulus:by:(number, real)", "bitwiseAnd:with:(number, real)",
      "children.@sum.number",
      "children.@avg.real", "children.@max.real", "children.@min.real", "average({number, real})",
      "median({number, real, 1})",
      "mode({number, 1, 1})", "stddev({number, real})", "sum({number, number})", "max({number, real})",
      "min({real, number})",
      "count({number})", "length(text)", "parent.number + number", "TERNARY(real > number, real, number)",
    ]
    var (answered, refused) = (0, 0)
    for value in values {
      for other in ["0", "real", "nil", "-9223372036854775808"] {
        for sign in ["==", "<"] {
          // Some compare what cannot be compared: that is said before anything is read.
          do { try found("\(value) \(sign) \(other)") } catch let error as CambiumError {
            #expect(error.code == .invalidPredicate, "\(error)")
            refused += 1
            continue
          }
          answered += 1
        }
      }
    }
    #expect(answered > 300 && refused < 100, "\(answered) were answered, \(refused) refused")
    for index in ["number", "real", "9223372036854775807", "-1", "1e300", "number - 1"] {
      try found("links.number[\(index)] >= 0")
    }
    // What is computed of many, however large.
    let sums = FetchRequest<[String: Any]>(entityName: "Thing")
    sums.propertiesToFetch = try ["sum", "average", "max", "min", "count", "stddev", "median", "mode"].flatMap { name in
      try ["number", "real"].map { .expression(name + $0, try FetchExpression(format: "\(name)(\($0))")) }
    }
    #expect(try context.fetch(sums).count == 1)
  }

  @Test func textsThatAreNotCharacters() throws {
    let texts: [String?] = [
      nil, "", "\0", "a", "a\0", "a\0b", "a\u{1}", "A", "e", "e\u{301}", "\u{E9}", "e\u{301}x", "\u{301}", "\u{301}e",
      "x\u{301}\u{323}", "x\u{323}\u{301}", "\u{1100}", "\u{1100}\u{1161}", "\u{AC00}", "\u{10FFFF}", "\u{10FFFF}a",
      "\u{FFFF}", "\u{D7FF}", "\u{E000}", "\u{FB01}", "fi", "ss", "\u{DF}", "\u{130}", "i\u{307}", "I", "\u{212B}",
      "\u{C5}",
      "A\u{30A}", String(repeating: "a", count: 1500), String(repeating: "a", count: 1500) + "\u{301}",
      String(repeating: "a", count: 1499) + "b", String(repeating: "\u{301}", count: 1000),
    ]
    for text in texts { try context.make("Thing", ["text": text, "plain": text]) }
    try context.save()
    // In a short run each question is asked of a third of the texts.
    let step = isFullLength ? 1 : 3
    for (n, text) in texts.enumerated() {
      guard let text else { continue }
      for (i, options) in ["", "[c]", "[cd]"].enumerated() {
        for (k, sign) in ["==", "!=", "<", "<=", ">", ">=", "BEGINSWITH", "ENDSWITH", "CONTAINS"].enumerated()
        where (n + i + k) % step == 0 {
          try found("text \(sign)\(options) %@", [text])
        }
      }
      let end = text + "\u{10FFFF}"
      try found("text BETWEEN %@", [[text, end]])
      try found("text >= %@ AND text < %@", [text, end])
      try found("text IN %@", [[text, "a"]])
      if !text.contains(where: { "*?\\".contains($0) }) {
        try found("text LIKE %@", [text + "*"])
        try found("text LIKE[cd] %@", [text + "?"])
      }
    }
    // What a mark makes of the letter before it is another letter.
    #expect(try found("text BEGINSWITH 'e'") == 1)
    #expect(try found("text BEGINSWITH %@", ["a\0"]) == 2)
  }

  @Test func patternsOfManyStars() throws {
    let long = String(repeating: "a", count: 20_000)
    for text in [long, long + "b", "", "b", nil] { try context.make("Thing", ["text": text, "plain": text]) }
    try context.save()
    let stars = String(repeating: "a*", count: 10_000)
    #expect(try found("plain LIKE %@", [String(repeating: "*", count: 100_000)]) == 4)
    #expect(try found("plain LIKE %@", [stars + "b"]) == 1)
    #expect(try found("text LIKE %@", [stars + "c"]) == 0)
    #expect(try found("text LIKE %@", [String(repeating: "*a", count: 10_000) + "*"]) == 2)
    #expect(try found("plain LIKE[cd] %@", [String(repeating: "*?", count: 10_000) + "B"]) == 1)
    #expect(try found("plain LIKE %@", [String(repeating: "?", count: 20_001)]) == 1)
    #expect(try found("plain LIKE %@", [String(repeating: "*a*a*c", count: 15_000)]) == 0)
  }

  @Test func listsOfAMillion() throws {
    for number in 0..<300 {
      try context.make("Thing", ["number": number * 7919, "text": "t\(number)", "plain": "t\(number)"])
    }
    try context.save()
    let count = isFullLength ? 1_000_000 : 200_000
    let numbers = Array(0..<count)
    let expected = (0..<300).filter { $0 * 7919 < count }.count
    for predicate in [
      try FetchPredicate(format: "number IN %@", argumentArray: [numbers]),
      try FetchPredicate(format: "number IN %@ AND plain != nil", argumentArray: [numbers]),
    ] {
      #expect(try context.fetch(request(predicate)).count == expected)
      #expect(try context.count(for: request(predicate)) == expected)
    }
    let none = try FetchPredicate(format: "NOT (number IN %@)", argumentArray: [numbers])
    #expect(try context.fetch(request(none)).count == 300 - expected)
    let texts = (0..<count).map { "t\($0)" }
    for attribute in ["text", "plain"] {
      let predicate = try FetchPredicate(format: "\(attribute) IN %@", argumentArray: [texts])
      #expect(try context.fetch(request(predicate)).count == 300)
    }
  }

  @Test func conditionsInGreatNumber() throws {
    // Three of the numbers are asked for.
    let distance = isFullLength ? 1000 : 250
    for number in 0..<50 { try context.make("Thing", ["number": number * distance, "text": "t\(number)"]) }
    try context.save()
    let count = 3 * distance
    func joined(_ separator: String, _ part: (Int) -> String) -> String {
      (0..<count).map(part).joined(separator: separator)
    }
    for (format, expected) in [
      (joined(" OR ") { "number == \($0)" }, 3), (joined(" AND ") { "number != \($0)" }, 47),
      (joined(" OR ") { "text == 't\($0)' AND number < \(count)" }, 3),
      ("number IN {" + joined(", ") { "\($0)" } + "}", 3),
      ("number IN {" + joined(", ") { "\($0), linked.@count" } + "}", 3),
      ("NOT (" + joined(" || ") { "number BETWEEN {\($0), \($0)}" } + ")", 47),
      (joined(" OR ") { "ANY links.number == \($0)" } + " OR number == \(distance)", 1),
      ("number < " + String(repeating: "(", count: 90) + "\(distance)" + String(repeating: " + 1)", count: 90), 2),
    ] {
      let predicate = try FetchPredicate(format: format)
      #expect(try FetchPredicate(format: predicate.predicateFormat) == predicate)
      #expect(try found(format) == expected, "\(format.prefix(80))")
    }
  }

  @Test func subqueriesInSubqueries() throws {
    var things: [ManagedObject] = []
    for number in 0..<40 {
      let thing = try context.make(
        "Thing", ["number": number % 5 == 0 ? nil : number, "text": number % 7 == 0 ? nil : "t\(number % 4)"])
      things.append(thing)
    }
    // Trees, things alone, one that is its own parent, and two that are each other's.
    for number in 1..<30 where number != 7 { things[number].setValue(things[(number - 1) / 2], forKey: "parent") }
    things[35].setValue(things[35], forKey: "parent")
    things[36].setValue(things[37], forKey: "parent")
    things[37].setValue(things[36], forKey: "parent")
    try context.save()
    for format in [
      "SUBQUERY(children, $a, SUBQUERY($a.children, $b, $b.number > $a.number AND $b.text != nil).@count > 0).@count > 0",
      "SUBQUERY(children, $a, SUBQUERY($a.children, $b, SUBQUERY($b.children, $c, $c.number > number).@count > 0).@count > 0)"
        + ".@count >= 1",
      "SUBQUERY(children, $a, $a.number == nil).@count == SUBQUERY(children, $a, $a.number != nil).@count",
      "SUBQUERY(children, $a, SUBQUERY(children, $a, $a.number == 3).@count == 1).@count > 0",
      "SUBQUERY(SUBQUERY(children, $a, $a.number > 3), $b, $b.text == 't1' OR $b.parent.text == $b.text).@count > 0",
      "SUBQUERY(children, $a, $a.parent == SELF).@count == children.@count",
      "SUBQUERY(parent.children, $a, $a != SELF AND $a.number < number).@count > 0",
      "NOT (ANY children.number > 3) AND NONE children.text == nil AND ALL children.number != 2",
      "SUBQUERY(children, $a, ANY $a.children.number IN {3, 4, 5, nil}).@count != 0",
      "ANY children.parent.number == number", "parent.parent.parent.number == nil AND parent.parent != nil",
      "SUBQUERY(children, $a, $a.children.@max.number > number + 1).@count > 0",
    ] {
      let count = try found(format)
      #expect(count > 0, "\(format)")
    }
    // As deep as is allowed, and deeper.
    func nested(_ depth: Int) -> String {
      (0..<depth).reversed().reduce("$x\(depth - 1).number != nil") { inner, level in
        "SUBQUERY(\(level == 0 ? "children" : "$x\(level - 1).children"), $x\(level), \(inner)).@count > 0"
      }
    }
    for depth in [5, 20, 40] { try found(nested(depth)) }
    #expect(throws: CambiumError.self) { try FetchPredicate(format: nested(1000)) }
  }

  @Test func limitsOfAnySize() throws {
    for number in 0..<100 { try context.make("Thing", ["number": number % 10, "text": "t\(number)"]) }
    try context.save()
    for format in ["TRUEPREDICATE", "number == 3", "number > 3 AND text != 't4'", "plain == nil", "number IN {1, 2}"] {
      for sort in [[], ["number"], ["text"], ["plain", "text"]] {
        let request = request(try FetchPredicate(format: format))
        request.sortDescriptors = sort.map { FetchSortDescriptor(key: $0) }
        let all = try context.fetch(request).map(\.objectID)
        for offset in [0, 1, all.count, all.count + 1, Int.max - 1, Int.max] {
          for limit in [0, 1, 7, Int.max - 1, Int.max] {
            request.fetchOffset = offset
            request.fetchLimit = limit
            let end = limit == 0 ? all.count : min(all.count, min(offset, all.count) &+ min(limit, all.count))
            let expected = Array(all[min(offset, all.count)..<end])
            let text = "\(format), by \(sort), offset \(offset), limit \(limit)"
            #expect(try context.fetch(request).map(\.objectID) == expected, "\(text)")
            #expect(try context.count(for: request) == expected.count, "\(text)")
            for size in [1, Int.max] {
              request.fetchBatchSize = size
              #expect(try context.fetch(request).map(\.objectID) == expected, "\(text), batches of \(size)")
            }
            request.fetchBatchSize = 0
            let values = FetchRequest<[String: Any]>(entityName: "Thing")
            values.predicate = request.predicate
            values.sortDescriptors = request.sortDescriptors
            values.propertiesToFetch = ["text", "number", "plain"]
            (values.fetchOffset, values.fetchLimit) = (offset, limit)
            #expect(try context.fetch(values).count == expected.count, "\(text), as dictionaries")
            values.returnsDistinctResults = true
            #expect(try context.fetch(values).count == expected.count, "\(text), distinct")
          }
        }
      }
    }
  }
}
