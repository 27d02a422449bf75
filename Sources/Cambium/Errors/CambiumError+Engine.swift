import CambiumEngine
import CambiumKernel

extension CambiumError {
  /// Gives an engine error a code.
  init(_ error: EngineError, during operation: Code = .persistentStoreOperation) {
    switch error {
    case .store(let error): self.init(error, during: operation)
    case .schema: self.init(.invalidModel, "\(error)", underlying: [error])
    case .predicate: self.init(.invalidPredicate, "\(error)", underlying: [error])
    case .noSuchObject, .missingDestinations:
      self.init(.managedObjectReferentialIntegrity, "\(error)", underlying: [error])
    case .uniqueViolation(_, let entity, _, _):
      self.init(.managedObjectConstraintMerge, "\(error)", entityName: entity, underlying: [error])
    case .typeMismatch(let entity, let property, _, _):
      self.init(.invalidArgument, "\(error)", entityName: entity, key: property, underlying: [error])
    case .unknownProperty(let entity, let name):
      self.init(.unknownKey, "\(error)", entityName: entity, key: name, underlying: [error])
    case .modelChanged: self.init(.persistentStoreIncompatibleSchema, "\(error)", underlying: [error])
    case .noMigrationToRollBack, .commitsSinceMigration: self.init(.migration, "\(error)", underlying: [error])
    case .notInferable(let obstacles): self.init(obstacles)
    case .migrationBlocked(let blocks): self.init(blocks)
    case .corrupt: self.init(.fileReadCorruptFile, "\(error)", underlying: [error])
    case .unsupported: self.init(.unsupported, "\(error)", underlying: [error])
    case .historyNotTracked: self.init(.fileWriteNoPermission, "\(error)", underlying: [error])
    case .cancelled: self.init(.coreData, "\(error)", underlying: [CancellationError()])
    case .misuse: self.init(operation, "\(error)", underlying: [error])
    }
  }

  /// A mapping that cannot be inferred: "incompatible version hash", as Apple's talks say, over "missing mapping model"
  /// with one "inferred mapping model" for each change in the way, as applications see it.
  init(_ obstacles: [MappingObstacle]) {
    let causes = obstacles.map { obstacle in
      CambiumError(
        .inferredMappingModel, obstacle.description, entityName: obstacle.entity, key: obstacle.property,
        underlying: [obstacle])
    }
    let missing = CambiumError(
      .migrationMissingMappingModel, "Can't find or automatically infer mapping model for migration", underlying: causes
    )
    self.init(
      .persistentStoreIncompatibleVersionHash,
      "the store was made with another model, and no mapping to this one can be inferred: "
        + obstacles.map { $0.description }.joined(separator: "; "), underlying: [missing])
  }

  /// Objects in the way of a migration: the code tells the first reason.
  init(_ blocks: [CambiumEngine.MigrationBlock]) {
    var code = Code.migration
    if case .duplicate? = blocks.first?.reason { code = .migrationConstraintViolation }
    if case .ambiguousInverse? = blocks.first?.reason { code = .inferredMappingModel }
    let texts = blocks.map { block in
      guard case .ambiguousInverse = block.reason, let property = block.property else { return block.description }
      return block.description
        + ", or migrate by MappingModel.byName(from:to:), where the last that leads there keeps it; an entity mapping for "
        + "\(block.entity) with a policy that sets '\(property)' chooses another"
    }
    self.init(
      code, "Cannot migrate store in-place: " + texts.joined(separator: "; "), entityName: blocks.first?.entity,
      key: blocks.first?.property, underlying: blocks)
  }

  /// Gives a kernel error a code.
  init(_ error: StoreError, during operation: Code = .persistentStoreOperation) {
    let code: Code
    var text = error.description
    switch error {
    case .closed:
      code = .persistentStoreOperation
      text = "the store was removed from its coordinator, which closed it; add it again to use it"
    case .deviceFull, .reserveExhausted: code = .fileWriteOutOfSpace
    case .corrupt, .notAStore: code = .fileReadCorruptFile
    case .readOnly: code = .fileWriteNoPermission
    case .unsupportedFormat: code = .persistentStoreTypeMismatch
    case .snapshotExpired: code = .snapshotExpired
    case .busy where operation == .persistentStoreSave: code = .persistentStoreTimeout
    default: code = operation
    }
    self.init(code, text, underlying: [error])
  }
}

/// Runs `body`, giving the engine's errors this module's type.
func mapping<R>(
  _ operation: CambiumError.Code = .persistentStoreOperation, _ body: () throws(EngineError) -> R
) throws -> R {
  do throws(EngineError) { return try body() } catch { throw CambiumError(error, during: operation) }
}

/// As ``mapping(_:_:)``, for a fetch whose predicate was checked: what the schema still refuses is a key path of its
/// order.
func mappingFetch<R>(_ body: () throws(EngineError) -> R) throws -> R {
  do throws(EngineError) { return try body() } catch {
    guard case .schema = error else { throw CambiumError(error) }
    throw CambiumError(.invalidPredicate, "in the order of the request: \(error)", underlying: [error])
  }
}
