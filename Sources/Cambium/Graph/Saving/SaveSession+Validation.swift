import CambiumEngine

// What a save asks of its objects before it writes them.
extension ManagedObjectContext {
  /// Whether the next save would still insert, update and delete the objects.
  func isPending(_ objects: SavedObjects) -> Bool {
    func areAll(_ objects: [ManagedObject], _ kind: PendingKind) -> Bool {
      var areAll = true
      objects.lend { _, object in if object.pending != kind { areAll = false } }
      return areAll
    }
    return areAll(objects.inserted, .inserted) && areAll(objects.deleted, .deleted)
      && areAll(objects.updated, .updated)
  }
}

extension SaveSession {
  /// Calls the methods that validate, once for each object. Such a method may correct the attributes, the transient
  /// values and the elements of composites of its own object, which are saved so. Whatever else it changes belongs into
  /// `willSave()`, which is called until nothing changes any more.
  ///
  /// - Throws: What the methods throw; ``CambiumError/Code/persistentStoreSave`` if one of them has changed something
  ///   else.
  func validate() throws {
    let saved = context.pendingObjects
    if saved.isEmpty { return }
    var errors = ValidationErrors()
    let watch = ValidationWatch()
    validation = watch
    context.link.isValidating.store(true, ordering: .relaxed)
    defer {
      context.link.isValidating.store(false, ordering: .relaxed)
      validation = nil
    }
    func call(_ objects: [ManagedObject], _ kind: PendingKind, _ method: (ManagedObject) throws -> Void) {
      objects.lend { _, object in
        if object.pending != kind { return }
        watch.current = object
        do { try method(object) } catch { errors.note(error, of: object) }
      }
      watch.current = nil
    }
    call(saved.deleted, .deleted) { try $0.validateForDelete() }
    call(saved.inserted, .inserted) { try $0.validateForInsert() }
    call(saved.updated, .updated) { try $0.validateForUpdate() }
    if let foreign = watch.foreign { throw Self.changedByValidation(foreign) }
    guard context.isPending(saved), context.inserted.count == saved.inserted.count,
      context.deleted.count == saved.deleted.count
    else {
      throw CambiumError(
        .persistentStoreSave,
        "a method that validates has inserted, deleted or taken back what is being saved; do that in willSave(), or before the save"
      )
    }
    try errors.throwing()
  }

  private static func changedByValidation(_ change: ValidationWatch.Change) -> CambiumError {
    CambiumError(
      .persistentStoreSave,
      "a method that validates '\(change.validated)' has changed \(change.text) of '\(change.object.entity.name)'; it may correct the "
        + "attributes of its own object only: change the rest in willSave()", entityName: change.object.entity.name,
      objectID: change.object.objectID)
  }
}

/// What methods that validate change, while they are called.
final class ValidationWatch {
  /// A change that such a method must not make.
  struct Change {
    let validated: String
    let object: ManagedObject
    let text: String
  }

  /// The object that is asked.
  fileprivate var current: ManagedObject?
  /// The first change that is not allowed.
  private(set) var foreign: Change?

  /// Notes that an object is changed: its relationships, or something else.
  func note(_ object: ManagedObject, isRelationship: Bool) {
    if foreign != nil || object === current && !isRelationship { return }
    let text = object === current ? "relationships" : "another object"
    foreign = Change(validated: current?.entity.name ?? "an object", object: object, text: text)
  }
}

/// What methods that validate have thrown.
private struct ValidationErrors {
  private var errors: [CambiumError] = []
  /// An error of the application's own is thrown as it is if it is the only one.
  private var foreign: (any Error)?

  @inline(never)
  mutating func note(_ error: any Error, of object: ManagedObject) {
    if let error = error as? CambiumError {
      errors += error.code == .validationMultipleErrors ? error.detailedErrors : [error]
      return
    }
    foreign = foreign ?? error
    errors.append(
      CambiumError(
        .managedObjectValidation, "\(error)", entityName: object.entity.name, objectID: object.objectID,
        underlying: [error]))
  }

  func throwing() throws {
    guard let first = errors.first else { return }
    guard errors.count > 1 else { throw foreign ?? first }
    var result = CambiumError(.validationMultipleErrors, "\(errors.count) validation errors; see detailedErrors")
    result.detailedErrors = errors
    result.affectedObjectIDs = errors.compactMap { $0.objectID }
    throw result
  }
}
