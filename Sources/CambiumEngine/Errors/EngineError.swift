import CambiumKernel

/// What went wrong in the engine: what, where, and what to do about it.
public enum EngineError: Error, Sendable {
  /// The kernel's error: the device, the file, or the limits of a transaction.
  case store(StoreError)
  /// The model is not right.
  case schema(SchemaError)
  /// The predicate cannot be used.
  case predicate(PredicateError)
  /// There is no such object, or it was deleted.
  case noSuchObject(ObjectReference)
  /// Links lead to objects that do not exist at the end of the transaction: they were deleted, or never inserted.
  /// Nothing was committed.
  case missingDestinations([ObjectReference])
  /// Two objects would have the same values under a uniqueness constraint. Nothing was committed.
  case uniqueViolation(constraint: [String], entity: String, existing: ObjectReference, offending: ObjectReference)
  /// A value is not of the property's type, or does not fit it.
  case typeMismatch(entity: String, property: String, expected: AttributeType, found: String)
  /// The entity has no property of this name.
  case unknownProperty(entity: String, name: String)
  /// The store was migrated to another model since it was opened, by this or another process: open it again.
  case modelChanged
  /// There is no migration to be undone: none was made, its work is finished, it was confirmed, or the state before it
  /// is no longer kept.
  case noMigrationToRollBack
  /// The application has committed since the migration, so often; undoing it would discard these commits.
  case commitsSinceMigration(UInt64)
  /// The model cannot be reached from the one in the store by inference: what stands in the way, change by change.
  case notInferable([MappingObstacle])
  /// Objects in the store stand in the way of a migration: which, and what to do about them. Nothing was changed.
  case migrationBlocked([MigrationBlock])
  /// The file holds something that the engine did not write: restore from a backup.
  case corrupt(String)
  /// The model or the request asks for something that is not supported; the text says what to use instead.
  case unsupported(String)
  /// The caller did what the documentation rules out.
  case misuse(String)
  /// The store keeps history, of which this writer would not tell.
  case historyNotTracked
  /// Whoever asked does not want to know any more.
  case cancelled
}

extension EngineError: CustomStringConvertible {
  /// One sentence for the developer.
  #if !hasFeature(Embedded)
    @_optimize(none)
  #endif
  public var description: String {
    switch self {
    case .store(let error): return error.description
    case .schema(let error): return error.description
    case .predicate(let error): return error.description
    case .noSuchObject(let reference): return "there is no object \(reference.description); it may have been deleted"
    case .missingDestinations(let objects):
      let first = objects.first?.description ?? "an object"
      let more = objects.count > 1 ? " (and \(objects.count - 1) others)" : ""
      return "a relationship was led to \(first)\(more), which does not exist: insert it first, or lead it elsewhere"
    case .uniqueViolation(let constraint, let entity, let existing, let offending):
      return "\(entity): objects \(existing.description) and \(offending.description) have the same "
        + joined(constraint) + ", which must be unique"
    case .typeMismatch(let entity, let property, let expected, let found):
      return "\(entity).\(property) takes \(expected.name), not \(found)"
    case .unknownProperty(let entity, let name): return "\(entity) has no property '\(name)'"
    case .modelChanged:
      return "the store was migrated to another model since it was opened: open it again, with the model it has now"
    case .noMigrationToRollBack:
      return
        "there is no migration to go back behind: the state before it is kept only until the work that it put off is "
        + "done, or until it is confirmed if that was asked for"
    case .commitsSinceMigration(let count):
      let commits = count == 1 ? "1 commit was" : "\(count) commits were"
      return "\(commits) made since the migration; going back behind it discards what was saved: say so, or keep it"
    case .notInferable(let obstacles):
      return "no mapping to the model can be inferred: " + Self.sentences(obstacles.map { $0.description })
    case .migrationBlocked(let blocks):
      return "objects in the store stand in the way of the migration: " + Self.sentences(blocks.map { $0.description })
    case .corrupt(let text): return "the store is damaged: \(text)"
    case .unsupported(let text): return text
    case .misuse(let text): return text
    case .historyNotTracked:
      return "the store keeps history now, and was opened without it: open it again with history"
    case .cancelled: return "the fetch was cancelled"
    }
  }

  private static func sentences(_ parts: [String]) -> String {
    var text = ""
    for part in parts { text += text.isEmpty ? part : "; " + part }
    return text
  }

  private func joined(_ names: [String]) -> String {
    var text = ""
    for name in names { text += text.isEmpty ? name : ", " + name }
    return text
  }
}

/// Runs `body`, giving the kernel's errors the engine's type.
@inline(__always)
func storing<R>(_ body: () throws(StoreError) -> R) throws(EngineError) -> R {
  do throws(StoreError) { return try body() } catch { throw .store(error) }
}

/// Runs `body`, giving the model's errors the engine's type.
@inline(__always)
func resolving<R>(_ body: () throws(SchemaError) -> R) throws(EngineError) -> R {
  do throws(SchemaError) { return try body() } catch { throw .schema(error) }
}
