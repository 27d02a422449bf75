import Cambium
import Foundation

extension ModelContext {
  // MARK: Inserting and deleting

  /// Inserts a model, and the models that its relationships lead to. To insert one of this context's again does
  /// nothing.
  ///
  /// A class that the container's schema lacks, a model of another context, and a model that was deleted or rolled back
  /// are noted as errors, and the next save throws.
  public func insert<T: PersistentModel>(_ model: T) {
    let row = model._$row
    if let other = row.managedObjectContext {
      guard other !== managedObjectContext else { return row.isDeleted ? noteThatItWasDeleted(model) : () }
      return managedObjectContext.note(
        SwiftDataError(
          .missingModelContext,
          "a \(T.self) of another context cannot be inserted; look it up here by its persistentModelID"),
        losesChange: true)
    }
    if !row.isNew { return noteThatItWasDeleted(model) }
    if let error = foreignClass(of: row) { return managedObjectContext.note(error, losesChange: true) }
    managedObjectContext.insert(row)
  }

  private func noteThatItWasDeleted<T: PersistentModel>(_ model: T) {
    managedObjectContext.note(
      SwiftDataError(
        .missingModelContext, "a \(T.self) that was deleted or rolled back cannot be inserted again; make a new one"),
      losesChange: true)
  }

  /// Inserts a model. The spelling of SwiftData's first beta.
  @available(*, deprecated, renamed: "insert(_:)")
  public func insert<T: PersistentModel>(object: T) { insert(object) }

  /// Marks a model to be deleted by the next save. The delete rules of its relationships apply at once.
  public func delete<T: PersistentModel>(_ model: T) {
    let row = model._$row
    guard row.managedObjectContext === managedObjectContext else {
      if row.managedObjectContext == nil { return }
      return managedObjectContext.note(
        SwiftDataError(
          .missingModelContext,
          "a \(T.self) of another context cannot be deleted; look it up here by its persistentModelID"),
        losesChange: true)
    }
    delete(row)
  }

  /// Marks models to be deleted by the next save: those of a class, or those of them that a predicate is true of.
  /// Delete rules apply, and observers are told.
  ///
  /// - Parameter includeSubclasses: Whether models of classes that inherit from the class are deleted as well.
  /// - Throws: what fetching throws.
  public func delete<T: PersistentModel>(
    model: T.Type, where predicate: Foundation.Predicate<T>? = nil, includeSubclasses: Bool = true
  ) throws {
    var descriptor = FetchDescriptor<T>(predicate: predicate)
    descriptor.includesSubclasses = includeSubclasses
    for row in try rows(descriptor) where !row.isDeleted { delete(row) }
  }

  func deleteAll(of modelClass: ModelClass) throws {
    func deleteAll<M: PersistentModel>(_ type: M.Type) throws { try delete(model: type) }
    try deleteAll(modelClass.type)
  }

  private func delete(_ row: ModelRow) {
    if isObserved { tellNeighbours(of: row) }
    managedObjectContext.delete(row)
    noteChange()
  }

  /// Tells the models that a model leads to that they will not lead back.
  private func tellNeighbours(of row: ModelRow) {
    for property in (modelClass(of: row)?.properties ?? []) where property.destination != nil {
      guard let back = row.entity.relationshipsByName[property.name]?.inverseRelationship?.name else { continue }
      let neighbours: [ModelRow]
      switch property.kind {
      case .attribute: continue
      case .toOne: neighbours = (row[managed: property.name] as ModelRow?).map { [$0] } ?? []
      case .toMany: neighbours = row[managed: property.name]
      }
      for neighbour in neighbours {
        if let property = neighbour.modelClass?.byName[back] { neighbour.tell(of: property) }
      }
    }
  }

  // MARK: Saving

  /// Saves all changes, or none. Does nothing if there are none.
  ///
  /// - Throws: ``SwiftDataError/modelValidationFailure`` for a model that may not be saved as it is, with the error of
  ///   the object graph underneath, which has the code, the property and the model; `CambiumError` for anything else,
  ///   such as a full disk.
  public func save() throws {
    autosave.didBegin()
    let context = managedObjectContext
    guard context.hasChanges || !context.recordedErrors.isEmpty else { return }
    if context.hasChanges { NotificationCenter.default.post(name: Self.willSave, object: self) }
    try mappingErrors { try context.save() }
  }

  /// Runs a block, and saves. If either throws, the changes stay as they are.
  public func transaction(block: () throws -> Void) throws {
    try block()
    try save()
  }

  /// Drops all changes. Models that were inserted leave the context.
  public func rollback() { managedObjectContext.rollback() }

  /// Ends what counts as one change: it is told to observers, and undone at once.
  public func processPendingChanges() { managedObjectContext.processPendingChanges() }

  // MARK: Notifications

  /// Is posted before a save, with the context.
  public static let willSave = Notification.Name("CambiumSwiftData.ModelContext.willSave")
  /// Is posted after a save, with the context; ``NotificationKey`` says what is in `userInfo`.
  public static let didSave = Notification.Name("CambiumSwiftData.ModelContext.didSave")

  /// The keys of the `userInfo` of ``didSave``, by their raw values.
  public enum NotificationKey: String, Sendable {
    /// Not set.
    case queryGeneration
    /// Not set.
    case invalidatedAllIdentifiers
    /// A `[PersistentIdentifier]` of what was inserted.
    case insertedIdentifiers
    /// A `[PersistentIdentifier]` of what was updated, by delete rules as well.
    case updatedIdentifiers
    /// A `[PersistentIdentifier]` of what was deleted, by delete rules as well.
    case deletedIdentifiers
  }

  func post(_ saved: SavedObjects) {
    func identifiers(_ objects: [ManagedObject], _ more: Set<ManagedObjectID>) -> [PersistentIdentifier] {
      var result = objects.map { PersistentIdentifier($0.objectID) }
      if !more.isEmpty {
        let known = Set(objects.map { $0.objectID })
        result += more.subtracting(known).map { PersistentIdentifier($0) }.sorted()
      }
      return result
    }
    NotificationCenter.default.post(
      name: Self.didSave, object: self,
      userInfo: [
        NotificationKey.insertedIdentifiers.rawValue: identifiers(saved.inserted, []),
        NotificationKey.updatedIdentifiers.rawValue: identifiers(saved.updated, saved.byRules.updatedObjectIDs),
        NotificationKey.deletedIdentifiers.rawValue: identifiers(saved.deleted, saved.byRules.deletedObjectIDs),
      ])
  }
}
