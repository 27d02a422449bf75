import Testing

@testable import CambiumModelFiles

@Suite struct XMLReaderTests {
  private func events(_ text: String) throws -> [XMLReader.Event] {
    var reader = try XMLReader(Array(text.utf8))
    var result: [XMLReader.Event] = []
    while let event = try reader.next() { result.append(event) }
    return result
  }

  /// Events as one line: `<a x=1>text</>`.
  private func flat(_ text: String) throws -> String {
    try events(text).map {
      switch $0 {
      case .start(let name, let attributes):
        return "<" + name + attributes.map { " \($0.name)=\($0.value)" }.joined() + ">"
      case .end: return "</>"
      case .text(let text): return text
      }
    }.joined()
  }

  @Test(arguments: [
    ("<a/>", "<a></>"),
    ("\u{FEFF}<?xml version=\"1.0\" encoding='UTF-8' standalone=\"yes\"?>\n<a></a>\n", "<a></>"),
    ("<a b='1' c = \"2\" ><d/>x</a >", "<a b=1 c=2><d></>x</>"),
    ("<a b='&lt;&amp;&gt;&quot;&apos;&#65;&#x42;&#x1F600;'/>", "<a b=<&>\"'AB\u{1F600}></>"),
    ("<a b='x\r\n\ty\n'/>", "<a b=x  y ></>"),
    ("<a b='&#10;'/>", "<a b=\n></>"),
    ("<a>1\r\n2\r3</a>", "<a>1\n2\n3</>"),
    ("<a><!-- <b> & -- not --></a>".replacing("-- not ", with: ""), "<a></>"),
    ("<?pi ?> <a><![CDATA[<b>]] &amp;]]></a><!-- end --> <?x y?>", "<a><b>]] &amp;</>"),
    ("<!DOCTYPE plist PUBLIC \"-//A>//\" \"http://x\">\n<plist/>", "<plist></>"),
    ("<größe x:é=\"ü\"/>", "<größe x:é=ü></>"),
  ])
  func reads(text: String, expected: String) throws { #expect(try flat(text) == expected) }

  @Test(arguments: [
    ("", 1, 1), ("  ", 1, 3), ("x", 1, 1), ("<a>", 1, 4), ("<a></b>", 1, 4), ("</a>", 1, 1), ("<a/><b/>", 1, 5),
    ("<a/>x", 1, 5), ("<a b/>", 1, 5), ("<a b=1/>", 1, 6), ("<a b='1'c='2'/>", 1, 9), ("<a b='1' b='2'/>", 1, 10),
    ("<a b='<'/>", 1, 7), ("<a b='&x;'/>", 1, 7), ("<a b='&'/>", 1, 7), ("<a>&#0;</a>", 1, 4),
    ("<a>&#xD800;</a>", 1, 4), ("<a>&#x110000;</a>", 1, 4), ("<a>&#+65;</a>", 1, 4), ("<a>&#99999999999;</a>", 1, 4),
    ("<a>]]></a>", 1, 4), ("<a>\n<![CDATA[x</a>", 2, 10), ("<![CDATA[x]]><a/>", 1, 1), ("<!-- a -- b --><a/>", 1, 10),
    ("<!-- a", 1, 5), ("<a/><!DOCTYPE a>", 1, 5), ("<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", 1, 13),
    ("<!DOCTYPE a", 1, 12), ("<a/><?xml version='1.0'?>", 1, 5), ("<?xml version='1.1'?><a/>", 1, 1),
    ("<?xml version='1.0' encoding='latin1'?><a/>", 1, 1), ("<?xml version='1.0'", 1, 1), ("<?pi", 1, 1),
    ("<1/>", 1, 2), ("<a\u{1}/>", 1, 3), ("<a>ä\nö&</a>", 2, 2), ("<a b='x", 1, 8), ("<a ", 1, 4), ("<a /x>", 1, 5),
  ])
  func refuses(text: String, line: Int, column: Int) {
    #expect {
      try events(text)
    } throws: { error in
      guard case .malformed(let foundLine, let foundColumn, let detail)? = error as? ModelDocumentError else {
        return false
      }
      return foundLine == line && foundColumn == column && !detail.isEmpty
    }
  }

  @Test func encodings() {
    for bytes: [UInt8] in [[0xFE, 0xFF, 0, 0x3C], [0xFF, 0xFE, 0x3C, 0], [0x3C, 0xC3, 0x3E], [0xC0, 0xAF]] {
      #expect(throws: ModelDocumentError.self) { try XMLReader(bytes) }
    }
  }

  @Test func limits() throws {
    let depth = XMLReader.depthLimit
    let nested = String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
    #expect(try events(nested).count == 2 * depth)
    #expect(throws: ModelDocumentError.self) { try events("<a>" + nested + "</a>") }
    let many = (0..<XMLReader.attributeLimit).map { " a\($0)=''" }.joined()
    #expect(try events("<a\(many)/>").count == 2)
    #expect(throws: ModelDocumentError.self) { try events("<a\(many) more=''/>") }
    #expect(throws: ModelDocumentError.tooLarge) {
      try XMLReader([UInt8](repeating: 0x20, count: XMLReader.sizeLimit + 1))
    }
  }

  @Test func tree() throws {
    let document = try XMLDocument(Array("<a x='1'>\n  <b>t<c/>u</b>\n</a>".utf8))
    #expect(document.root["x"] == "1")
    #expect(document.root["y"] == nil)
    #expect(document.root.children.map { $0.name } == ["b"])
    #expect(document.root.children[0].text == "tu")
    #expect(document.line(document.root.children[0].offset) == 2)
    #expect(document.line(0) == 1)
  }
}
