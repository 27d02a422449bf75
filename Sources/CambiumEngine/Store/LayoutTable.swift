import CambiumKernel

/// The layouts of a store by their identifiers, as plain memory: looked at for every row that is read, so that nothing
/// is counted for it. The store keeps the layouts.
final class LayoutTable: @unchecked Sendable {
  // Unchecked: nothing changes the entries between `init` and `deinit`.

  struct Entry {
    let layout: Unmanaged<EntityLayout>
    let record: BorrowedLayout
    let entityID: UInt32
  }

  private let entries: UnsafeMutablePointer<Entry?>
  private let count: Int

  init(_ layouts: [UInt16: EntityLayout]) {
    count = 1 + Int(layouts.keys.max() ?? 0)
    entries = .allocate(capacity: count)
    entries.initialize(repeating: nil, count: count)
    for (id, layout) in layouts {
      entries[Int(id)] = Entry(
        layout: .passUnretained(layout), record: BorrowedLayout(layout.record), entityID: layout.entityID)
    }
  }

  deinit { entries.deallocate() }

  @inline(__always)
  subscript(id: UInt16) -> Entry? { Int(id) < count ? entries[Int(id)] : nil }
}
