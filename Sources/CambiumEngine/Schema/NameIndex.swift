/// The numbers of a fixed set of names, for looking them up often: several times as fast as a dictionary, whose hash
/// has to hold out against keys that anyone may choose.
public struct NameIndex: Sendable {
  /// One reference, so that one is counted where an index is looked at.
  private let table: NameTable

  /// No name.
  public init() { self.init([]) }

  /// Of two that are equal, the first counts.
  public init(_ pairs: [(name: String, number: Int)]) { table = NameTable(pairs) }

  /// The number of a name. O(1).
  public subscript(name: String) -> Int? { table.number(of: name) }
}

private final class NameTable: Sendable {
  private let names: [String]
  private let numbers: [Int]
  /// Places in ``names`` plus one, where their hash says or behind; 0 where there is none. A power of two, at least
  /// twice as many as there are names.
  private let table: [UInt32]
  /// In place of the table, for names whose hashes meet too often.
  private let dictionary: [String: Int]?

  init(_ pairs: [(name: String, number: Int)]) {
    names = pairs.map { $0.name }
    numbers = pairs.map { $0.number }
    var size = 4
    while size < pairs.count * 2 { size *= 2 }
    var table = [UInt32](repeating: 0, count: size)
    var longest = 0
    // Of these a second one may be equal to a first one and be written with other scalars.
    var special = Set<String>()
    for (place, pair) in pairs.enumerated() {
      if !pair.name.utf8.allSatisfy({ $0 < 0x80 }) {
        if !special.insert(pair.name).inserted { continue }
      }
      var slot = Self.hash(pair.name) & (size - 1)
      var steps = 0
      while table[slot] != 0, longest <= Self.mostSteps {
        slot = (slot + 1) & (size - 1)
        steps += 1
        longest = max(longest, steps)
      }
      if longest > Self.mostSteps { break }
      table[slot] = UInt32(truncatingIfNeeded: place + 1)
    }
    self.table = table
    guard longest > Self.mostSteps else {
      dictionary = nil
      return
    }
    var known: [String: Int] = [:]
    for pair in pairs where known[pair.name] == nil { known[pair.name] = pair.number }
    dictionary = known
  }

  private static let mostSteps = 32

  func number(of name: String) -> Int? {
    if let dictionary { return dictionary[name] }
    let hash = Self.hash(name)
    let place = table.withUnsafeBufferPointer { table -> Int? in
      // A power of two: what is masked is a place.
      let mask = table.count &- 1
      var slot = hash & mask
      while table[slot] != 0 {
        let place = Int(table[slot]) &- 1
        if names[place] == name { return place }
        slot = (slot &+ 1) & mask
      }
      return nil
    }
    if let place { return numbers[place] }
    // Equal texts may be written with other scalars, which have another hash.
    if name.utf8.allSatisfy({ $0 < 0x80 }) { return nil }
    return names.firstIndex(of: name).map { numbers[$0] }
  }

  /// A hash of the bytes, not keyed.
  private static func hash(_ name: String) -> Int {
    var name = name
    let hash = name.withUTF8 { bytes in
      let raw = UnsafeRawBufferPointer(bytes)
      let count = raw.count
      let hash = UInt64(truncatingIfNeeded: count)
      // The first and the last bytes, which may be the same ones, and what lies between.
      if count < 4 {
        var word: UInt64 = 0
        for byte in raw { word = word &<< 8 | UInt64(byte) }
        return mix(hash, word)
      }
      if count < 8 {
        let first = raw.loadUnaligned(as: UInt32.self)
        let last = raw.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
        return mix(hash, UInt64(first) | UInt64(last) &<< 32)
      }
      var result = mix(hash, raw.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self))
      var offset = 0
      while offset &+ 8 < count {
        result = mix(result, raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        offset &+= 8
      }
      return result
    }
    return Int(truncatingIfNeeded: hash &>> 33)
  }

  @inline(__always)
  private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
    let product = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
    return product ^ (product &>> 32)
  }
}
