#if !CAMBIUM_WITHOUT_UNICODE
  // The algorithm of Unicode Standard Annex 15: decompose, bring marks into the order of their classes, compose.

  extension StringNormalization {
    // Hangul syllables are leading consonant, vowel and tail by arithmetic (Unicode, 3.12).
    private static let syllables: UInt32 = 0xAC00
    private static let leads: UInt32 = 0x1100
    private static let vowels: UInt32 = 0x1161
    private static let tails: UInt32 = 0x11A7
    private static let leadCount: UInt32 = 19
    private static let vowelCount: UInt32 = 21
    private static let tailCount: UInt32 = 28

    /// Whether a scalar, or one before it because of it, may change.
    static func mayChange(_ scalar: UInt32) -> Bool {
      if scalar < 0x300 { return false }
      // Above U+20000 only the compatibility ideographs change.
      if scalar >= 0x20000 { return scalar >= 0x2F800 && scalar < 0x2FA20 }
      let block = Int(scalar &>> 5)
      let digit = digits(NormalizationTables.blocks, row: block / 6, width: 1, perLine: 108, at: 0, count: 1)
      return digit &>> UInt32(block % 6) & 1 == 1
    }

    /// Appends the full canonical decomposition of a scalar. First parts are decomposed in turn, at most four deep.
    static func decompose(_ scalar: UInt32, into output: inout [UInt32]) {
      let syllable = scalar &- syllables
      if syllable < leadCount * vowelCount * tailCount {
        output.append(leads + syllable / (vowelCount * tailCount))
        output.append(vowels + syllable % (vowelCount * tailCount) / tailCount)
        if syllable % tailCount != 0 { output.append(tails + syllable % tailCount) }
        return
      }
      var seconds: (UInt32, UInt32, UInt32) = (0, 0, 0)
      var first = scalar
      while seconds.2 == 0, first >= 0xC0, let row = decompositionRow(first) {
        let second = decomposition(row, 8)
        first = decomposition(row, 4)
        if second == 0 { continue }
        seconds = (second, seconds.0, seconds.1)
      }
      output.append(first)
      if seconds.0 != 0 { output.append(seconds.0) }
      if seconds.1 != 0 { output.append(seconds.1) }
      if seconds.2 != 0 { output.append(seconds.2) }
    }

    /// Sorts each run of marks by combining class, those of one class as they were.
    static func reorder(_ scalars: inout [UInt32]) {
      var start = 0
      while start < scalars.count {
        var end = start
        var keys: [UInt64] = []
        var isSorted = true
        while end < scalars.count {
          let mark = combiningClass(scalars[end])
          if mark == 0 { break }
          let key = UInt64(mark) << 56 | UInt64(end - start) << 21 | UInt64(scalars[end])
          if let last = keys.last, last > key { isSorted = false }
          keys.append(key)
          end += 1
        }
        if !isSorted {
          keys.sort()
          for (offset, key) in keys.enumerated() {
            scalars[start + offset] = UInt32(truncatingIfNeeded: key & 0x1F_FFFF)
          }
        }
        start = end + 1
      }
    }

    /// Joins each starter with the marks and starters after it that nothing blocks.
    static func compose(_ scalars: inout [UInt32]) {
      var length = 0
      var starter: Int?
      var lastClass: UInt32 = 0
      for index in 0..<scalars.count {
        let scalar = scalars[index]
        let mark = combiningClass(scalar)
        let isAdjacent = starter.map { $0 == length - 1 } ?? false
        if let place = starter, isAdjacent || (lastClass != 0 && lastClass < mark),
          let joined = composition(scalars[place], scalar)
        {
          scalars[place] = joined
          continue
        }
        if mark == 0 { starter = length }
        lastClass = mark
        scalars[length] = scalar
        length += 1
      }
      scalars.removeLast(scalars.count - length)
    }

    private static func composition(_ first: UInt32, _ second: UInt32) -> UInt32? {
      if second &- vowels < vowelCount, first &- leads < leadCount {
        return syllables + ((first - leads) * vowelCount + (second - vowels)) * tailCount
      }
      let syllable = first &- syllables
      if second &- tails &- 1 < tailCount - 1, syllable < leadCount * vowelCount * tailCount,
        syllable % tailCount == 0
      {
        return first + (second - tails)
      }
      guard second >= 0x300 else { return nil }
      let wanted = UInt64(first) << 32 | UInt64(second)
      var low = 0
      var high = NormalizationTables.compositionCount
      while low < high {
        let middle = (low + high) / 2
        let row = Int(
          digits(NormalizationTables.compositions, row: middle, width: 2, perLine: 54, at: 0, count: 2))
        let pair = UInt64(decomposition(row, 4)) << 32 | UInt64(decomposition(row, 8))
        if pair == wanted { return decomposition(row, 0) }
        if pair < wanted { low = middle + 1 } else { high = middle }
      }
      return nil
    }

    static func combiningClass(_ scalar: UInt32) -> UInt32 {
      if scalar < 0x300 { return 0 }
      var low = 0
      var high = NormalizationTables.classCount
      while low < high {
        let middle = (low + high) / 2
        let start = digits(NormalizationTables.classes, row: middle, width: 8, perLine: 13, at: 0, count: 4)
        let count = digits(NormalizationTables.classes, row: middle, width: 8, perLine: 13, at: 4, count: 2)
        if scalar < start {
          high = middle
        } else if scalar - start < count {
          return digits(NormalizationTables.classes, row: middle, width: 8, perLine: 13, at: 6, count: 2)
        } else {
          low = middle + 1
        }
      }
      return 0
    }

    private static func decompositionRow(_ scalar: UInt32) -> Int? {
      var low = 0
      var high = NormalizationTables.decompositionCount
      while low < high {
        let middle = (low + high) / 2
        let found = decomposition(middle, 0)
        if found == scalar { return middle }
        if found < scalar { low = middle + 1 } else { high = middle }
      }
      return nil
    }

    private static func decomposition(_ row: Int, _ column: Int) -> UInt32 {
      digits(NormalizationTables.decompositions, row: row, width: 12, perLine: 9, at: column, count: 4)
    }

    /// A number of a table, whose rows are `width` digits wide; 0 beyond its end.
    private static func digits(
      _ table: StaticString, row: Int, width: Int, perLine: Int, at column: Int, count: Int
    ) -> UInt32 {
      let offset = row / perLine * (perLine * width + 1) + row % perLine * width + column
      guard offset >= 0, offset + count <= table.utf8CodeUnitCount else { return 0 }
      var value: UInt32 = 0
      for index in offset..<offset + count {
        value = value &<< 6 | UInt32(table.utf8Start[index] &- 0x30) & 0x3F
      }
      return value
    }
  }
#endif
