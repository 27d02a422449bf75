import CambiumKernel

// The models that a store had before the one that it has, kept in the catalogue under "former": the 32 bytes of their
// version checksums one after the other, the one left last at the end, each once.

/// The models that a store had before the one that it has.
struct FormerModels: Equatable {
  /// The version checksums, the model that was left last at the end.
  private(set) var checksums: [VersionHash] = []

  /// More than these are not remembered: those left first are forgotten.
  static let limit = 64
  static let key = Catalogue.key("former")

  /// - Throws: ``EngineError/corrupt(_:)``.
  init(_ bytes: [UInt8]) throws(EngineError) {
    guard bytes.count % 32 == 0 else {
      throw .corrupt("the list of the models that the store had has \(bytes.count) bytes")
    }
    for start in stride(from: 0, to: bytes.count, by: 32) {
      if let checksum = VersionHash(bytes: bytes[start..<start + 32]) { checksums.append(checksum) }
    }
    // A later version may remember more.
    checksums.removeFirst(max(0, checksums.count - Self.limit))
  }

  init(_ trees: TreeView) throws(EngineError) {
    try self.init(try storing { () throws(StoreError) in try trees.value(Catalogue.tree, Self.key) } ?? [])
  }

  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    for checksum in checksums { bytes += checksum.bytes }
    return bytes
  }

  /// Notes that the store has left a model for another. If that is one that it had before, it is as if the store had
  /// never gone on from there: who goes on again is no older version for that.
  mutating func leave(_ checksum: VersionHash, for destination: VersionHash) {
    if let place = checksums.firstIndex(of: destination) {
      checksums.removeSubrange(place...)
      return
    }
    checksums.removeAll { $0 == checksum }
    checksums.append(checksum)
    checksums.removeFirst(max(0, checksums.count - Self.limit))
  }

  /// Notes in the catalogue which model a migration leaves. One that changes nothing that versions are told apart by
  /// leaves none.
  @_optimize(none)
  static func note(_ schema: Schema, leftFor destination: Schema, _ t: WriteTransaction) throws(EngineError) {
    let left = schema.versionHashes.checksum
    if left == destination.versionHashes.checksum { return }
    var models = try FormerModels(t)
    models.leave(left, for: destination.versionHashes.checksum)
    try storing { () throws(StoreError) in try t.put(Catalogue.tree, key, models.encoded) }
  }
}

extension EntityView {
  /// The version checksums of the models that the store had before, the one that it had last at the end; at most 64.
  ///
  /// - Throws: ``EngineError/corrupt(_:)``; kernel errors.
  public func formerModels() throws(EngineError) -> [VersionHash] { try FormerModels(trees).checksums }
}

extension EntityTransaction {
  /// Takes over which models another store had, whose place the store takes, the last one included.
  ///
  /// - Throws: what ``EntityView/formerModels()`` throws.
  @_optimize(none)
  public func setFormerModels(of other: EntityView) throws(EngineError) {
    var models = try FormerModels(other.trees)
    models.leave(other.store.schema.versionHashes.checksum, for: store.schema.versionHashes.checksum)
    try storing { () throws(StoreError) in
      try transaction.put(Catalogue.tree, FormerModels.key, models.encoded)
    }
  }
}
