import CambiumKernel

/// Links of a relationship that is kept in a tree, in rows of an earlier layout: a migration put off to move them. They
/// are read in the row, as long as it has that layout; whoever writes the row anew moves them.
final class PendingLinks: Sendable {
  let relationship: UInt32
  /// Where they belong.
  let tree: TreeID
  private let record: RecordLayout
  private let field: Int
  private let isList: Bool

  init(_ relationship: UInt32, _ tree: TreeID, _ record: RecordLayout, field: Int, isList: Bool) {
    self.relationship = relationship
    self.tree = tree
    self.record = record
    self.field = field
    self.isList = isList
  }

  /// The rows that a row of the layout leads to, ascending, each once.
  func targets(_ bytes: UnsafeRawBufferPointer) throws(StoreError) -> [UInt64] {
    let view = try RecordView(bytes, layout: record)
    if !isList { return try view.reference(at: field).map { [PackedReference.unpack($0).row] } ?? [] }
    let rows = try view.references(at: field)?.array.map { PackedReference.unpack($0).row } ?? []
    return Set(rows).sorted()
  }

  /// The keys of these links in the tree.
  func keys(_ bytes: UnsafeRawBufferPointer, _ row: UInt64) throws(EngineError) -> [[UInt8]] {
    let found = try storing { () throws(StoreError) -> [UInt64] in try self.targets(bytes) }
    return found.map { linkKey(row, $0) }
  }
}

extension EntityStore {
  /// The links in rows of an earlier layout that belong into trees.
  func pendingLinks(_ layout: StaleLayout) throws(EngineError) -> [PendingLinks] {
    try Self.pendingLinks(layout, catalogue)
  }

  static func pendingLinks(_ layout: StaleLayout, _ catalogue: Catalogue) throws(EngineError) -> [PendingLinks] {
    var result: [PendingLinks] = []
    for (place, field) in layout.descriptor.fields.enumerated()
    where field.property & LayoutDescriptor.pending != 0 && field.property < LayoutDescriptor.firstDropped {
      let relationship = field.property & ~LayoutDescriptor.pending
      guard let tree = catalogue.relationships[relationship] else {
        throw .corrupt(
          "links of a relationship \(relationship) that has no tree are in rows of \(layout.current.entity.name)")
      }
      switch field.kind {
      case .reference: result.append(PendingLinks(relationship, tree, layout.record, field: place, isList: false))
      case .references: result.append(PendingLinks(relationship, tree, layout.record, field: place, isList: true))
      default: throw .corrupt("links of a relationship \(relationship) are of another type")
      }
    }
    return result
  }
}

extension EntityTransaction {
  /// Moves the links of a row that are to be in trees and are in the row still, before the row is written anew or
  /// removed.
  func moveLinks(_ rows: TreeID, _ row: UInt64) throws(EngineError) {
    if store.pendingLinks.isEmpty { return }
    var bytes: [UInt8] = []
    try storing { () throws(StoreError) in
      _ = try trees.withValue(rows, row) { (b) throws(StoreError) in bytes.append(contentsOf: b) }
    }
    if bytes.isEmpty { return }
    try bytes.withUnsafeBytesEngine { (b) throws(EngineError) in
      let layout = try storing { () throws(StoreError) in try RecordView.layoutID(of: b) }
      for links in store.pendingLinks[layout] ?? [] { try put(try links.keys(b, row), links.tree) }
    }
  }
}
