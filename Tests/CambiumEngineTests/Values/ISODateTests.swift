import Testing

@testable import CambiumEngine

/// Moments as ISO 8601 writes them.
@Suite struct ISODateTests {
  @Test(
    arguments: [
      ("2001-01-01", 0), ("2001-01-02", 86_400), ("2000-12-31T23:59:59Z", -1), ("2001-01-01T00:00:00.25", 0.25),
      ("2001-01-01 01:30", 5400), ("2001-01-01T01:30+01:00", 1800), ("2001-01-01T00:00-05:30", 19_800),
      ("2001-01-01T00:00:01,5Z", 1.5), ("2013-01-05", 379_036_800), ("2000-02-29", -26_524_800),
      ("1970-01-01T00:00:00Z", -978_307_200), ("0001-01-01", -63_113_904_000), ("9999-12-31T23:59:59", 252_423_993_599),
      ("1900-03-01", -3_182_198_400),
    ] as [(String, Double)])
  func seconds(text: String, expected: Double) throws {
    #expect(try ISODate.seconds(of: text) == expected)
  }

  @Test(arguments: [
    "", "2001", "2001-01", "2001-1-1", "01-01-2001", "2001/01/01", "2001-01-01T", "2001-01-01 ", "2001-01-01T12",
    "2001-01-01T12:00:", "2001-01-01T12:00:00.", "2001-01-01T12:00x", "2001-01-01T12:00+1", "2001-01-01T12:00+0100",
    "2001-01-01T12:00+24:00", "2001-01-01Z", "2001-01-01T12:00Zx", " 2001-01-01", "2001-01-01t12:00", "x",
    "+2001-01-01",
  ])
  func otherForms(text: String) {
    #expect(
      throws: ISODate.Problem(
        detail: "'\(text)' is no date: write a date such as \"2001-03-01\", or with a time in "
          + "UTC \"2001-03-01T14:30:00Z\"")
    ) { try ISODate.seconds(of: text) }
  }

  @Test(arguments: [
    ("0000-01-01", "there is no year 0"), ("2001-00-01", "there is no month 0"), ("2001-13-01", "there is no month 13"),
    ("2001-02-29", "month 2 of 2001 has 28 days"), ("1900-02-29", "month 2 of 1900 has 28 days"),
    ("2001-04-31", "month 4 of 2001 has 30 days"), ("2001-01-00", "month 1 of 2001 has 31 days"),
    ("2001-01-01T24:00", "a day ends at 23:59:59, and hours and minutes go to 59"),
    ("2001-01-01T23:60", "a day ends at 23:59:59, and hours and minutes go to 59"),
    ("2001-01-01T23:59:60", "a day ends at 23:59:59, and hours and minutes go to 59"),
  ])
  func wrongDates(text: String, reason: String) {
    #expect(throws: ISODate.Problem(detail: "'\(text)' is no date: \(reason)")) { try ISODate.seconds(of: text) }
  }
}
