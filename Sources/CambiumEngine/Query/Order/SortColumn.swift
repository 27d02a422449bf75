import CambiumKernel

/// One key of an order: a word for each row that was gathered.
///
/// For a number, date or boolean the word is the value itself, in bits that order as the values do; 0 stands for
/// null. For everything else it is the index of the value among the different values that were met. These are put in
/// order at the end, each once: a million flights have a few thousand tail numbers.
final class SortColumn {
  private let sort: EngineSort
  private let paths: PathReader
  private let reader: ValuesReader
  /// True while words are numbers, and not indices of values.
  private(set) var isOfNumbers: Bool
  /// Where rows of the layout that was met last have the key; nil if its bytes do not tell, and the value has to be
  /// read.
  @exclusivity(unchecked) private var source: GroupKeys.Source?
  @exclusivity(unchecked) private var fixed: FixedField?
  @exclusivity(unchecked) private var layoutID: UInt16?
  /// The indices of values by the bytes that rows have of them.
  @exclusivity(unchecked) private var known = GroupKeys()
  /// The different values, as ``EngineSort/key(_:)`` has them.
  @exclusivity(unchecked) private var keys: [Value] = []
  /// The words, one for each row.
  @exclusivity(unchecked) private(set) var words: [UInt64] = []
  /// The word of the last row that is wanted, as far as is known.
  private var last: UInt64?
  /// For each value, whether it comes behind that of the last row.
  private var verdicts: [Verdict] = []

  private enum Verdict: UInt8 { case unknown, isBefore, isBehind }

  init(_ sort: EngineSort, _ layout: EntityLayout, _ view: EntityView) {
    self.sort = sort
    paths = PathReader(view: view)
    reader = ValuesReader(view, [.keyPath(sort.keyPath)])
    isOfNumbers = sort.origin == nil && (GroupKeys.Source(sort.keyPath, layout, paths)?.isNumber ?? false)
  }

  /// How many different values are kept.
  var valueCount: Int { keys.count }

  // MARK: Rows

  /// Adds the word of a row.
  @inline(__always)
  func append(_ word: UInt64) { words.append(word) }

  /// The word of a row.
  ///
  /// - Returns: Nil for a row that comes behind the last one that is wanted, if ``keep(_:last:)`` told that one. Of
  ///   rows with the same key as the last one those do that come later, if `isOnlyKey`.
  func word(of row: borrowing RowReader, isOnlyKey: Bool) throws(EngineError) -> UInt64? {
    guard let word = try word(of: row, unlessBehind: isOnlyKey) else { return nil }
    return isBehind(word, isOnlyKey: isOnlyKey) ? nil : word
  }

  /// The word of a row, also if the row comes behind the last one that is wanted.
  func word(of row: borrowing RowReader) throws(EngineError) -> UInt64 {
    try word(of: row, unlessBehind: nil) ?? 0
  }

  private func word(of row: borrowing RowReader, unlessBehind isOnlyKey: Bool?) throws(EngineError) -> UInt64? {
    if layoutID != row.layoutID { change(to: row.layout) }
    if isOfNumbers {
      let record = row.record
      let number: UInt64?
      if let fixed, source != nil {
        number = record.isNull(fixed) ? nil : bits(of: record, fixed)
      } else {
        do throws(StoreError) { number = try self.number(of: record) } catch { throw .store(error) }
      }
      guard let number else { return 0 }
      if number < .max { return number &+ 1 }
      // The greatest integer has no word above null and all other integers.
      becomeValues()
    }
    return try index(of: row, unlessBehind: isOnlyKey).map { UInt64(truncatingIfNeeded: $0) }
  }

  private func bits(of record: RecordView, _ field: FixedField) -> UInt64 {
    source?.kind == .integer
      ? Self.ordered(record.int64(field)) : KeyEncoder.orderedBits(record.double(field))
  }

  private func number(of record: RecordView) throws(StoreError) -> UInt64? {
    guard let source, let parent = try source.parent(in: record) else { return nil }
    switch source.kind {
    case .integer: return try parent.int64(at: source.leaf).map(Self.ordered)
    case .real: return try parent.double(at: source.leaf).map(KeyEncoder.orderedBits)
    case .date: return try parent.date(at: source.leaf).map(KeyEncoder.orderedBits)
    case .boolean: return try parent.boolean(at: source.leaf).map { $0 ? 1 : 0 }
    case .text, .uuid, .reference: return nil
    }
  }

  private static func ordered(_ integer: Int64) -> UInt64 { UInt64(bitPattern: integer) ^ 1 << 63 }

  /// The index of a row's value, which the row's bytes tell if there was a row with the same ones.
  private func index(of row: borrowing RowReader, unlessBehind isOnlyKey: Bool?) throws(EngineError) -> Int? {
    let record = row.record
    var isKnown = false
    if var source, known.isWorthwhile {
      let found: Int?
      do throws(StoreError) { found = try known.group(of: record, &source, 1) } catch { throw .store(error) }
      if let found { return found }
      isKnown = true
    }
    let value = try reader.first(of: row)
    // Values that come behind are kept only as long as they are few: those of all rows would take too much memory.
    if let isOnlyKey, let last, keys.count >= max(Self.fewKeys, 4 * words.count) {
      let order = sort.order(sort.key(value), keys[Int(truncatingIfNeeded: last)])
      if order == 0 ? isOnlyKey : sort.isAscending ? order > 0 : order < 0 { return nil }
    }
    let index = learn(value)
    if isKnown { known.learn(index) }
    return index
  }

  /// So many values may be kept that no row has which is wanted.
  private static let fewKeys = 4096

  private func learn(_ value: Value) -> Int {
    keys.append(sort.key(value))
    return keys.count - 1
  }

  private func change(to layout: EntityLayout) {
    layoutID = layout.id
    source = sort.origin == nil ? GroupKeys.Source(sort.keyPath, layout, paths) : nil
    fixed = nil
    if let source, source.outer < 0, source.kind == .integer || source.kind == .real || source.kind == .date {
      fixed = FixedField(BorrowedLayout(layout.record), source.leaf)
    }
  }

  /// Makes indices of values out of the words that are integers so far.
  private func becomeValues() {
    isOfNumbers = false
    last = nil
    var indices: [UInt64: UInt64] = [:]
    for i in words.indices {
      let word = words[i]
      if let index = indices[word] {
        words[i] = index
        continue
      }
      let value: Value = word == 0 ? .null : .integer(Int64(bitPattern: (word &- 1) ^ 1 << 63))
      let index = UInt64(learn(value))
      indices[word] = index
      words[i] = index
    }
  }

  /// Returns a word that orders a number or date among others of its kind, and null before them, which is of any kind.
  /// Nil for other values, for the greatest integer, and for a NaN.
  static func word(of value: Value) -> (word: UInt64, kind: GroupKeys.Source.Kind?)? {
    switch value {
    case .null: return (0, nil)
    case .integer(let number) where number < .max: return (ordered(number) + 1, .integer)
    case .double(let number) where !number.isNaN: return (KeyEncoder.orderedBits(number) + 1, .real)
    case .date(let number) where !number.isNaN: return (KeyEncoder.orderedBits(number) + 1, .date)
    default: return nil
    }
  }

  // MARK: Order

  /// Replaces indices by ranks, so that words order as values do. The words themselves stay as they are.
  func ranks() -> [UInt64] {
    if isOfNumbers { return words }
    var isUsed = [Bool](repeating: false, count: keys.count)
    for word in words { isUsed[Int(word)] = true }
    var used: [Int] = []
    for i in keys.indices where isUsed[i] { used.append(i) }
    let heads = heads()
    used.order { a, b in
      if let heads, heads[a] != heads[b] { return heads[a] < heads[b] }
      return sort.order(keys[a], keys[b]) < 0
    }
    var ranks = [UInt64](repeating: 0, count: keys.count)
    var rank: UInt64 = 0
    for (place, index) in used.enumerated() {
      if place > 0, sort.order(keys[used[place - 1]], keys[index]) != 0 { rank += 1 }
      ranks[index] = rank
    }
    return words.map { ranks[Int($0)] }
  }

  /// The first eight bytes of each value, if all are plain ASCII and ordered by their bytes: they tell most of them
  /// apart. Null comes before all texts, as no bytes do.
  private func heads() -> [UInt64]? {
    guard sort.origin == nil, case .scalars = sort.textOrder else { return nil }
    var heads: [UInt64] = []
    heads.reserveCapacity(keys.count)
    for key in keys {
      var head: UInt64 = 0
      if case .string(var text) = key {
        let isASCII = text.withUTF8 { bytes in
          for (i, byte) in bytes.prefix(8).enumerated() { head |= UInt64(byte) &<< UInt64(56 - 8 * i) }
          return UnsafeRawBufferPointer(bytes).isASCII
        }
        if !isASCII { return nil }
      } else if !key.isNull {
        return nil
      }
      heads.append(head)
    }
    return heads
  }

  /// Keeps the words of some rows only. The row at `last` is the last one that is wanted.
  func keep(_ rows: [UInt32], last: UInt32) {
    let lastWord = words[Int(last)]
    words = rows.map { words[Int($0)] }
    if isOfNumbers {
      self.last = lastWord
      return
    }
    if keys.count > Self.fewKeys, keys.count / 4 > words.count {
      // Values of rows that are not wanted any more would take memory for nothing.
      let old = keys
      var indices: [UInt64: UInt64] = [:]
      keys = []
      known = GroupKeys()
      func moved(_ word: UInt64) -> UInt64 {
        if let index = indices[word] { return index }
        keys.append(old[Int(word)])
        indices[word] = UInt64(keys.count - 1)
        return UInt64(keys.count - 1)
      }
      words = words.map(moved)
      self.last = moved(lastWord)
    } else {
      self.last = lastWord
    }
    verdicts = Array(repeating: .unknown, count: keys.count)
  }

  /// The number of the last row that is wanted, as its bits, if words are numbers; nil where it is null or not known.
  var lastNumber: UInt64? { isOfNumbers ? last.flatMap { $0 == 0 ? nil : $0 &- 1 } : nil }

  /// Whether a row with this word comes behind the last one that is wanted. Of equal ones those do that come later,
  /// if there is no other key.
  private func isBehind(_ word: UInt64, isOnlyKey: Bool) -> Bool {
    guard let last else { return false }
    if word == last { return isOnlyKey }
    if isOfNumbers { return sort.isAscending ? word > last : word < last }
    let index = Int(truncatingIfNeeded: word)
    while verdicts.count <= index { verdicts.append(.unknown) }
    if verdicts[index] == .unknown {
      let order = sort.order(keys[index], keys[Int(truncatingIfNeeded: last)])
      let isBehind = order == 0 ? isOnlyKey : sort.isAscending ? order > 0 : order < 0
      verdicts[index] = isBehind ? .isBehind : .isBefore
    }
    return verdicts[index] == .isBehind
  }
}

extension GroupKeys.Source {
  /// Whether the values are numbers, dates or booleans of the row itself.
  fileprivate var isNumber: Bool {
    switch kind {
    case .integer, .real, .date, .boolean: return true
    case .text, .uuid, .reference: return false
    }
  }
}
