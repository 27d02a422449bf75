import CambiumEngine

/// The three passes of a migration over its mapping model, on the thread of the migration.
final class MigrationPasses {
  let model: MappingModel
  let source: PersistentStore
  let destination: PersistentStore
  var associations: MigrationAssociations
  private unowned let manager: MigrationManager
  private let steps: [(mapping: EntityMapping, policy: EntityMigrationPolicy)]
  private let batchSize: Int

  /// How much of the progress each pass is worth.
  private static let shares: [Float] = [0.45, 0.45, 0.1]
  /// No more objects that break rules are reported.
  private static let errorLimit = 100

  init(_ manager: MigrationManager, _ model: MappingModel, source: PersistentStore, destination: PersistentStore) {
    self.manager = manager
    self.source = source
    self.destination = destination
    let mappings = model.entityMappings.map { $0.filledIn(source.engine.schema, destination.engine.schema) }
    self.model = MappingModel(entityMappings: mappings)
    associations = MigrationAssociations(mappings)
    steps = mappings.map { ($0, ($0.entityMigrationPolicy ?? EntityMigrationPolicy.self).init()) }
    batchSize = max(1, manager.batchSize)
  }

  func execute() throws {
    try createInstances()
    try createRelationships()
    try validate()
  }

  // MARK: Passes

  private func createInstances() throws {
    var total = 0
    for step in steps {
      if let fetch = try sourceFetch(step.mapping) {
        total += try sources { (view) throws(EngineError) in try view.count(fetch) }
      }
    }
    var done = 0
    for (mapping, policy) in steps {
      manager.enter(mapping)
      try call(mapping, "begin") { try policy.begin(mapping, with: manager) }
      try save(mapping)
      let references =
        try sourceFetch(mapping).map { fetch in
          try sources { (view) throws(EngineError) in try view.fetch(fetch) }
        } ?? []
      try inBatches(references, mapping) { reference in
        let object = manager.sourceContext.object(with: ManagedObjectID(space: source.space, reference: reference))
        try call(mapping, "createDestinationInstances", object) {
          try policy.createDestinationInstances(forSource: object, in: mapping, manager: manager)
        }
        done += 1
        report(0, done, total)
      }
      try call(mapping, "endInstanceCreation") { try policy.endInstanceCreation(forMapping: mapping, manager: manager) }
      try save(mapping)
      DebugLog.write(
        .migration,
        "\(mapping.name): \(references.count) objects of the source, "
          + "\(associations[mapping.name]?.destinations.count ?? 0) of the destination")
    }
    report(0, 1, 1)
  }

  private func createRelationships() throws {
    let total = steps.reduce(0) { $0 + (associations[$1.mapping.name]?.destinations.count ?? 0) }
    var done = 0
    for (mapping, policy) in steps {
      manager.enter(mapping)
      try inBatches(associations[mapping.name]?.destinations ?? [], mapping) { reference in
        done += 1
        report(1, done, total)
        // A policy may have deleted it meanwhile.
        guard associations[mapping.name]?.isAssociated(reference) == true else { return }
        let object = manager.destinationContext.object(
          with: ManagedObjectID(space: destination.space, reference: reference))
        if object.isDeleted { return }
        try call(mapping, "createRelationships", object) {
          try policy.createRelationships(forDestination: object, in: mapping, manager: manager)
        }
      }
      try call(mapping, "endRelationshipCreation") {
        try policy.endRelationshipCreation(forMapping: mapping, manager: manager)
      }
      try save(mapping)
    }
    report(1, 1, 1)
  }

  private func validate() throws {
    for (mapping, policy) in steps {
      manager.enter(mapping)
      try call(mapping, "performCustomValidation") {
        try policy.performCustomValidation(forMapping: mapping, manager: manager)
      }
      try call(mapping, "end") { try policy.end(mapping, manager: manager) }
      try save(mapping)
    }
    manager.enter(nil)
    try validateObjects()
  }

  /// Checks the rules of the model: every object of the destination, whoever made it.
  private func validateObjects() throws {
    let entities = destination.engine.schema.entities.filter { !$0.isAbstract }
    var errors: [CambiumError] = []
    for (place, entity) in entities.enumerated() {
      var fetch = EngineFetch(entity)
      fetch.includesSubentities = false
      let references: [ObjectReference]
      do throws(EngineError) { references = try destination.view().fetch(fetch) } catch {
        throw manager.failure(
          .migrationManagerDestinationStore, "the destination cannot be read", error, destination.url)
      }
      for reference in references {
        let object = manager.destinationContext.object(
          with: ManagedObjectID(space: destination.space, reference: reference))
        do { try object.validateForInsert() } catch let error as CambiumError {
          errors += error.code == .validationMultipleErrors ? error.detailedErrors : [error]
        }
        if errors.count >= Self.errorLimit { break }
        if let cancelled = manager.cancelled { throw cancelled }
      }
      report(2, place + 1, entities.count)
    }
    guard let first = errors.first else { return }
    var result = CambiumError(
      .migration,
      "the migration makes objects that break rules of the model (\(errors.count), at most \(Self.errorLimit) are "
        + "looked for); the first: \(first.message)", entityName: first.entityName, key: first.key, underlying: [first])
    result.detailedErrors = errors
    result.affectedObjectIDs = errors.compactMap { $0.objectID }
    throw result
  }

  // MARK: Parts

  /// What of the source a mapping is about; nil if nobody wants to know.
  private func sourceFetch(_ mapping: EntityMapping) throws -> EngineFetch? {
    guard let name = mapping.sourceEntityName, let info = source.space.info(named: name) else { return nil }
    if mapping.destinationEntityName == nil, mapping.entityMigrationPolicy == nil { return nil }
    var fetch = EngineFetch(info.schema)
    fetch.includesSubentities = false
    fetch.predicate = try mapping.sourcePredicate?.checked(for: info, inMemory: false)
    return fetch
  }

  private func sources<R>(_ body: (EntityView) throws(EngineError) -> R) throws -> R {
    do throws(EngineError) { return try body(try source.view()) } catch {
      throw manager.failure(.migrationManagerSourceStore, "the source cannot be read", error, source.url)
    }
  }

  /// Calls `body` for each reference, and saves after each batch.
  private func inBatches(
    _ references: [ObjectReference], _ mapping: EntityMapping, _ body: (ObjectReference) throws -> Void
  ) throws {
    for (place, reference) in references.enumerated() {
      try body(reference)
      if (place + 1) % batchSize == 0 { try save(mapping) }
    }
    try save(mapping)
  }

  private func report(_ pass: Int, _ done: Int, _ total: Int) {
    let before = Self.shares.prefix(pass).reduce(0, +)
    manager.report(before + Self.shares[pass] * Float(done) / Float(max(1, total)))
  }

  private func call(
    _ mapping: EntityMapping, _ method: String, _ object: ManagedObject? = nil, _ body: () throws -> Void
  ) throws {
    do { try body() } catch {
      if let cancelled = manager.cancelled { throw cancelled }
      throw policyError(mapping, "\(method)\(object.map { " for \($0.objectID)" } ?? "")", error, object)
    }
    if let cancelled = manager.cancelled { throw cancelled }
  }

  private func policyError(
    _ mapping: EntityMapping, _ place: String, _ error: any Error, _ object: ManagedObject? = nil
  ) -> CambiumError {
    let inner = error as? CambiumError
    return CambiumError(
      .entityMigrationPolicy,
      "the policy of entity mapping '\(mapping.name)' failed in \(place): \(inner?.message ?? "\(error)")",
      entityName: inner?.entityName ?? mapping.destinationEntityName ?? mapping.sourceEntityName, key: inner?.key,
      objectID: object?.objectID, underlying: [error])
  }

  /// Writes what was made so far into the destination.
  private func save(_ mapping: EntityMapping) throws {
    let context = manager.destinationContext
    if let error = context.lostChanges.first { throw policyError(mapping, "setting a value", error) }
    if let error = manager.sourceContext.lostChanges.first { throw policyError(mapping, "setting a value", error) }
    guard context.hasChanges || !context.deleted.isEmpty else { return }
    var made: [ObjectReference: ManagedObject] = [:]
    for object in context.inserted.values { made[object.reference] = object }
    let deleted = context.deleted.values.map { $0.reference }
    do { try context.saveForMigration() } catch let error as CambiumError {
      if error.code == .managedObjectConstraintMerge || error.code == .managedObjectConstraintValidation {
        throw CambiumError(
          .migrationConstraintViolation,
          "entity mapping '\(mapping.name)' makes objects that violate a constraint: \(error.message)",
          entityName: error.entityName, underlying: [error])
      }
      throw manager.failure(
        .migrationManagerDestinationStore, "the destination cannot be written", error, destination.url)
    }
    associations.settle({ made[$0]?.objectID.reference }, deleted: deleted)
  }
}
