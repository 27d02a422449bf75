/// An element of a document with all that is in it.
struct XMLElement {
  let name: String
  let attributes: [XMLAttribute]
  /// Where it begins, in bytes from the beginning of the document.
  let offset: Int
  var children: [XMLElement] = []
  /// The text directly in the element, put together.
  var text = ""

  /// The value of an attribute. O(number of attributes).
  subscript(_ name: String) -> String? {
    for attribute in attributes where attribute.name == name { return attribute.value }
    return nil
  }

  /// Where an attribute begins; where the element does if it has none of that name.
  func offset(of name: String) -> Int {
    for attribute in attributes where attribute.name == name { return attribute.offset }
    return offset
  }
}

/// A whole document in memory.
struct XMLDocument {
  let root: XMLElement
  private let lineStarts: [Int]
  private let bytes: [UInt8]

  /// Reads a document. O(length); the reader's limits bound the depth.
  init(_ bytes: [UInt8]) throws(ModelDocumentError) {
    var reader = try XMLReader(bytes)
    var open: [XMLElement] = []
    var found: XMLElement?
    while let event = try reader.next() {
      switch event {
      case .start(let name, let attributes):
        open.append(XMLElement(name: name, attributes: attributes, offset: reader.eventOffset))
      case .text(let text): if let last = open.indices.last { open[last].text += text }
      case .end:
        guard let element = open.popLast() else { continue }
        if let last = open.indices.last { open[last].children.append(element) } else { found = element }
      }
    }
    guard let found else { throw reader.malformed("there is no element") }
    root = found
    self.bytes = bytes
    var starts = [0]
    for index in bytes.indices where bytes[index] == 10 { starts.append(index + 1) }
    lineStarts = starts
  }

  /// The line of a place, from 1. O(log of the number of lines).
  func line(_ offset: Int) -> Int {
    var (low, high) = (0, lineStarts.count)
    while low < high {
      let middle = (low + high) / 2
      if lineStarts[middle] <= offset { low = middle + 1 } else { high = middle }
    }
    return max(low, 1)
  }

  /// An error about what is at a place.
  func unusable(_ offset: Int, _ detail: String) -> ModelDocumentError {
    let place = XMLPlace(offset: offset, in: bytes)
    return .unusable(line: place.line, column: place.column, detail: detail)
  }
}
