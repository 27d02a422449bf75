import CambiumKernel

extension RetainedCommit {
  /// Whether the store keeps it for a migration, or for a stage of one, and lets it go itself.
  public var isKeptForMigration: Bool { reason.hasPrefix(PriorCommit.reservedPrefix) }
}

extension EntityStore {
  /// Keeps the present state until it is released, lapses at `expires` (milliseconds since 1970), or holds back more
  /// than `limitBytes` of the file. Durable when this returns.
  ///
  /// - Throws: ``EngineError/misuse(_:)`` for a reason longer than 1,024 bytes, or one that begins like the engine's
  ///   own ("Cambium: "); kernel errors.
  public func retain(
    reason: String, limitBytes: UInt64? = nil, expires: UInt64? = nil
  ) throws(EngineError) -> RetainedCommit {
    if fixed != nil { throw .store(.readOnly) }
    if reason.hasPrefix(PriorCommit.reservedPrefix) {
      throw .misuse("reasons that begin with '\(PriorCommit.reservedPrefix)' are the store's own; use another one")
    }
    return try storing { () throws(StoreError) in
      try kernel.retain(reason: reason, expires: expires, limitBytes: limitBytes)
    }
  }

  /// What is retained, the oldest first: by the application, for backups, and as the states before migrations.
  public func retainedCommits() throws(EngineError) -> [RetainedCommit] {
    try storing { () throws(StoreError) in try kernel.retainedCommits() }
  }

  /// Lets a retained commit go.
  ///
  /// - Throws: `StoreError.snapshotExpired` in ``EngineError/store(_:)`` if there is none of that name; kernel errors.
  public func release(retained id: UInt64) throws(EngineError) {
    if fixed != nil { throw .store(.readOnly) }
    try storing { () throws(StoreError) in try kernel.release(retained: id) }
  }

  /// The newest commit that a view taken now shows; of an earlier state, that one's.
  public var sequence: UInt64 {
    get throws(EngineError) { try view().trees.sequence }
  }

  /// The entities as they were at a retained commit, with the model of then, whatever the store's is now. Every view of
  /// it is of that commit; writing throws `StoreError.readOnly`. It stays readable as long as it is held, even if the
  /// commit is released meanwhile.
  ///
  /// - Throws: `StoreError.snapshotExpired` in ``EngineError/store(_:)`` if the commit was released or has lapsed;
  ///   ``EngineError/corrupt(_:)`` if it holds no model; kernel errors.
  public static func state(retained id: UInt64, in kernel: Store) throws(EngineError) -> EntityStore {
    let snapshot = try storing { () throws(StoreError) in try kernel.snapshot(retained: id) }
    guard let schema = try storedSchema(snapshot) else { throw .corrupt("a retained commit holds no model") }
    let number = try storing { () throws(StoreError) in
      try snapshot.counter(Catalogue.tree, Catalogue.modelCounter)
    }
    return try EntityStore(
      kernel: kernel, schema: schema, catalogue: try Catalogue(snapshot), modelNumber: number, fixed: snapshot)
  }
}
