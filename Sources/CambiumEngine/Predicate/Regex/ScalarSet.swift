/// A set of Unicode scalars, as a regular expression's class describes it.
struct ScalarSet {
  /// A part of a class with a name.
  enum Named {
    case digit, word, space, horizontalSpace
    /// Any scalar that does not end a line: `.`.
    case notLineEnd
    /// A general category, or a group of them such as `L`.
    case category(UInt8, UInt8)
  }

  var ranges: [ClosedRange<UInt32>] = []
  var named: [(name: Named, isNegated: Bool)] = []
  var isNegated = false
  /// Whether letters are in the set if they are in either case: the text is in small letters then.
  var ignoresCase = false

  init() {}

  init(_ name: Named, isNegated: Bool = false) { named = [(name, isNegated)] }

  func contains(_ scalar: UInt32) -> Bool {
    if includes(scalar) { return !isNegated }
    guard ignoresCase else { return isNegated }
    for other in otherCases(of: scalar) where includes(other) { return !isNegated }
    return isNegated
  }

  private func includes(_ scalar: UInt32) -> Bool {
    for range in ranges where range.contains(scalar) { return true }
    for part in named where part.name.contains(scalar) != part.isNegated { return true }
    return false
  }
}

extension ScalarSet.Named {
  func contains(_ scalar: UInt32) -> Bool {
    switch self {
    case .digit: return scalar < 0x80 ? scalar >= 0x30 && scalar <= 0x39 : hasCategory(scalar, "N", "d")
    case .space:
      if scalar < 0x80 { return scalar == 0x20 || (scalar >= 0x09 && scalar <= 0x0D) }
      return scalar == 0x85 || hasCategory(scalar, "Z", nil)
    case .horizontalSpace: return scalar == 0x09 || scalar == 0x20 || (scalar >= 0x80 && hasCategory(scalar, "Z", "s"))
    case .word: return isWordScalar(scalar)
    case .notLineEnd: return !isLineEnd(scalar)
    case .category(let major, let minor):
      return hasCategory(scalar, Unicode.Scalar(major), minor == 0 ? nil : Unicode.Scalar(minor))
    }
  }
}

/// Whether a scalar ends a line.
func isLineEnd(_ scalar: UInt32) -> Bool {
  (scalar >= 0x0A && scalar <= 0x0D) || scalar == 0x85 || scalar == 0x2028 || scalar == 0x2029
}

/// A letter, mark, decimal digit or connector such as `_`.
func isWordScalar(_ scalar: UInt32) -> Bool {
  if scalar < 0x80 {
    return (scalar | 0x20 >= 0x61 && scalar | 0x20 <= 0x7A) || (scalar >= 0x30 && scalar <= 0x39) || scalar == 0x5F
  }
  return hasCategory(scalar, "L", nil) || hasCategory(scalar, "M", nil) || hasCategory(scalar, "N", "d")
    || hasCategory(scalar, "N", "l") || hasCategory(scalar, "P", "c")
}

#if hasFeature(Embedded)
  // There are no tables of properties: classes know ASCII alone, and `\p` is refused.
  private func hasCategory(_ scalar: UInt32, _ major: Unicode.Scalar, _ minor: Unicode.Scalar?) -> Bool { false }

  private func otherCases(of scalar: UInt32) -> [UInt32] {
    scalar >= 0x61 && scalar <= 0x7A ? [scalar & ~0x20] : []
  }
#else
  private func hasCategory(_ scalar: UInt32, _ major: Unicode.Scalar, _ minor: Unicode.Scalar?) -> Bool {
    guard let scalar = Unicode.Scalar(scalar) else { return false }
    let category = categoryLetters(scalar.properties.generalCategory)
    return category.0 == major && (minor == nil || category.1 == minor)
  }

  /// The scalars that become this one in small letters.
  private func otherCases(of scalar: UInt32) -> [UInt32] {
    guard let scalar = Unicode.Scalar(scalar) else { return [] }
    var result: [UInt32] = []
    let properties = scalar.properties
    for text in [properties.uppercaseMapping, properties.titlecaseMapping] {
      var scalars = text.unicodeScalars.makeIterator()
      if let first = scalars.next(), scalars.next() == nil, first != scalar { result.append(first.value) }
    }
    return result
  }

  private func categoryLetters(_ category: Unicode.GeneralCategory) -> (Unicode.Scalar, Unicode.Scalar) {
    switch category {
    case .uppercaseLetter: return ("L", "u")
    case .lowercaseLetter: return ("L", "l")
    case .titlecaseLetter: return ("L", "t")
    case .modifierLetter: return ("L", "m")
    case .otherLetter: return ("L", "o")
    case .nonspacingMark: return ("M", "n")
    case .spacingMark: return ("M", "c")
    case .enclosingMark: return ("M", "e")
    case .decimalNumber: return ("N", "d")
    case .letterNumber: return ("N", "l")
    case .otherNumber: return ("N", "o")
    case .connectorPunctuation: return ("P", "c")
    case .dashPunctuation: return ("P", "d")
    case .openPunctuation: return ("P", "s")
    case .closePunctuation: return ("P", "e")
    case .initialPunctuation: return ("P", "i")
    case .finalPunctuation: return ("P", "f")
    case .otherPunctuation: return ("P", "o")
    case .mathSymbol: return ("S", "m")
    case .currencySymbol: return ("S", "c")
    case .modifierSymbol: return ("S", "k")
    case .otherSymbol: return ("S", "o")
    case .spaceSeparator: return ("Z", "s")
    case .lineSeparator: return ("Z", "l")
    case .paragraphSeparator: return ("Z", "p")
    case .control: return ("C", "c")
    case .format: return ("C", "f")
    case .surrogate: return ("C", "s")
    case .privateUse: return ("C", "o")
    default: return ("C", "n")
    }
  }
#endif

/// The letters of a general category or group of them that there is: `L`, `Lu`.
func isCategory(_ major: UInt8, _ minor: UInt8?) -> Bool {
  let minors: StaticString
  switch major {
  case UInt8(ascii: "L"): minors = "ultmo"
  case UInt8(ascii: "M"): minors = "nce"
  case UInt8(ascii: "N"): minors = "dlo"
  case UInt8(ascii: "P"): minors = "cdseifo"
  case UInt8(ascii: "S"): minors = "mcko"
  case UInt8(ascii: "Z"): minors = "slp"
  case UInt8(ascii: "C"): minors = "cfson"
  default: return false
  }
  guard let minor else { return true }
  return minors.withUTF8Buffer { $0.contains(minor) }
}
