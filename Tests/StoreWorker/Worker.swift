import CambiumKernel
import CambiumSystem
import Foundation

struct WorkerError: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

func number(_ text: String) -> UInt64 { UInt64(text) ?? 0 }

/// Ends the process with a message.
func leave(_ message: String) -> Never {
  FileHandle.standardError.write(Data((message + "\n").utf8))
  exit(1)
}

func open(_ path: String, _ durability: Durability, isReadOnly: Bool = false) throws -> Store {
  var options = StoreOptions()
  options.durability = durability
  options.isReadOnly = isReadOnly
  // Small, so that checkpoints, and what follows them, happen all the time.
  options.logBytes = 48 << 10
  options.deltaBytes = 256 << 10
  options.logValueLimit = 2000
  options.cacheBytes = 512 << 10
  let device = try FileDevice(path: path, access: isReadOnly ? .readOnly : .readWrite, sharing: .shared)
  return try Store.open(on: device, environment: SystemEnvironment(), options: options)
}

/// What the writers keep, and the readers check: two trees with the same keys, whose values add up to zero, a counter
/// of the commits, and the number of commits of each writer.
enum Ledger {
  static let rows = TreeID(rawValue: 16)
  static let mirror = TreeID(rawValue: 17)
  static let writers = TreeID(rawValue: 18)

  static func number(_ bytes: [UInt8]?) -> UInt64 {
    (bytes ?? []).prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
  }

  static func bytes(_ number: UInt64, _ count: Int = 8) -> [UInt8] {
    (0..<count).map { $0 < 8 ? UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) : UInt8(truncatingIfNeeded: $0) }
  }

  /// Reads all of it, and answers a sum over it.
  static func check(_ view: TreeView) throws -> UInt64 {
    let rows = try view.cursor(Self.rows)
    let mirror = try view.cursor(Self.mirror)
    var sum: UInt64 = 0
    var n: UInt64 = 0
    var more = try rows.seekFirst()
    var moreMirror = try mirror.seekFirst()
    while more, moreMirror {
      let value = Self.number(try rows.value())
      guard rows.integerKey == mirror.integerKey, value &+ Self.number(try mirror.value()) == 0 else {
        throw WorkerError("half a commit at key \(rows.integerKey), commit \(view.sequence)")
      }
      sum = (sum ^ value) &* 0x9E37_79B9_7F4A_7C15
      n += 1
      more = try rows.next()
      moreMirror = try mirror.next()
    }
    guard more == moreMirror, try view.count(Self.rows) == n, try view.count(Self.mirror) == n else {
      throw WorkerError("the trees differ at commit \(view.sequence)")
    }
    var commits: UInt64 = 0
    let writers = try view.cursor(Self.writers)
    more = try writers.seekFirst()
    while more {
      commits += Self.number(try writers.value())
      more = try writers.next()
    }
    guard try UInt64(bitPattern: view.counter(Self.rows, 0)) == commits else {
      throw WorkerError("the counter differs at commit \(view.sequence)")
    }
    return sum
  }
}

/// Commits until it is killed, and notes each commit when it was acknowledged.
struct Writer {
  let store: Store
  let id: UInt64
  let log: FileHandle

  init(path: String, id: UInt64, acknowledgements: String) throws {
    store = try open(path, .full)
    self.id = id
    guard let log = FileHandle(forWritingAtPath: acknowledgements) else { throw WorkerError("no file to write to") }
    self.log = log
  }

  func run() throws {
    var random = SystemRandomNumberGenerator()
    while true {
      let t = try store.beginWrite()
      let count = Ledger.number(try t.value(Ledger.writers, id)) + 1
      try t.put(Ledger.writers, id, Ledger.bytes(count))
      try t.addToCounter(Ledger.rows, 0, 1)
      for _ in 0..<UInt64.random(in: 1...12, using: &random) {
        let key = UInt64.random(in: 0..<2000, using: &random)
        if key % 7 == 0 {
          try t.delete(Ledger.rows, key)
          try t.delete(Ledger.mirror, key)
        } else {
          let value = UInt64.random(in: 0 ... .max, using: &random)
          let length = key % 50 == 1 ? 6000 : 40
          try t.put(Ledger.rows, key, Ledger.bytes(value, length))
          try t.put(Ledger.mirror, key, Ledger.bytes(0 &- value))
        }
      }
      try t.commit()
      // Eight bytes in place: whole or not there at all, whenever the process is killed.
      try log.seek(toOffset: 0)
      log.write(Data(Ledger.bytes(count)))
      switch UInt64.random(in: 0..<200, using: &random) {
      case 0: try store.checkpoint()
      case 1: _ = try store.compactStep(bytes: 1 << 18)
      case 2: try store.suspend(); try store.resume()
      default: break
      }
    }
  }
}

/// Looks at all that it sees, again and again, and holds on to some of it.
struct Reader {
  let store: Store

  init(path: String) throws { store = try open(path, .full, isReadOnly: true) }

  func run() throws {
    var last: UInt64 = 0
    var held: (view: Snapshot, sum: UInt64)?
    var round = 0
    while true {
      let view = try store.snapshot()
      guard view.sequence >= last else { throw WorkerError("commit \(last) is gone: now at \(view.sequence)") }
      last = view.sequence
      let sum = try Ledger.check(view)
      round += 1
      if let old = held, round % 8 == 0 {
        guard try Ledger.check(old.view) == sum || old.view.sequence != view.sequence,
          try Ledger.check(old.view) == old.sum
        else { throw WorkerError("a held view has changed") }
        held = nil
      }
      if held == nil { held = (view, sum) }
    }
  }
}

/// Commits when the number of commits so far says that it is this process's turn: what each commit does follows from
/// that number alone, so that the result is known.
func alternate(path: String, id: UInt64, count: UInt64) throws {
  let store = try open(path, .normal)
  var done: UInt64 = 0
  while done < count {
    let t = try store.beginWrite()
    let number = UInt64(bitPattern: try t.counter(Ledger.rows, 0))
    guard number % 2 == id else {
      t.rollBack()
      continue
    }
    let key = number &* 7919 % 1500
    if number % 5 == 4 {
      try t.delete(Ledger.rows, key)
    } else {
      try t.put(Ledger.rows, key, Ledger.bytes(number, Int(20 + number % 90)))
    }
    try t.addToCounter(Ledger.rows, 0, 1)
    try t.commit()
    done += 1
    if number % 500 < 2 { try store.checkpoint() }
  }
  try store.close()
}

/// Uses the store in a forked child, which must be refused, and go on undisturbed in the parent.
func useAfterFork(path: String) throws {
  let store = try open(path, .full)
  var held: Snapshot? = try store.snapshot()
  typealias Fork = @convention(c) () -> Int32
  guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "fork") else { throw WorkerError("no fork") }
  let child = unsafeBitCast(symbol, to: Fork.self)()
  if child == 0 {
    var refused = 0
    do { _ = try store.snapshot() } catch StoreError.forked { refused += 1 } catch {}
    do { _ = try store.beginWrite() } catch StoreError.forked { refused += 1 } catch {}
    do { try store.suspend() } catch StoreError.forked { refused += 1 } catch {}
    // Must not unlock what the parent has locked.
    held = nil
    _exit(Int32(refused))
  }
  var status: Int32 = 0
  waitpid(child, &status, 0)
  guard status >> 8 == 3 else { throw WorkerError("the child was refused \(status >> 8) times") }
  guard store.pinsAreLocked(from: path) else { throw WorkerError("the child has unlocked the parent's pin") }
  _ = try Ledger.check(store.snapshot())
  withExtendedLifetime(held) {}
  try store.close()
}

extension Store {
  /// Whether another device sees a lock where pins are.
  func pinsAreLocked(from path: String) -> Bool {
    let pins: Range<UInt64> = (1 << 62 + 1 << 20)..<(1 << 62 + 1 << 40)
    guard let other = try? FileDevice(path: path, sharing: .cooperative) else { return false }
    defer { other.close() }
    return (try? other.isLockedByOther(.exclusive, pins)) ?? false
  }
}
