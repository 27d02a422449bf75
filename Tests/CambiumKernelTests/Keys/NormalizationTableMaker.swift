#if !canImport(Darwin)
  // Apple's SDKs do not show the standard library's normalisation; the tables are made and checked elsewhere.
  @_spi(_Unicode) import Swift

  /// Makes the tables of `NormalizationTables.swift` from the standard library, so that keys agree with `==` on String.
  struct NormalizationTableMaker {
    var decompositions = ""
    var compositions = ""
    var classes = ""
    var blocks = ""
    var decompositionCount = 0
    var compositionCount = 0
    var classCount = 0

    static func nfc(_ scalars: [UInt32]) -> [UInt32] { text(scalars)._nfc.map { $0.value } }
    static func nfd(_ scalars: [UInt32]) -> [UInt32] { text(scalars)._nfd.map { $0.value } }

    static func text(_ scalars: [UInt32]) -> String {
      var view = String.UnicodeScalarView()
      for value in scalars { if let scalar = Unicode.Scalar(value) { view.append(scalar) } }
      return String(view)
    }

    init() {
      var whole: [UInt32: [UInt32]] = [:]
      var byDecomposition: [[UInt32]: UInt32] = [:]
      var marks: [(start: UInt32, count: UInt32, combiningClass: UInt32)] = []
      var interesting = Set<UInt32>()
      for value: UInt32 in 0..<0x110000 where !(0xAC00...0xD7A3).contains(value) {
        guard let scalar = Unicode.Scalar(value) else { continue }
        let canonicalClass = UInt32(scalar.properties.canonicalCombiningClass.rawValue)
        if canonicalClass != 0 {
          interesting.insert(value)
          if let last = marks.last, last.start + last.count == value, last.combiningClass == canonicalClass {
            marks[marks.count - 1].count += 1
          } else {
            marks.append((value, 1, canonicalClass))
          }
        }
        let parts = Self.nfd([value])
        guard parts != [value] else { continue }
        whole[value] = parts
        if byDecomposition[parts] == nil || Self.nfc([value]) == [value] { byDecomposition[parts] = value }
        if Self.nfc([value]) != [value] { interesting.insert(value) }
      }
      var pairs: [(UInt32, UInt32, index: Int)] = []
      var rows: [String] = []
      for value in whole.keys.sorted() {
        guard let parts = whole[value], let last = parts.last else { continue }
        let prefix = Array(parts.dropLast())
        let first = prefix.count == 1 ? prefix[0] : prefix.isEmpty ? last : byDecomposition[prefix] ?? 0
        let second = prefix.isEmpty ? 0 : last
        if second != 0, Self.nfc([value]) == [value] {
          pairs.append((first, second, rows.count))
          interesting.insert(second)
        }
        rows.append(Self.digits(value, 4) + Self.digits(first, 4) + Self.digits(second, 4))
      }
      pairs.sort { ($0.0, $0.1) < ($1.0, $1.1) }
      // The vowels and tails of Hangul compose by arithmetic.
      for value: UInt32 in 0x1161...0x11C2 { interesting.insert(value) }
      decompositions = Self.lines(rows, perLine: 9)
      decompositionCount = rows.count
      compositions = Self.lines(pairs.map { Self.digits(UInt32($0.index), 2) }, perLine: 54)
      compositionCount = pairs.count
      classes = Self.lines(
        marks.map { Self.digits($0.start, 4) + Self.digits($0.count, 2) + Self.digits($0.combiningClass, 2) },
        perLine: 13)
      classCount = marks.count
      var bits = [UInt32](repeating: 0, count: 683)
      for value in interesting where value < 0x20000 { bits[Int(value / 32 / 6)] |= 1 << (value / 32 % 6) }
      blocks = Self.lines(bits.map { Self.digits($0, 1) }, perLine: 108)
    }

    /// A number in 6-bit digits, the most significant first, each a character from U+0030 on.
    static func digits(_ value: UInt32, _ count: Int) -> String {
      var text = ""
      for place in (0..<UInt32(count)).reversed() {
        text.unicodeScalars.append(Unicode.Scalar(UInt8(0x30 + (value >> (6 * place)) & 0x3F)))
      }
      return text
    }

    static func lines(_ rows: [String], perLine: Int) -> String {
      stride(from: 0, to: rows.count, by: perLine).map { rows[$0..<min($0 + perLine, rows.count)].joined() }
        .joined(separator: "\n")
    }
  }
#endif
