extension ManagedObjectContext {
  /// Makes many objects at once.
  ///
  /// - Throws: ``CambiumError/Code/unknownKey`` and ``CambiumError/Code/invalidArgument`` for values that the entity
  ///   cannot have; ``CambiumError/Code/managedObjectConstraintMerge`` for objects that are not unique;
  ///   ``CambiumError/Code/fileWriteNoPermission``; what writing throws. Nothing was made then.
  @discardableResult
  public func execute(_ request: BatchInsertRequest) throws -> BatchResult {
    try lock.run {
      try told(.batch(.insert, entityName: request.entityName), count: { $0.count }) {
        try BatchInsertion(context: self, request: request).run()
      }
    }
  }

  /// Changes many objects at once.
  ///
  /// - Throws: as for ``execute(_:)-(BatchInsertRequest)``, and ``CambiumError/Code/invalidPredicate``.
  @discardableResult
  public func execute(_ request: BatchUpdateRequest) throws -> BatchResult {
    try lock.run {
      try told(.batch(.update, entityName: request.entityName), count: { $0.count }) {
        try BatchUpdate(context: self, request: request).run()
      }
    }
  }

  /// Deletes many objects at once.
  ///
  /// - Throws: ``CambiumError/Code/validationRelationshipDeniedDelete``; ``CambiumError/Code/invalidArgument`` for
  ///   objects of several stores; else as for ``execute(_:)-(BatchInsertRequest)``.
  @discardableResult
  public func execute(_ request: BatchDeleteRequest) throws -> BatchResult {
    try lock.run {
      try told(.batch(.delete, entityName: request.fetchedEntityName), count: { $0.count }) {
        try BatchDeletion(context: self, request: request).run()
      }
    }
  }
}
