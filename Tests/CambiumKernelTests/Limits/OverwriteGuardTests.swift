import CambiumTesting
import Synchronization
import Testing

@testable import CambiumKernel

/// No write lands on a byte that the newest durable checkpoint, its log, or an open view needs.
@Suite struct OverwriteGuardTests {
  /// What a view of the newest state needs of the file: every page and extent that it reaches.
  static func reached(by store: Store) throws -> [Range<UInt64>] {
    var ranges: [Range<UInt64>] = []
    func walk(_ tree: TreeID, _ kind: TreeKind, _ ref: PageRef, _ level: UInt8) throws {
      ranges.append(ref.address..<ref.address + UInt64(ref.length))
      if level == 0 { return }
      var children: [PageRef] = []
      let slot = store.cache.slots.enter(0)
      let page = try store.cache.page(ref, tree: tree, level: level)
      for i in 0..<page.pageCount {
        children.append(kind == .integer ? IntegerInner(page).ref(i) : BytesInner(page).ref(i))
      }
      store.cache.slots.leave(slot)
      for child in children { try walk(tree, kind, child, level - 1) }
    }
    for (id, state) in store.current.trees where !state.root.isNone {
      try walk(id, state.kind, state.root, state.level)
    }
    let view = TreeView(core: store, generation: store.current, upTo: store.appendedSequence, hint: 0)
    let cursor = try view.cursor(.extents)
    var more = try cursor.seekFirst()
    while more {
      if let extent = try cursor.withValue({ Extent($0) }) ?? nil {
        ranges.append(extent.address..<extent.address + UInt64(extent.storedLength))
      }
      more = try cursor.next()
    }
    return ranges
  }

  /// What recovery needs: the directory, and the log from where the superblock says, to its end.
  static func neededByRecovery(of store: Store) throws -> [Range<UInt64>] {
    var ranges: [Range<UInt64>] = []
    for ref in store.directoryPages { ranges.append(ref.address..<ref.address + UInt64(ref.length)) }
    let scanner = LogScanner(device: store.device, superblock: store.superblock)
    let outcome = try ScannedLog(scanner)
    for found in outcome.records { ranges.append(found.address..<found.address + UInt64(found.header.length)) }
    return ranges
  }

  @Test(arguments: CrashScenario.allCases.filter { $0 != .failingSyncs }, [Durability.full, .strict, .normal])
  func nothingNeededIsWritten(_ scenario: CrashScenario, _ durability: Durability) throws {
    nonisolated(unsafe) let watch = Watch()
    let w = CrashWorkload(options: scenario.options(durability), seed: CrashTests.seed) { disk in
      let device = RecordingDevice(disk) { _ in watch.update() }
      watch.devices.append(device)
      return device
    }
    watch.workload = w
    w.onDurable = { store in
      watch.update()
      watch.rounds += 1
      if store.checkpointUnderWay == nil, watch.rounds % 3 == 0 || watch.held == nil {
        watch.hold((try store.snapshot(), try Self.reached(by: store)))
      }
    }
    w.beforeReopen = { watch.letGo() }
    try scenario.run(w)
    #expect(watch.checked > 2)
    for device in watch.devices {
      let violations = device.violations.filter { $0.lowerBound >= UInt64(Superblock.regionSize) }
      #expect(violations.isEmpty, "\(violations.prefix(5))")
    }
  }
}

private final class Watch {
  weak var workload: CrashWorkload?
  var devices: [RecordingDevice] = []
  private(set) var held: (snapshot: Snapshot, ranges: [Range<UInt64>])?
  private var publication: UInt64 = 0
  private var needed: [Range<UInt64>] = []
  var rounds = 0
  var checked = 0

  /// Holds another view; what only the one before needed may be written over at once, without a newer publication.
  func hold(_ next: (snapshot: Snapshot, ranges: [Range<UInt64>])) {
    held = next
    guard let device = devices.last else { return }
    device.unprotect(0..<UInt64.max)
    for range in needed + next.ranges { device.protect(range) }
  }

  /// The process has ended, and with it the view: whoever opens the store next knows of none.
  func letGo() {
    held = nil
    guard let device = devices.last else { return }
    device.unprotect(0..<UInt64.max)
    for range in needed { device.protect(range) }
  }

  /// Protects what the newest durable publication and the held view need, as soon as there is a newer publication. The
  /// log that grows meanwhile is protected with it from the next one on.
  func update() {
    guard let store = workload?.store, let device = devices.last, publication != store.space.durablePublication else {
      return
    }
    publication = store.space.durablePublication
    checked += 1
    device.unprotect(0..<UInt64.max)
    do {
      needed = try OverwriteGuardTests.reached(by: store) + OverwriteGuardTests.neededByRecovery(of: store)
      for range in needed + (held?.ranges ?? []) { device.protect(range) }
    } catch { Issue.record("\(error)") }
  }
}
