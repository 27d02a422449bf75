import CambiumKernel

/// The groups that rows are of, known by the bytes that the rows have of what they are grouped by: the same bytes are
/// always the same values, so that values are read once for all rows with the same bytes. Other bytes may be the same
/// values still; whoever reads them knows.
struct GroupKeys: ~Copyable {
  /// Where one of the things grouped by lies in rows of a layout: plain memory.
  struct Source {
    enum Kind: UInt8 {
      case integer, real, date, boolean, text, uuid, reference
    }

    var kind: Kind
    /// The field of the composite, if it is an element of one, and of the composite in that one; else -1.
    var outer: Int
    var middle = -1
    var leaf: Int

    /// The place of a key path: of an attribute, an element of a composite, or a to-one relationship, on whose
    /// destination alone all that lies behind it depends. Nil for anything else.
    init?(_ path: String, _ layout: EntityLayout, _ reader: PathReader) {
      outer = -1
      if let field = reader.toOneField(path, layout) {
        (kind, leaf) = (.reference, field)
        return
      }
      guard let (field, attribute) = reader.field(path, layout), field.depth <= 3 else { return nil }
      if field.depth > 1 { outer = field[0] }
      if field.depth == 3 { middle = field[1] }
      leaf = field.leaf
      switch attribute.type {
      case .integer16, .integer32, .integer64: kind = .integer
      case .double, .float: kind = .real
      case .date: kind = .date
      case .boolean: kind = .boolean
      case .string, .uri: kind = .text
      case .uuid: kind = .uuid
      default: return nil
      }
    }

    /// The record that has the value; nil if a composite on the way is null.
    @inline(__always)
    func parent(in record: RecordView) throws(StoreError) -> RecordView? {
      if outer < 0 { return record }
      guard let inner = try record.nested(at: outer) else { return nil }
      return middle < 0 ? inner : try inner.nested(at: middle)
    }
  }

  private struct Entry {
    var hash: UInt64
    var start: Int
    var count: Int
    var group: Int
  }

  private var entries: [Entry] = []
  private var bytes: [UInt8] = []
  /// By hash, the place of an entry and 1, or 0; as many as a power of two, at most half of them taken.
  private var slots: [UInt32] = Array(repeating: 0, count: 64)
  private let key: UnsafeMutableRawPointer
  private var keyCount = 0
  private var hash: UInt64 = 0
  private var asked = 0
  /// How many entries there are whose bytes do not tell their values.
  private var ambiguous = 0
  /// How many slots were passed that others had.
  private var passed = 0
  private static let longestKey = 256

  init() { key = .allocate(byteCount: Self.longestKey, alignment: 8) }

  deinit { key.deallocate() }

  /// Whether bytes still tell groups at less cost than values: not if most rows bring new ones that do not tell their
  /// values, nor if their hashes meet, as somebody may have chosen them.
  var isWorthwhile: Bool {
    (asked < 4096 || ambiguous < asked / 2) && (passed < 1 << 16 || passed / 32 < asked)
  }

  /// Whether rows with other bytes than the row asked about last have other values, as long as their bytes tell their
  /// values too: not for references, behind which there may be the same, nor for zeros, not-a-number, and text that
  /// is not ASCII.
  func tellsValues(_ sources: UnsafeMutablePointer<Source>, _ count: Int) -> Bool {
    guard keyCount >= 0 else { return false }
    var at = 0
    for i in 0..<count {
      let mark = key.load(fromByteOffset: at, as: UInt8.self)
      at &+= 1
      if mark == Self.null { continue }
      switch sources[i].kind {
      case .integer, .boolean: at &+= 8
      case .uuid: at &+= 17
      case .reference: return false
      case .real, .date:
        let number = Double(bitPattern: key.loadUnaligned(fromByteOffset: at, as: UInt64.self))
        if number == 0 || number.isNaN { return false }
        at &+= 8
      case .text:
        if !UnsafeRawBufferPointer(start: key + at, count: Int(mark)).isASCII { return false }
        at &+= Int(mark)
      }
    }
    return true
  }

  /// The mark of null. No text has as many bytes.
  private static let null: UInt8 = 0xFF

  /// The group of rows with the same bytes as this one; nil if there was none yet, or there are too many bytes. Then
  /// ``learn(_:tellsValues:)`` says which it is.
  mutating func group(
    of record: RecordView, _ sources: UnsafeMutablePointer<Source>, _ count: Int
  ) throws(StoreError) -> Int? {
    asked &+= 1
    keyCount = 0
    for i in 0..<count where try !append(sources + i, record) {
      keyCount = -1
      return nil
    }
    // Bytes that fill up a word stand behind the last one.
    (key + keyCount).storeBytes(of: 0, as: UInt64.self)
    var hash: UInt64 = UInt64(keyCount)
    var at = 0
    while at < keyCount {
      hash = (hash ^ key.loadUnaligned(fromByteOffset: at, as: UInt64.self)) &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash &>> 32
      at &+= 8
    }
    self.hash = hash
    let mask = slots.count &- 1
    var slot = Int(truncatingIfNeeded: hash) & mask
    while slots[slot] != 0 {
      let entry = entries[Int(slots[slot]) &- 1]
      if entry.hash == hash, entry.count == keyCount {
        let isSame = bytes.withUnsafeBytes {
          hasPrefix(
            UnsafeRawBufferPointer(rebasing: $0[entry.start...]), UnsafeRawBufferPointer(start: key, count: keyCount))
        }
        if isSame { return entry.group }
      }
      passed &+= 1
      slot = (slot &+ 1) & mask
    }
    return nil
  }

  /// The group of the row asked about last, for the next ones with the same bytes.
  mutating func learn(_ group: Int, tellsValues: Bool = false) {
    if !tellsValues { ambiguous &+= 1 }
    guard keyCount >= 0, entries.count < Int(Int32.max) / 2 else { return }
    entries.append(Entry(hash: hash, start: bytes.count, count: keyCount, group: group))
    bytes.append(contentsOf: UnsafeRawBufferPointer(start: key, count: keyCount))
    if entries.count * 2 > slots.count {
      slots = Array(repeating: 0, count: slots.count * 2)
      for i in entries.indices { place(i) }
    } else {
      place(entries.count - 1)
    }
  }

  private mutating func place(_ i: Int) {
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: entries[i].hash) & mask
    while slots[slot] != 0 { slot = (slot + 1) & mask }
    slots[slot] = UInt32(i) + 1
  }

  /// Appends what a row has; answers whether there was room.
  private mutating func append(
    _ source: UnsafeMutablePointer<Source>, _ record: RecordView
  ) throws(StoreError) -> Bool {
    // A mark, 16 bytes of a UUID, and the word behind the last one.
    guard keyCount <= Self.longestKey &- 32 else { return false }
    guard let parent = try source.pointee.parent(in: record) else { return appendNull() }
    let leaf = source.pointee.leaf
    switch source.pointee.kind {
    case .integer: return append(try parent.int64(at: leaf).map { UInt64(bitPattern: $0) })
    case .real: return append(try parent.double(at: leaf).map { $0.bitPattern })
    case .date: return append(try parent.date(at: leaf).map { $0.bitPattern })
    case .boolean: return append(try parent.boolean(at: leaf).map { $0 ? 1 : 0 })
    case .reference: return append(try parent.reference(at: leaf))
    case .uuid:
      guard let uuid = try parent.uuid(at: leaf) else { return appendNull() }
      return append(uuid.high) && append(uuid.low)
    case .text:
      guard let text = try parent.utf8(at: leaf) else { return appendNull() }
      guard text.count <= Self.longestKey &- 32 &- keyCount else { return false }
      // With their length, so that several texts are told apart.
      key.storeBytes(of: UInt8(truncatingIfNeeded: text.count), toByteOffset: keyCount, as: UInt8.self)
      if let start = text.baseAddress { (key + (keyCount &+ 1)).copyMemory(from: start, byteCount: text.count) }
      keyCount &+= text.count &+ 1
      return true
    }
  }

  private mutating func append(_ word: UInt64?) -> Bool {
    guard let word else { return appendNull() }
    guard keyCount <= Self.longestKey &- 24 else { return false }
    key.storeBytes(of: 1, toByteOffset: keyCount, as: UInt8.self)
    key.storeBytes(of: word, toByteOffset: keyCount &+ 1, as: UInt64.self)
    keyCount &+= 9
    return true
  }

  private mutating func appendNull() -> Bool {
    key.storeBytes(of: Self.null, toByteOffset: keyCount, as: UInt8.self)
    keyCount &+= 1
    return true
  }
}
