import CambiumSourceText

extension String {
  /// The source without the blanks and comments before it, and without the blanks behind it.
  var trimmed: String {
    var reader = SourceReader(self)
    reader.skipTrivia()
    var end = reader.bytes.count
    while end > reader.position, [0x20, 0x0A, 0x0D, 0x09].contains(reader.bytes[end - 1]) { end -= 1 }
    return String(decoding: reader.bytes[reader.position..<end], as: UTF8.self)
  }
}
