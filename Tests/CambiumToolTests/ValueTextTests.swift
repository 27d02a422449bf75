import CambiumEngine
import CambiumKernel
import Testing

@testable import CambiumTool

@Suite struct ValueTextTests {
  @Test(arguments: [
    (0.0, "2001-01-01T00:00:00Z"), (378_691_200, "2013-01-01T00:00:00Z"), (-86_400, "2000-12-31T00:00:00Z"),
    (-26_524_800, "2000-02-29T00:00:00Z"), (-26_438_400, "2000-03-01T00:00:00Z"), (0.5, "2001-01-01T00:00:00.5Z"),
    (-0.25, "2000-12-31T23:59:59.75Z"), (0.999_999_9, "2001-01-01T00:00:01Z"),
    (11_047.000_001, "2001-01-01T03:04:07.000001Z"),
    (-63_113_904_000, "0001-01-01T00:00:00Z"), (252_423_993_599, "9999-12-31T23:59:59Z"),
    (252_423_993_600, "252423993600.0"), (-63_113_904_001, "-63113904001.0"), (.infinity, "inf"), (.nan, "nan"),
  ]) func dates(_ seconds: Double, _ text: String) {
    #expect(dateText(seconds) == text)
  }

  /// Every day of 800 years is the day after the one before.
  @Test func daysFollowOneAnother() {
    var date = (year: 1800, month: 1, day: 1)
    for days in -73_414..<218_780 {
      let digits = dateText(Double(days) * 86_400).prefix(10).split(separator: "-").compactMap { Int($0) }
      guard digits == [date.year, date.month, date.day] else {
        Issue.record("\(digits) instead of \(date)")
        return
      }
      // Predicates read what is printed.
      let seconds = Double(days) * 86_400 + Double(abs(days % 86_400)) + 0.5
      guard (try? ISODate.seconds(of: dateText(seconds))) == seconds else {
        Issue.record("\(dateText(seconds)) is read as another moment")
        return
      }
      let isLeap = date.year % 4 == 0 && (date.year % 100 != 0 || date.year % 400 == 0)
      date.day += 1
      if date.day > [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][date.month - 1] {
        date = date.month == 12 ? (date.year + 1, 1, 1) : (date.year, date.month + 1, 1)
      }
    }
    #expect(date == (2600, 1, 1))
  }

  @Test func valuesAsTextAndJSON() throws {
    let schema = try Schema(SchemaDefinition([EntitySchema("Thing", attributes: [AttributeSchema("a", .string)])]))
    let texts = ValueText(schema: schema)
    let thing = try #require(schema.entity(named: "Thing"))
    let values: [(Value, text: String?, json: String)] = [
      (.null, nil, "null"), (.boolean(true), "true", "true"), (.integer(-7), "-7", "-7"), (.double(0.5), "0.5", "0.5"),
      (.double(.nan), "nan", "null"), (.float(0.1), "0.1", "0.1"), (.string("a\"\n"), "a\"\n", #""a\"\n""#),
      (.decimal(try #require(DecimalValue("12.50"))), "12.5", "12.5"),
      (.date(0), "2001-01-01T00:00:00Z", #""2001-01-01T00:00:00Z""#),
      (.binary([0, 0xAF]), "00af", #""00af""#), (.uri("https://a"), "https://a", #""https://a""#),
      (.reference(ObjectReference(entity: thing.id, row: 3)), "Thing/3", #""Thing/3""#),
      (.list([1, nil]), "[1,null]", "[1,null]"),
      (.composite(["x": 1, "y": nil]), #"{"x":1,"y":null}"#, #"{"x":1,"y":null}"#),
    ]
    for (value, text, json) in values {
      #expect(texts.text(value) == text)
      #expect(texts.json(value).line == json)
    }
  }
}
