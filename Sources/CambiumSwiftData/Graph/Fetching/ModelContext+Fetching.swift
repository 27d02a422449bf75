import Cambium
import Foundation

extension ModelContext {
  /// The models that a descriptor describes.
  ///
  /// - Throws: ``SwiftDataError/unsupportedPredicate`` and ``SwiftDataError/unsupportedSortDescriptor``, which name the
  ///   part; ``SwiftDataError/unknownSchema`` for a class that the container lacks; what reading the store throws.
  public func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    let rows = try rows(descriptor)
    let modelClass = ModelClass.of(T.self)
    if stores.schema.classes.contains(where: { $0.superclass === modelClass }) {
      return try rows.map { try model(of: $0, as: T.self) }
    }
    // All rows are of the one class.
    let maker = maker(of: modelClass)
    // To append would look up the type of the array for each model.
    return try [T](unsafeUninitializedCapacity: rows.count) { models, count in
      try maker.makeSeveral {
        for row in rows {
          let model = try row.owner == nil ? maker.makeHere(row, self, as: T.self) : model(of: row, as: T.self)
          models.initializeElement(at: count, to: model)
          count += 1
        }
      }
    }
  }

  /// The models that a descriptor describes, whose rows are read in batches as they are asked for. Models that are
  /// deleted meanwhile stay in the collection.
  ///
  /// - Throws: as ``fetch(_:)-(FetchDescriptor<T>)``.
  public func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int
  ) throws -> FetchResultsCollection<T> {
    let request: FetchRequest<ModelRow> = try request(descriptor)
    request.fetchBatchSize = max(1, batchSize)
    let batches = try mappingErrors { try managedObjectContext.fetchBatches(request) }
    return FetchResultsCollection(count: batches.count) { [self] place in
      (try? model(of: batches[place], as: T.self)) ?? ModelClass.of(T.self).makeNew(as: T.self)
    }
  }

  /// How many models a descriptor describes.
  ///
  /// - Throws: as ``fetch(_:)-(FetchDescriptor<T>)``.
  public func fetchCount<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    let request: FetchRequest<ModelRow> = try request(descriptor)
    return try mappingErrors { try managedObjectContext.count(for: request) }
  }

  /// The identifiers of the models that a descriptor describes. Makes no models.
  ///
  /// - Throws: as ``fetch(_:)-(FetchDescriptor<T>)``.
  public func fetchIdentifiers<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [PersistentIdentifier] {
    let request: FetchRequest<ManagedObjectID> = try request(descriptor)
    return try mappingErrors { try managedObjectContext.fetch(request) }.map { PersistentIdentifier($0) }
  }

  /// The identifiers of the models that a descriptor describes.
  ///
  /// - Throws: as ``fetch(_:)-(FetchDescriptor<T>)``.
  public func fetchIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int
  ) throws -> FetchResultsCollection<PersistentIdentifier> {
    let found = try fetchIdentifiers(descriptor)
    return FetchResultsCollection(count: found.count) { found[$0] }
  }

  /// Calls a block with each model that a descriptor describes, and holds a batch of them at a time.
  ///
  /// - Parameters:
  ///   - batchSize: How many models are read at a time.
  ///   - allowEscapingMutations: Whether the context may have unsaved changes, which keep their models in memory.
  ///   - block: May save.
  /// - Throws: as ``fetch(_:)-(FetchDescriptor<T>)``; `CambiumError` for unsaved changes that are not allowed; what the
  ///   block throws.
  public func enumerate<T: PersistentModel>(
    _ fetch: FetchDescriptor<T>, batchSize: Int = 5000, allowEscapingMutations: Bool = false,
    block: (_ model: T) throws -> Void
  ) throws {
    let request: FetchRequest<ModelRow> = try request(fetch)
    try mappingErrors {
      try managedObjectContext.enumerate(
        request, batchSize: batchSize, allowEscapingMutations: allowEscapingMutations
      ) { row in try block(try model(of: row, as: T.self)) }
    }
  }

  // MARK: By identifiers

  /// The model of an identifier. If the context does not have it, one whose row is read when a property is. If there is
  /// no such row, its properties read as their initial values, and then ``PersistentModel/isDeleted`` is true. If the
  /// identifier is of another store, the context notes an error, and the model belongs to no context. See
  /// ``existingModel(for:)``.
  public func model(for persistentModelID: PersistentIdentifier) -> any PersistentModel {
    if let id = persistentModelID.objectID(in: stores.coordinator),
      let found = model(of: managedObjectContext.object(with: id))
    {
      return found
    }
    if let inserted = insertedModelsArray.first(where: { $0.persistentModelID == persistentModelID }) {
      return inserted
    }
    managedObjectContext.note(
      SwiftDataError(.missingModelContext, "the container has no model of the identifier \(persistentModelID)"),
      losesChange: false)
    let modelClass = stores.classes[persistentModelID.entityName] ?? stores.schema.classes.first
    func make<M: PersistentModel>(_ type: M.Type) -> any PersistentModel { ModelClass.of(type).makeNew(as: type) }
    guard let modelClass else { return make(NoModel.self) }
    return make(modelClass.type)
  }

  /// The model of an identifier, if the context has it. Reads nothing.
  public func registeredModel<T: PersistentModel>(for persistentModelID: PersistentIdentifier) -> T? {
    guard let id = persistentModelID.objectID(in: stores.coordinator) else {
      return insertedModelsArray.first { $0.persistentModelID == persistentModelID } as? T
    }
    return managedObjectContext.registeredObject(for: id).flatMap { model(of: $0) } as? T
  }

  /// The model of an identifier, with its row read; `nil` if there is no such row, or it is of another class. SwiftData
  /// has no such call.
  ///
  /// - Throws: what reading throws.
  public func existingModel<T: PersistentModel>(for persistentModelID: PersistentIdentifier) throws -> T? {
    guard let id = persistentModelID.objectID(in: stores.coordinator) else {
      return registeredModel(for: persistentModelID)
    }
    // In a migration, an identifier of the other version may be of a class that this one lacks.
    guard stores.coordinator.knowsEntity(of: id) else { return nil }
    do {
      return model(of: try managedObjectContext.existingObject(with: id)) as? T
    } catch let error as CambiumError where error.code == .managedObjectReferentialIntegrity {
      return nil
    }
  }

  // MARK: Requests

  /// The rows that a descriptor describes.
  func rows<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [ModelRow] {
    let request: FetchRequest<ModelRow> = try request(descriptor)
    return try mappingErrors { try managedObjectContext.fetch(request) }
  }

  /// The request of the object graph.
  func request<T: PersistentModel, Result>(_ descriptor: FetchDescriptor<T>) throws -> FetchRequest<Result> {
    let modelClass = ModelClass.of(T.self)
    guard stores.classes[modelClass.entityName] === modelClass else {
      if let other = stores.classes[modelClass.entityName] {
        throw SwiftDataError(
          .unknownSchema,
          "\(modelClass.fullName) is not '\(modelClass.entityName)' of this container: that is another class of that name, "
            + "\(other.fullName). Fetch models of the container's class")
      }
      throw SwiftDataError(
        .unknownSchema, "the container's schema has no \(T.self); name the class in ModelContainer(for:)")
    }
    let request = FetchRequest<Result>(entityName: modelClass.entityName)
    if let predicate = descriptor.predicate {
      request.predicate = try mappingErrors {
        try FetchPredicate(predicate, naming: ModelNames(stores: stores))
      }
    }
    if !descriptor.sortBy.isEmpty { request.sortDescriptors = try descriptor.sortBy.map { try SortKey.of($0) } }
    request.fetchLimit = descriptor.fetchLimit ?? 0
    request.fetchOffset = descriptor.fetchOffset ?? 0
    request.includesPendingChanges = descriptor.includePendingChanges
    request.includesSubentities = descriptor.includesSubclasses
    if !descriptor.relationshipKeyPathsForPrefetching.isEmpty {
      request.relationshipKeyPathsForPrefetching = try descriptor.relationshipKeyPathsForPrefetching.map { keyPath in
        guard let path = PathProbe.name(of: keyPath, from: modelClass) else {
          throw SwiftDataError(.unsupportedKeyPath, "\(keyPath) is no relationship of \(modelClass.entityName)")
        }
        return path
      }
    }
    return request
  }

  /// The model of a row that was fetched as one of a class.
  private func model<T: PersistentModel>(of row: ModelRow, as type: T.Type) throws -> T {
    if row.owner == nil, let maker = maker(of: row), maker.modelClass.typeID == ObjectIdentifier(type) {
      return maker.make(row, self, as: type)
    }
    if let owner = row.model ?? row.makeModel(context: self) {
      if Swift.type(of: owner) == type { return unsafeDowncast(owner, to: T.self) }
      if let found = owner as? T { return found }
    }
    throw SwiftDataError(
      .unknownSchema,
      "a model of '\(row.entity.name)' was found, which is no \(T.self) of this container; name its class in ModelContainer(for:)"
    )
  }
}

/// Stands for a model where a container has no classes.
final class NoModel: PersistentModel {
  private let row = ModelRow(entity: EntityDescription("NoModel"), insertInto: nil)
  init(backingData: any BackingData<NoModel>) {}
  var persistentBackingData: any BackingData<NoModel> {
    get { ModelBackingData(row: row) }
    set {}
  }
  static var schemaMetadata: [Schema.PropertyMetadata] { [] }
  var _$row: ModelRow { row }
  func _$attach(_ context: ModelContext?) {}
  var _$context: ModelContext? { nil }
}
