/// A `LIKE` pattern: `?` stands for one Unicode scalar, `*` for any number of them, `\` makes the one after it
/// ordinary.
///
/// Matching keeps one place to return to, the last `*`: what an earlier one took need never be changed, since the later
/// one can take as much. A `*` therefore costs at most (length of the text) times (length up to the next `*`); nothing
/// is exponential.
struct LikePattern {
  private enum Part: Equatable {
    case scalar(UInt32)
    case one
    case many
  }

  private let parts: [Part]

  init(_ pattern: String, _ options: ComparisonOptions) {
    var parts: [Part] = []
    var literal = ""
    func endLiteral() {
      // Folded by pieces: a wildcard keeps its neighbours from composing.
      for scalar in FoldedText(literal, options).scalars { parts.append(.scalar(scalar)) }
      literal = ""
    }
    var isEscaped = false
    for scalar in pattern.unicodeScalars {
      if isEscaped {
        literal.unicodeScalars.append(scalar)
        isEscaped = false
      } else if scalar == "\\" {
        isEscaped = true
      } else if scalar == "?" || scalar == "*" {
        endLiteral()
        if scalar == "?" { parts.append(.one) } else if parts.last != .many { parts.append(.many) }
      } else {
        literal.unicodeScalars.append(scalar)
      }
    }
    if isEscaped { literal.unicodeScalars.append("\\") }
    endLiteral()
    self.parts = parts
  }

  func matches(_ folded: FoldedText) -> Bool {
    let text = folded.scalars
    var textPlace = 0
    var partPlace = 0
    var retry: (text: Int, part: Int)?
    while textPlace < text.count {
      if partPlace < parts.count {
        switch parts[partPlace] {
        case .many:
          partPlace += 1
          retry = (textPlace, partPlace)
          continue
        case .one:
          textPlace += 1
          partPlace += 1
          continue
        case .scalar(let scalar) where scalar == text[textPlace]:
          textPlace += 1
          partPlace += 1
          continue
        case .scalar: break
        }
      }
      guard let last = retry else { return false }
      textPlace = last.text + 1
      partPlace = last.part
      retry = (textPlace, partPlace)
    }
    while partPlace < parts.count, parts[partPlace] == .many { partPlace += 1 }
    return partPlace == parts.count
  }
}
