/// Replacements of parts of a source, which do not overlap. All other bytes stay as they are.
struct SourceEdits {
  private struct Edit {
    var range: Range<Int>
    var text: String
  }

  private var edits: [Edit] = []
  /// Attributes and modifiers to take out.
  private var removals: [Range<Int>] = []

  var isEmpty: Bool { edits.isEmpty && removals.isEmpty }

  /// Puts a text in the place of some bytes.
  mutating func replace(_ range: Range<Int>, with text: String) { edits.append(Edit(range: range, text: text)) }

  /// Puts a text before the byte at an offset.
  mutating func insert(_ text: String, at offset: Int) { replace(offset..<offset, with: text) }

  /// Takes a word or an attribute out, with the blanks behind it, or with its line if the line has nothing else.
  mutating func remove(_ range: Range<Int>) { removals.append(range) }

  /// The source with all edits. Of two edits that overlap the later one is left out.
  func applied(to source: SourceText) -> String {
    let all = (edits + joinedRemovals(in: source).map { Edit(range: $0, text: "") })
      .enumerated().sorted { ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset) }
    var result: [UInt8] = []
    var position = 0
    for (_, edit) in all {
      guard edit.range.lowerBound >= position, edit.range.upperBound <= source.bytes.count else { continue }
      result += source.bytes[position..<edit.range.lowerBound]
      result += edit.text.utf8
      position = edit.range.upperBound
    }
    result += source.bytes[position...]
    return String(decoding: result, as: UTF8.self)
  }

  /// Removals with the blanks behind them. Neighbours become one, so that a line of two attributes goes as a whole.
  private func joinedRemovals(in source: SourceText) -> [Range<Int>] {
    let bytes = source.bytes
    func afterBlanks(_ offset: Int) -> Int {
      var offset = offset
      while offset < bytes.count, bytes[offset] == 0x20 || bytes[offset] == 0x09 { offset += 1 }
      return offset
    }
    var joined: [Range<Int>] = []
    for range in removals.sorted(by: { $0.lowerBound < $1.lowerBound }) where range.upperBound <= bytes.count {
      let end = afterBlanks(range.upperBound)
      if let last = joined.last, last.upperBound >= range.lowerBound {
        joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, end)
      } else {
        joined.append(range.lowerBound..<end)
      }
    }
    return joined.map { range in
      let start = source.startOfLine(at: range.lowerBound)
      let isWholeLine = afterBlanks(start) == range.lowerBound
      var end = range.upperBound
      guard isWholeLine, end < bytes.count, bytes[end] == 0x0D || bytes[end] == 0x0A else { return range }
      if bytes[end] == 0x0D { end += 1 }
      if end < bytes.count, bytes[end] == 0x0A { end += 1 }
      return start..<end
    }
  }
}
