/// What a workload answers: compared between the peers before anything is timed. Does not depend on the order of rows.
struct Answer: Equatable, CustomStringConvertible {
  var count = 0
  var sum: UInt64 = 0

  /// Counts a number in.
  @inline(__always)
  mutating func add(_ value: UInt64) {
    count += 1
    sum = sum &+ value
  }

  @inline(__always)
  mutating func add(_ value: Double) { add(value.bitPattern) }

  var description: String { "\(count) rows, sum \(String(sum, radix: 16))" }

  /// Counts every byte of a row in.
  mutating func addWhole(_ a: Aircraft) {
    var h = Hash()
    h.add(UInt64(a.id))
    for s in [a.tailNumber, a.category, a.kind, a.type, a.primary, a.secondary] { h.add(s) }
    h.add(a.tertiary)
    h.add(a.year.map { UInt64(bitPattern: Int64($0)) } ?? .max)
    h.add(a.hours.bitPattern)
    for b in a.photo { h.add(UInt64(b)) }
    add(h.value)
  }

  /// Counts every byte of a row in.
  mutating func addWhole(_ e: LogEntry) {
    var h = Hash()
    h.add(UInt64(e.id))
    h.add(UInt64(e.aircraft))
    h.add(e.date.bitPattern)
    h.add(UInt64(bitPattern: Int64(e.flight)))
    h.add(e.distance.map { UInt64(bitPattern: Int64($0)) } ?? .max)
    h.add(e.delay?.bitPattern ?? .max)
    h.add(e.remark)
    add(h.value)
  }

  /// Counts enough of a row in that nobody can leave a field out, at hardly any cost: it is borrowed, since to copy its
  /// texts takes as long as some peers need to read it.
  @inline(__always)
  mutating func add(_ a: borrowing Aircraft) { add(a, as: a.id) }

  /// The same as if it had another number.
  @inline(__always)
  mutating func add(_ a: borrowing Aircraft, as id: Int) {
    let lengths = a.tailNumber.utf8.count &+ a.category.utf8.count &+ a.kind.utf8.count &+ a.type.utf8.count
    let colours = a.primary.utf8.count &+ a.secondary.utf8.count &+ (a.tertiary?.utf8.count ?? 0)
    add(UInt64(id &+ lengths &+ colours &+ Int(a.year ?? 0) &+ a.photo.count) &+ a.hours.bitPattern)
  }

  /// Counts enough of a row in that nobody can leave a field out, at hardly any cost.
  @inline(__always)
  mutating func add(_ e: LogEntry) {
    let numbers = e.id &+ e.aircraft &+ Int(e.flight) &+ Int(e.distance ?? 0) &+ (e.remark?.utf8.count ?? 0)
    add(UInt64(numbers) &+ e.date.bitPattern &+ (e.delay?.bitPattern ?? 0))
  }
}

/// FNV-1a over words.
struct Hash {
  var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ word: UInt64) { value = (value ^ word) &* 0x100_0000_01B3 }

  mutating func add(_ text: String?) {
    guard let text else { return add(UInt64.max) }
    for b in text.utf8 { add(UInt64(b)) }
    add(256)
  }
}
