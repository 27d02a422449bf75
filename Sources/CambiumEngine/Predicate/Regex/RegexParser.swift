/// Reads a regular expression: a part of ICU's dialect (`Specs/07-predicates.md`), with precise errors for the rest of
/// it. A recursive-descent parser; groups are its only recursion, and are counted.
struct RegexParser {
  /// How often at most `{n,m}` may repeat: with nested ones the program's size is the limit.
  static let repeatLimit = 1000

  private let scalars: [Unicode.Scalar]
  private let options: ComparisonOptions
  private var place = 0
  private var depth = 0

  /// A parser of a pattern in Unicode's form C, as the text is.
  init(_ pattern: String, _ options: ComparisonOptions) {
    scalars = Array(FoldedText(pattern, []).text.unicodeScalars)
    self.options = options
  }

  mutating func parse() throws(PredicateError) -> RegexNode {
    let result = try choice()
    guard place == scalars.count else { throw error(.syntax, "there is no '(' for it") }
    return result
  }

  // MARK: Scalars

  private var next: Unicode.Scalar? { place < scalars.count ? scalars[place] : nil }

  private func after(_ count: Int) -> Unicode.Scalar? {
    place + count < scalars.count ? scalars[place + count] : nil
  }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    place += 1
    return true
  }

  private func error(_ kind: PredicateError.Kind, _ advice: String) -> PredicateError {
    var text = String.UnicodeScalarView()
    for scalar in scalars[min(place, scalars.count)..<min(place + 8, scalars.count)] { text.append(scalar) }
    return PredicateError(
      kind, "MATCHES", "in the regular expression at character \(place), '\(String(text))': \(advice)")
  }

  // MARK: Structure

  private mutating func choice() throws(PredicateError) -> RegexNode {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Predicate.depthLimit else {
      throw error(.tooDeep, "groups are nested deeper than \(Predicate.depthLimit) levels")
    }
    var choices = [try sequence()]
    while take("|") { choices.append(try sequence()) }
    return choices.count == 1 ? choices[0] : .choice(choices)
  }

  private mutating func sequence() throws(PredicateError) -> RegexNode {
    var parts: [RegexNode] = []
    while let scalar = next, scalar != "|", scalar != ")" { parts.append(try quantified()) }
    return parts.count == 1 ? parts[0] : parts.isEmpty ? .empty : .sequence(parts)
  }

  private mutating func quantified() throws(PredicateError) -> RegexNode {
    if next == "*" || next == "+" || next == "?" {
      throw error(.syntax, "there is nothing to repeat; a literal sign is written with a backslash")
    }
    var node = try atom()
    if let (minimum, maximum) = try quantifier() {
      // Whether few or many are tried first makes no difference to a whole match; giving nothing back does.
      if take("+") { throw error(.unsupported, "possessive quantifiers are not supported; leave the '+' out") }
      _ = take("?")
      node = .repeated(node, minimum: minimum, maximum: maximum)
      if next == "*" || next == "+" || next == "?" || next == "{" {
        throw error(.syntax, "there is nothing to repeat; put a group around what is repeated twice")
      }
    }
    return node
  }

  private mutating func quantifier() throws(PredicateError) -> (Int, Int?)? {
    if take("*") { return (0, nil) }
    if take("+") { return (1, nil) }
    if take("?") { return (0, 1) }
    guard take("{") else { return nil }
    guard let minimum = try count() else {
      throw error(.syntax, "a number is expected; a literal brace is written '\\{'")
    }
    var maximum: Int? = minimum
    if take(",") { maximum = try count() }
    guard take("}") else { throw error(.syntax, "'}' is expected") }
    if let maximum, maximum < minimum { throw error(.syntax, "the numbers are in the wrong order") }
    return (minimum, maximum)
  }

  private mutating func count() throws(PredicateError) -> Int? {
    var result: Int?
    while let scalar = next, scalar.value >= 0x30, scalar.value <= 0x39 {
      let number = (result ?? 0) * 10 + Int(scalar.value - 0x30)
      guard number <= Self.repeatLimit else {
        throw error(.unsupported, "at most \(Self.repeatLimit) repetitions can be asked for; use '*' or '+'")
      }
      result = number
      place += 1
    }
    return result
  }

  private mutating func atom() throws(PredicateError) -> RegexNode {
    guard let scalar = next else { return .empty }
    switch scalar {
    case "(": return try group()
    case "[": return .set(try bracketed())
    case "\\": return try escape()
    case "{": throw error(.syntax, "there is nothing to repeat; a literal brace is written '\\{'")
    case ".":
      place += 1
      return .set(ScalarSet(.notLineEnd))
    case "^":
      place += 1
      return .anchor(.start)
    case "$":
      place += 1
      return .anchor(.endOrLastLineEnd)
    default:
      place += 1
      return literal(scalar)
    }
  }

  private mutating func group() throws(PredicateError) -> RegexNode {
    let start = place
    place += 1
    if take("?") {
      let isNamed = next == "<" && after(1) != "=" && after(1) != "!"
      if isNamed {
        while let scalar = next, scalar != ">" { place += scalar == ")" ? scalars.count : 1 }
        guard take(">") else {
          place = start
          throw error(.syntax, "the name of the group has no '>'")
        }
      } else if !take(":") {
        let kind = next
        place = start
        switch kind {
        case "=", "!", "<":
          throw error(.unsupported, "looking ahead or behind is not supported; combine conditions by AND")
        case ">": throw error(.unsupported, "atomic groups are not supported; use '(?:'")
        case "#": throw error(.unsupported, "comments are not supported")
        default: throw error(.unsupported, "flags are not supported; use the options of the comparison, MATCHES[cd]")
        }
      }
    }
    let inner = try choice()
    guard take(")") else {
      place = start
      throw error(.syntax, "there is no ')' for it")
    }
    return inner
  }

  // MARK: Characters

  /// A literal as it is found in folded text.
  private func literal(_ scalar: Unicode.Scalar) -> RegexNode {
    if options.isEmpty { return .scalar(scalar.value) }
    var parts: [RegexNode] = []
    for part in folded(scalar) { parts.append(.scalar(part)) }
    return parts.count == 1 ? parts[0] : parts.isEmpty ? .empty : .sequence(parts)
  }

  private func folded(_ scalar: Unicode.Scalar) -> [UInt32] {
    FoldedText(String(Character(scalar)), options.intersection([.caseInsensitive, .diacriticInsensitive])).scalars
  }

  private func named(_ name: ScalarSet.Named, _ isNegated: Bool) -> ScalarSet {
    var set = ScalarSet(name, isNegated: isNegated)
    set.ignoresCase = options.contains(.caseInsensitive)
    return set
  }

  /// A class by its letter.
  private func named(_ scalar: Unicode.Scalar) -> (ScalarSet.Named, Bool)? {
    switch scalar {
    case "d": return (.digit, false)
    case "D": return (.digit, true)
    case "w": return (.word, false)
    case "W": return (.word, true)
    case "s": return (.space, false)
    case "S": return (.space, true)
    case "h": return (.horizontalSpace, false)
    case "H": return (.horizontalSpace, true)
    default: return nil
    }
  }

  private mutating func escape() throws(PredicateError) -> RegexNode {
    guard let scalar = after(1) else { throw error(.syntax, "the expression ends in a backslash") }
    if let (name, isNegated) = named(scalar) {
      place += 2
      return .set(named(name, isNegated))
    }
    switch scalar {
    case "p", "P":
      let (name, isNegated) = try category()
      return .set(named(name, isNegated))
    case "b", "B", "A", "Z", "z":
      place += 2
      switch scalar {
      case "b": return .anchor(.wordBoundary)
      case "B": return .anchor(.noWordBoundary)
      case "A": return .anchor(.start)
      case "Z": return .anchor(.endOrLastLineEnd)
      default: return .anchor(.end)
      }
    case "Q":
      place += 2
      var parts: [RegexNode] = []
      while let scalar = next, !(scalar == "\\" && after(1) == "E") {
        parts.append(literal(scalar))
        place += 1
      }
      place = min(place + 2, scalars.count)
      // A quantifier behind it repeats the whole quotation here; in ICU the last character. Rather than differ:
      if next == "*" || next == "+" || next == "?" || next == "{" {
        throw error(.unsupported, "a quotation cannot be repeated; put a group around it")
      }
      return .sequence(parts)
    default: return literal(try escapedScalar())
    }
  }

  /// What a backslash and what follows it mean as one character.
  private mutating func escapedScalar() throws(PredicateError) -> Unicode.Scalar {
    guard let scalar = after(1) else { throw error(.syntax, "the expression ends in a backslash") }
    switch scalar {
    case "n": return taken(0x0A)
    case "r": return taken(0x0D)
    case "t": return taken(0x09)
    case "f": return taken(0x0C)
    case "v": return taken(0x0B)
    case "a": return taken(0x07)
    case "e": return taken(0x1B)
    case "x", "u", "U":
      let start = place
      place += 2
      let isBraced = scalar == "x" && take("{")
      let count = isBraced ? 6 : scalar == "x" ? 2 : scalar == "u" ? 4 : 8
      var value: UInt32 = 0
      var digits = 0
      while digits < count, let digit = next, digit.isASCII, let number = hexadecimalDigit(UInt8(digit.value)) {
        value = value << 4 | UInt32(number)
        digits += 1
        place += 1
      }
      let isWhole = isBraced ? digits > 0 && take("}") : digits == count
      guard isWhole, let result = Unicode.Scalar(value) else {
        place = start
        throw error(.syntax, "the escape needs the hexadecimal digits of a Unicode character")
      }
      return result
    case "1", "2", "3", "4", "5", "6", "7", "8", "9", "k":
      throw error(.unsupported, "back references are not supported")
    default:
      if scalar.isASCII, isNameStart(UInt8(scalar.value)) && scalar != "_" || scalar == "0" {
        throw error(.unsupported, "there is no such escape; a backslash itself is written twice")
      }
      return taken(scalar.value)
    }
  }

  private mutating func taken(_ value: UInt32) -> Unicode.Scalar {
    place += 2
    return Unicode.Scalar(value) ?? "\u{FFFD}"
  }

  /// `\p{Lu}`, `\pL`, `\P{L}`, `\p{^L}`.
  private mutating func category() throws(PredicateError) -> (ScalarSet.Named, Bool) {
    let start = place
    #if hasFeature(Embedded)
      throw error(.unsupported, "categories of characters are not supported here; use ranges")
    #else
      var isNegated = after(1) == "P"
      place += 2
      var letters: [UInt8] = []
      if take("{") {
        if take("^") { isNegated.toggle() }
        while let scalar = next, scalar != "}", letters.count < 3 {
          letters.append(scalar.isASCII ? UInt8(scalar.value) : 0)
          place += 1
        }
        if !take("}") { letters = [] }
      } else if let scalar = next, scalar.isASCII {
        letters = [UInt8(scalar.value)]
        place += 1
      }
      guard letters.count == 1 || letters.count == 2, isCategory(letters[0], letters.count == 2 ? letters[1] : nil)
      else {
        place = start
        throw error(.unsupported, "only general categories such as \\p{L}, \\p{Lu} and \\p{Nd} are supported")
      }
      return (.category(letters[0], letters.count == 2 ? letters[1] : 0), isNegated)
    #endif
  }

  // MARK: Classes

  private mutating func bracketed() throws(PredicateError) -> ScalarSet {
    let start = place
    place += 1
    var set = ScalarSet()
    set.ignoresCase = options.contains(.caseInsensitive)
    set.isNegated = take("^")
    var isFirst = true
    while let scalar = next {
      if scalar == "]", !isFirst {
        place += 1
        return set
      }
      isFirst = false
      if scalar == "[" {
        throw error(.unsupported, "classes in classes are not supported; a literal bracket is written '\\['")
      }
      if scalar == "&" && after(1) == "&" || scalar == "-" && after(1) == "-" {
        throw error(.unsupported, "set operations are not supported; write the characters out")
      }
      if scalar == "\\", let letter = after(1) {
        if let (name, isNegated) = named(letter) {
          place += 2
          set.named.append((name, isNegated))
          continue
        }
        if letter == "p" || letter == "P" {
          let (name, isNegated) = try category()
          set.named.append((name, isNegated))
          continue
        }
      }
      let low = try member()
      guard next == "-", let end = after(1), end != "]" else {
        set.ranges.append(low.value...low.value)
        if !options.isEmpty {
          let alike = folded(low)
          if alike.count == 1 { set.ranges.append(alike[0]...alike[0]) }
        }
        continue
      }
      place += 1
      if next == "[" || next == "-" {
        throw error(.unsupported, "set operations are not supported; write the characters out")
      }
      let high = try member()
      guard low.value <= high.value else { throw error(.syntax, "the range has its ends in the wrong order") }
      set.ranges.append(low.value...high.value)
    }
    place = start
    throw error(.syntax, "there is no ']' for it")
  }

  private mutating func member() throws(PredicateError) -> Unicode.Scalar {
    guard let scalar = next else { throw error(.syntax, "there is no ']' for the class") }
    if scalar == "\\" { return try escapedScalar() }
    place += 1
    return scalar
  }
}
