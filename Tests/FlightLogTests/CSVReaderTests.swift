import Testing

@testable import FlightLog

@Suite struct CSVReaderTests {
  private func records(_ text: String) throws -> [[String]] {
    var csv = try CSVReader(file: "test.csv", bytes: Array(text.utf8))
    var result = [csv.header]
    while try csv.next() {
      var fields: [String] = []
      for column in csv.header.indices { fields.append(try csv.text(column)) }
      result.append(fields)
    }
    return result
  }

  private func failure(_ text: String) -> CSVError? {
    do {
      _ = try records(text)
      return nil
    } catch { return error as? CSVError }
  }

  @Test func readsPlainFields() throws {
    #expect(try records("a,b\n1,2\n,\n") == [["a", "b"], ["1", "2"], ["", ""]])
    #expect(try records("a,b\r\n1,2\r\n") == [["a", "b"], ["1", "2"]])
    #expect(try records("a\n1") == [["a"], ["1"]])
    #expect(try records("a,b\n1,") == [["a", "b"], ["1", ""]])
    #expect(try records("a") == [["a"]])
    #expect(try records("\u{FEFF}a,b\n") == [["a", "b"]])
  }

  @Test func readsQuotedFields() throws {
    #expect(try records("a,b\n\"1,5\",\"\"\n") == [["a", "b"], ["1,5", ""]])
    #expect(try records("a,b\n\"say \"\"hi\"\"\",x\n") == [["a", "b"], ["say \"hi\"", "x"]])
    #expect(try records("a,b\n\"\"\"\",\"\"\"\"\"\"\n") == [["a", "b"], ["\"", "\"\""]])
    #expect(try records("a,b\n\"two\r\nlines\",\"x\"\r\n3,4") == [["a", "b"], ["two\r\nlines", "x"], ["3", "4"]])
    #expect(try records("\"a\",\"b\"\n\"ü\",\"日本\"") == [["a", "b"], ["ü", "日本"]])
  }

  @Test func namesTheLineOfWhatIsWrong() {
    #expect(failure("")?.line == 1)
    #expect(failure("a,b\n1,2\n3\n")?.description == "test.csv, line 3: 1 fields where there are 2 columns")
    #expect(failure("a,b\n1,2,3\n")?.line == 2)
    #expect(failure("a,b\n\"x\ny\",2\n1,2,3\n")?.line == 4)
    #expect(failure("a,b\n1,2\n\n")?.line == 3)
    #expect(failure("a,b\n\"1,2\n")?.problem.contains("never closed") == true)
    #expect(failure("a,b\n\"1\"x,2\n")?.problem.contains("after the closing quote") == true)
    #expect(failure("a,b\n1\"x\",2\n")?.problem.contains("not quoted") == true)
    #expect(failure("a,b\r1,2\n")?.problem.contains("carriage return") == true)
  }

  @Test func refusesWhatIsNotUTF8() throws {
    var csv = try CSVReader(file: "test.csv", bytes: Array("a\n".utf8) + [0xC3, 0x28])
    #expect(try csv.next())
    #expect(throws: CSVError.self) { try csv.text(0) }
  }

  @Test func readsNumbers() throws {
    var csv = try CSVReader(file: "test.csv", bytes: Array("a,b,c,d\n-12,NA,1.5,2400\n1x,,nan,2401\n".utf8))
    #expect(try csv.next())
    #expect(try csv.integer(0) == -12)
    #expect(try csv.optionalInteger(1) == nil)
    #expect(csv.isMissing(1))
    #expect(try csv.optionalText(1) == nil)
    #expect(try csv.optionalDouble(2) == 1.5)
    #expect(try csv.optionalMinutes(3) == 1440)
    #expect(throws: CSVError.self) { try csv.integer(2) }
    #expect(throws: CSVError.self) { try csv.integer(1) }
    #expect(try csv.next())
    #expect(throws: CSVError.self) { try csv.integer(0) }
    #expect(csv.isMissing(1))
    #expect(throws: CSVError.self) { try csv.optionalDouble(2) }
    #expect(throws: CSVError.self) { try csv.optionalMinutes(3) }
    #expect(try !csv.next())
  }

  @Test func findsColumns() throws {
    let csv = try CSVReader(file: "test.csv", bytes: Array("a,b\n".utf8))
    #expect(try csv.column("b") == 1)
    #expect(throws: CSVError.self) { try csv.column("c") }
  }

  /// The month of flights, read in pieces that end anywhere, gives what it gives in one.
  @Test(arguments: [1, 7, 4096]) func readsInPieces(_ pieceLength: Int) throws {
    let path = try DataFolder(path: nil).path + "/airlines.csv"
    let whole = try InputFile(path: path)
    let bytes = try whole.read(whole.length)
    #expect(bytes.count == whole.length)
    #expect(try whole.read(1).isEmpty)
    var expected = try CSVReader(file: "airlines.csv", bytes: bytes)
    var csv = try CSVReader(file: "airlines.csv", input: try InputFile(path: path), pieceLength: pieceLength)
    #expect(csv.header == ["carrier", "name"])
    var rows = 0
    while try expected.next() {
      #expect(try csv.next())
      for column in csv.header.indices { #expect(try csv.text(column) == expected.text(column)) }
      #expect(csv.line == expected.line)
      rows += 1
    }
    #expect(try !csv.next())
    #expect(csv.offset == csv.length)
    #expect(rows == 16)
  }

  @Test func countsDays() {
    #expect(daysSince2001(year: 2001, month: 1, day: 1) == 0)
    #expect(daysSince2001(year: 2000, month: 12, day: 31) == -1)
    #expect(daysSince2001(year: 2013, month: 1, day: 1) == 4383)
    #expect(daysSince2001(year: 2012, month: 3, day: 1).map { $0 + 306 } == 4383)
    #expect(daysSince2001(year: 1, month: 1, day: 1) == -730_485)
    #expect(daysSince2001(year: 2013, month: 2, day: 29) == nil)
    #expect(daysSince2001(year: 1900, month: 2, day: 29) == nil)
    #expect(daysSince2001(year: 2000, month: 2, day: 29) != nil)
    #expect(daysSince2001(year: 2013, month: 13, day: 1) == nil)
  }
}
