/// A cache of the values behind a path through a to-one relationship, by the packed reference of the object there:
/// the path is read once for each such object. The owner must call `deallocate()`.
///
/// Two references may share a slot; the later one takes it.
struct KnownRegisters {
  private struct Slot {
    var reference: UInt64 = 0
    var register = Register(kind: .missing)
  }

  private var slots: UnsafeMutablePointer<Slot>
  private var count: Int
  private var learned = 0

  /// The number of slots at first, and at most; and the bytes of the longest text that is kept.
  private static let least = 64
  private static let most = 1 << 16
  private static let longestText = 256

  init() {
    count = Self.least
    slots = .allocate(capacity: count)
    slots.initialize(repeating: Slot(), count: count)
  }

  func deallocate() {
    for i in 0..<count { Self.free(slots[i].register) }
    slots.deallocate()
  }

  /// The cached value of an object; a register of kind `missing` if the cache has none.
  @inline(__always)
  subscript(reference: UInt64) -> Register {
    let slot = slots + place(reference)
    return slot.pointee.reference == reference ? slot.pointee.register : Register(kind: .missing)
  }

  @inline(__always)
  private func place(_ reference: UInt64) -> Int {
    Int(truncatingIfNeeded: reference & UInt64(truncatingIfNeeded: count &- 1))
  }

  /// Notes a value. If there have been more values than slots, there will be four times as many slots.
  mutating func learn(_ reference: UInt64, _ value: Value) {
    learned += 1
    if learned > count, count < Self.most { grow() }
    let place = place(reference)
    Self.free(slots[place].register)
    slots[place] = Slot(reference: reference, register: Self.register(of: value))
  }

  private mutating func grow() {
    let (old, oldCount) = (slots, count)
    count *= 4
    slots = .allocate(capacity: count)
    slots.initialize(repeating: Slot(), count: count)
    for i in 0..<oldCount where old[i].register.kind != .missing { slots[place(old[i].reference)] = old[i] }
    old.deallocate()
  }

  /// A value as a register, with a copy of its text; `unknown` for what registers do not hold.
  private static func register(of value: Value) -> Register {
    switch value {
    case .null: return .null
    case .boolean(let flag): return Register(flag)
    case .integer(let integer): return Register(integer)
    case .double(let double): return Register(double)
    case .float(let float): return Register(Double(float))
    case .date(let date): return Register(date: date)
    case .string(let text):
      guard text.utf8.count <= longestText else { return .unknown }
      let bytes = Array(text.utf8)
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
      copy.copyBytes(from: bytes)
      return Register(text: UnsafeRawBufferPointer(start: copy.baseAddress, count: bytes.count))
    default: return .unknown
    }
  }

  private static func free(_ register: Register) {
    if register.kind == .text { register.text.baseAddress?.deallocate() }
  }
}
