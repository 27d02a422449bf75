import CambiumKernel

/// The values of a list that rows are compared with, so that looking one up costs the same however many there are:
/// plain memory, so that nothing is counted for a row.
///
/// Numbers are words that are equal where the numbers are; texts the UTF-8 of their normal forms.
struct MemberTable {
  /// What the words stand for.
  enum Kind: UInt8 {
    case integer, real, date, text
  }

  let kind: Kind
  /// Whether null is in the list.
  let includesNull: Bool
  /// By hash, the place of an entry and 1, or 0; as many as a power of two, at most half of them taken.
  private let slots: UnsafeMutablePointer<UInt32>
  private let mask: Int
  /// Numbers, or where texts end in `characters`.
  private let words: UnsafeMutablePointer<UInt64>
  private let characters: UnsafeMutablePointer<UInt8>

  /// The table of a list for an attribute's type; nil where values are not compared as words or bytes are. Its memory
  /// lasts until ``deallocate()``.
  init?(_ list: [Value], _ type: AttributeType) {
    guard let kind = Self.kind(of: type) else { return nil }
    var includesNull = false
    var numbers: [UInt64] = []
    var bytes: [UInt8] = []
    for value in list {
      switch (kind, value) {
      case (_, .null): includesNull = true
      case (.integer, .integer(let number)): numbers.append(UInt64(bitPattern: number))
      case (.integer, .double(let number)):
        // A fraction equals no integer.
        if let whole = exactInt64(number) { numbers.append(UInt64(bitPattern: whole)) }
      case (.real, .double(let number)): numbers.append(KeyEncoder.orderedBits(number))
      case (.real, .float(let number)): numbers.append(KeyEncoder.orderedBits(Double(number)))
      case (.real, .integer(let number)):
        if exactInt64(Double(number)) == number { numbers.append(KeyEncoder.orderedBits(Double(number))) }
      case (.date, .date(let moment)): numbers.append(KeyEncoder.orderedBits(moment))
      case (.text, .string(let text)):
        bytes += FoldedText(text, []).bytes
        numbers.append(UInt64(bytes.count))
      default: return nil
      }
    }
    guard numbers.count < Int(Int32.max) else { return nil }
    self.kind = kind
    self.includesNull = includesNull
    var size = 8
    while size < numbers.count * 2 { size *= 2 }
    mask = size - 1
    slots = .allocate(capacity: size)
    slots.initialize(repeating: 0, count: size)
    words = .allocate(capacity: max(1, numbers.count))
    characters = .allocate(capacity: max(1, bytes.count))
    for (i, byte) in bytes.enumerated() { (characters + i).initialize(to: byte) }
    for (i, number) in numbers.enumerated() { (words + i).initialize(to: number) }
    for i in numbers.indices where !add(i) {
      deallocate()
      return nil
    }
  }

  /// Puts an entry into its slot, unless it is there already. Answers false if too many others would have to be
  /// passed, as somebody may have chosen them.
  private func add(_ i: Int) -> Bool {
    let text = kind == .text ? text(i) : UnsafeRawBufferPointer(start: nil, count: 0)
    var at = (kind == .text ? Self.hash(text) : Self.hash(words[i])) & mask
    var steps = 0
    while slots[at] != 0 {
      let other = Int(slots[at]) &- 1
      if kind == .text {
        let known = self.text(other)
        if known.count == text.count, hasPrefix(known, text) { return true }
      } else if words[other] == words[i] {
        return true
      }
      at = (at &+ 1) & mask
      steps += 1
      if steps > 512 { return false }
    }
    slots[at] = UInt32(i) &+ 1
    return true
  }

  /// Whether there are tables for attributes of a type.
  static func holds(_ type: AttributeType) -> Bool { kind(of: type) != nil }

  private static func kind(of type: AttributeType) -> Kind? {
    switch type {
    case .integer16, .integer32, .integer64: return .integer
    case .double, .float: return .real
    case .date: return .date
    case .string: return .text
    default: return nil
    }
  }

  func deallocate() {
    slots.deallocate()
    words.deallocate()
    characters.deallocate()
  }

  private func text(_ i: Int) -> UnsafeRawBufferPointer {
    let start = i == 0 ? 0 : Int(words[i - 1])
    return UnsafeRawBufferPointer(start: characters + start, count: Int(words[i]) - start)
  }

  /// Whether a number is in the list, by its word.
  @inline(__always)
  func contains(_ word: UInt64) -> Bool {
    // At least half of the slots are empty, so that this ends.
    var at = Self.hash(word) & mask
    while slots[at] != 0 {
      if words[Int(slots[at]) &- 1] == word { return true }
      at = (at &+ 1) & mask
    }
    return false
  }

  /// Whether a text is, by the UTF-8 of its normal form.
  func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var at = Self.hash(bytes) & mask
    while slots[at] != 0 {
      let other = text(Int(slots[at]) - 1)
      if other.count == bytes.count, hasPrefix(other, bytes) { return true }
      at = (at &+ 1) & mask
    }
    return false
  }

  @inline(__always)
  private static func hash(_ word: UInt64) -> Int {
    let mixed = (word ^ (word &>> 32)) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: mixed &>> 29)
  }

  private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return Self.hash(hash)
  }
}
