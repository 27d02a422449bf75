/// Reads comma-separated values as RFC 4180 describes them, a record at a time.
///
/// A field may be quoted; within quotes commas, line ends and doubled quotes are content. Lines end with LF or CR LF,
/// the last one may end without. The first record names the columns, and every other must have as many fields. A byte
/// order mark is skipped. Whatever is not so is an error that names the file and line: nothing is guessed.
///
/// Fields are ranges of the bytes read until somebody asks for their value, so a record costs no allocation. The file
/// is read in pieces: what is held of it is a piece and the current record.
struct CSVReader {
  /// The file's name, for errors.
  let file: String
  /// The names of the columns.
  private(set) var header: [String] = []
  /// The line on which the current record begins, from 1.
  private(set) var line = 0
  /// The length of the file in bytes.
  let length: Int
  /// How far the file has been read, in bytes.
  var offset: Int { dropped + position }

  private let input: InputFile?
  private let pieceLength: Int
  /// A part of the file, and how many bytes came before it.
  private var bytes: [UInt8]
  private var dropped = 0
  private var position = 0
  private var nextLine = 1
  private var fields: [Field] = []

  private struct Field {
    var start: Int
    var end: Int
    /// Whether doubled quotes are to be made single.
    var hasDoubledQuotes: Bool
  }

  /// Starts to read text that is in memory; the header is read at once.
  init(file: String, bytes: [UInt8]) throws(CSVError) {
    self.file = file
    self.bytes = bytes
    length = bytes.count
    input = nil
    pieceLength = 1
    try readHeader()
  }

  /// Starts to read a file in pieces of so many bytes; the header is read at once.
  init(file: String, input: InputFile, pieceLength: Int = 1 << 18) throws(CSVError) {
    self.file = file
    self.input = input
    self.pieceLength = max(pieceLength, 1)
    bytes = []
    length = input.length
    try readHeader()
  }

  private mutating func readHeader() throws(CSVError) {
    while bytes.count < 3, try refill() {}
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    guard try readRecord() else { throw CSVError(file: file, line: 1, problem: "the file is empty") }
    for index in fields.indices { header.append(try text(index)) }
  }

  /// The place of a column.
  func column(_ name: String) throws(CSVError) -> Int {
    guard let index = header.firstIndex(of: name) else {
      throw CSVError(file: file, line: 1, problem: "there is no column '\(name)'")
    }
    return index
  }

  /// Goes on to the next record; false at the end.
  mutating func next() throws(CSVError) -> Bool {
    guard try readRecord() else { return false }
    guard fields.count == header.count else {
      throw failure("\(fields.count) fields where there are \(header.count) columns")
    }
    return true
  }

  // MARK: Fields of the current record

  /// The bytes of a field as they are in the file, quotes aside.
  private func content(_ column: Int) -> ArraySlice<UInt8> {
    guard fields.indices.contains(column) else { return [] }
    let field = fields[column]
    return bytes[field.start..<field.end]
  }

  /// A field as text.
  func text(_ column: Int) throws(CSVError) -> String {
    let content = content(column)
    let result =
      fields.indices.contains(column) && fields[column].hasDoubledQuotes
      ? String(validating: Self.withoutDoubledQuotes(content), as: UTF8.self)
      : String(validating: content, as: UTF8.self)
    guard let result else { throw failure("column '\(header[column])' is not UTF-8") }
    return result
  }

  /// Whether a field says that there is no value: `NA`, or nothing at all.
  func isMissing(_ column: Int) -> Bool {
    let content = content(column)
    return content.isEmpty || (content.count == 2 && content.elementsEqual([UInt8(ascii: "N"), UInt8(ascii: "A")]))
  }

  /// A field as text; nil if the value is missing.
  func optionalText(_ column: Int) throws(CSVError) -> String? {
    isMissing(column) ? nil : try text(column)
  }

  /// A field as an integer.
  func integer(_ column: Int) throws(CSVError) -> Int {
    let content = content(column)
    var value = 0
    var isNegative = false
    var digits = 0
    for byte in content {
      if digits == 0, !isNegative, byte == UInt8(ascii: "-") {
        isNegative = true
        continue
      }
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9"), digits < 18 else { throw notA("an integer", column) }
      value = value * 10 + Int(byte - UInt8(ascii: "0"))
      digits += 1
    }
    guard digits > 0 else { throw notA("an integer", column) }
    return isNegative ? -value : value
  }

  /// A field as an integer; nil if the value is missing.
  func optionalInteger(_ column: Int) throws(CSVError) -> Int? {
    isMissing(column) ? nil : try integer(column)
  }

  /// A field as a floating-point number; nil if the value is missing.
  func optionalDouble(_ column: Int) throws(CSVError) -> Double? {
    if isMissing(column) { return nil }
    guard let value = Double(try text(column)), value.isFinite else { throw notA("a number", column) }
    return value
  }

  /// An error at the current record.
  func failure(_ problem: String) -> CSVError { failure(problem, at: line) }

  /// An error at the record that begins on a line.
  func failure(_ problem: String, at line: Int) -> CSVError { CSVError(file: file, line: line, problem: problem) }

  private func notA(_ what: String, _ column: Int) -> CSVError {
    let shown = String(decoding: content(column).prefix(40), as: UTF8.self)
    return failure("column '\(header[column])' is '\(shown)', which is not \(what)")
  }

  private static func withoutDoubledQuotes(_ content: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var previousWasQuote = false
    for byte in content {
      if byte == UInt8(ascii: "\""), previousWasQuote {
        previousWasQuote = false
        continue
      }
      previousWasQuote = byte == UInt8(ascii: "\"")
      result.append(byte)
    }
    return result
  }

  // MARK: Scanning

  /// Whether there is a byte at `position`, or one can be read.
  private mutating func hasMore(_ count: Int = 1) throws(CSVError) -> Bool {
    while position + count > bytes.count {
      guard try refill() else { return false }
    }
    return true
  }

  /// Reads another piece; false at the end of the file.
  private mutating func refill() throws(CSVError) -> Bool {
    guard let input else { return false }
    do throws(DataError) {
      let piece = try input.read(pieceLength)
      bytes += piece
      return !piece.isEmpty
    } catch { throw failure(error.description) }
  }

  /// Forgets what lies before the current record.
  private mutating func dropRead() {
    guard input != nil, position >= pieceLength else { return }
    bytes.removeFirst(position)
    dropped += position
    position = 0
  }

  /// Reads a record into `fields`; false at the end of the file.
  private mutating func readRecord() throws(CSVError) -> Bool {
    fields.removeAll(keepingCapacity: true)
    dropRead()
    line = nextLine
    guard try hasMore() else { return false }
    while true {
      let isQuoted = try hasMore() && bytes[position] == UInt8(ascii: "\"")
      if isQuoted { try readQuotedField() } else { try readPlainField() }
      guard try hasMore() else { return true }
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: ","): continue
      case UInt8(ascii: "\n"):
        nextLine += 1
        return true
      case UInt8(ascii: "\r"):
        guard try hasMore(), bytes[position] == UInt8(ascii: "\n") else {
          throw failure("a carriage return without a line feed; quote the field")
        }
        position += 1
        nextLine += 1
        return true
      default: throw failure("text after the closing quote of field \(fields.count)")
      }
    }
  }

  /// Reads up to a comma, a line's end, or the file's end.
  private mutating func readPlainField() throws(CSVError) {
    let start = position
    while try hasMore() {
      // Only at the end of the piece is there another one to read.
      let isAtEnd = skipPlainBytes()
      if !isAtEnd { break }
    }
    if position < bytes.count, bytes[position] == UInt8(ascii: "\"") {
      throw failure("a quote within field \(fields.count + 1), which is not quoted")
    }
    fields.append(Field(start: start, end: position, hasDoubledQuotes: false))
  }

  /// Goes on to the next comma, line's end or quote; true if the bytes that were read have none.
  private mutating func skipPlainBytes() -> Bool {
    var place = position
    defer { position = place }
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\""): return false
      default: place += 1
      }
    }
    return true
  }

  /// Reads a field from its opening quote past its closing one.
  private mutating func readQuotedField() throws(CSVError) {
    position += 1
    let start = position
    var hasDoubledQuotes = false
    while try hasMore() {
      let byte = bytes[position]
      if byte == UInt8(ascii: "\n") { nextLine += 1 }
      if byte == UInt8(ascii: "\"") {
        let isDoubled = try hasMore(2) && bytes[position + 1] == UInt8(ascii: "\"")
        if !isDoubled {
          fields.append(Field(start: start, end: position, hasDoubledQuotes: hasDoubledQuotes))
          position += 1
          return
        }
        hasDoubledQuotes = true
        position += 1
      }
      position += 1
    }
    throw failure("the quote that opens field \(fields.count + 1) is never closed")
  }
}
