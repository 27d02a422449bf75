import CambiumEngine

/// The way from a version of a store to another by stages, looked at as a whole: all models are there, and each step
/// can be inferred. What objects stand in the way is not known before.
struct StagePlan {
  enum Step {
    /// Between two places of the order, to a model.
    case lightweight(from: Int, to: Int, ManagedObjectModel)
    /// By a stage, to a model.
    case custom(CustomMigrationStage, ManagedObjectModel)
  }

  /// The versions; the last one that counts is the coordinator's.
  let versions: [StageOrder.Version]
  private(set) var steps: [Step] = []
  private let manager: StagedMigrationManager
  private let destination: ManagedObjectModel
  private let target: Int

  /// - Parameters:
  ///   - source: The model of the store.
  ///   - destination: The coordinator's model, with its checksum.
  @_optimize(none)
  init(
    _ manager: StagedMigrationManager, _ source: Schema, to destination: ManagedObjectModel, _ checksum: String
  ) throws {
    self.manager = manager
    self.destination = destination
    let order = try manager.order
    guard let start = order.place(of: source.versionChecksum) else {
      throw CambiumError(
        .managedObjectModelReferenceNotFound,
        "Cannot use staged migration with an unknown model version. The store has the version checksum "
          + "\(source.versionChecksum); the stages list, in order: \(order.list). Add a stage that departs from it")
    }
    var versions = order.versions
    if let place = order.place(of: checksum) {
      target = place
    } else if order.endsLightweight, let last = versions.last {
      target = versions.count
      versions.append(StageOrder.Version(checksum: checksum, departure: .lightweight, stage: last.stage))
    } else {
      throw CambiumError(
        .managedObjectModelReferenceNotFound,
        "Cannot use staged migration with an unknown coordinator model version. The coordinator's model has the version "
          + "checksum \(checksum); the stages list, in order: \(order.list). Add a stage that leads to it")
    }
    self.versions = versions
    guard start < target else {
      throw CambiumError(
        .stagedMigrationBackwardMigration,
        "A store file cannot be migrated backwards with staged migration. The store has the version checksum "
          + "\(source.versionChecksum), which comes after the coordinator's, \(checksum); the stages list, in order: "
          + order.list)
    }
    steps = try way(from: start, source)
  }

  private func way(from start: Int, _ source: Schema) throws -> [Step] {
    var result: [Step] = []
    var place = start
    var schema = source
    while place < target {
      let (step, next, reached) = try step(from: place, schema)
      result.append(step)
      place = next
      schema = reached
    }
    return result
  }

  @_optimize(none)
  private func step(from place: Int, _ schema: Schema) throws -> (Step, Int, Schema) {
    let stage = versions[place].stage
    if case .custom(let custom) = versions[place].departure {
      _ = try custom.currentModel.resolvedModel
      _ = try custom.nextModel.resolvedModel
      let model = try model(place + 1)
      let next = try model.schema()
      try infer(schema, next, stage, place, place + 1)
      return (.custom(custom, model), place + 1, next)
    }
    var last = place + 1
    while last < target, versions[last].isLightweight { last += 1 }
    let model = try model(last)
    let end = try model.schema()
    let failure: CambiumError
    do {
      try infer(schema, end, stage, place, last)
      return (.lightweight(from: place, to: last, model), last, end)
    } catch let error as CambiumError { failure = error }
    guard last > place + 1, failure.code == .persistentStoreIncompatibleVersionHash else { throw failure }
    // Not in one step: version by version.
    let nextModel: ManagedObjectModel
    do { nextModel = try self.model(place + 1) } catch {
      var result = failure
      result.message +=
        ". Going there version by version would take the model with version checksum \(versions[place + 1].checksum): "
        + ((error as? CambiumError)?.message ?? "\(error)")
      result.underlyingErrors.append(error)
      throw result
    }
    let next = try nextModel.schema()
    try infer(schema, next, stage, place, place + 1)
    return (.lightweight(from: place, to: place + 1, nextModel), place + 1, next)
  }

  /// The model of the version after one, if it and from there the end can be reached; nil if that is where the step
  /// leads anyway.
  func singleStep(from place: Int, _ source: Schema, insteadOf last: Int) -> ManagedObjectModel? {
    guard place + 1 < last, let model = try? model(place + 1), let schema = try? model.schema(),
      (try? infer(source, schema, versions[place].stage, place, place + 1)) != nil,
      (try? way(from: place + 1, schema)) != nil
    else { return nil }
    return model
  }

  private func model(_ place: Int) throws -> ManagedObjectModel {
    if place == target { return destination }
    return try manager.model(withChecksum: versions[place].checksum)
  }

  private func infer(
    _ from: Schema, _ to: Schema, _ stage: MigrationStage, _ place: Int, _ next: Int
  ) throws {
    do throws(EngineError) { _ = try SchemaMapping.infer(from: from, to: to) } catch {
      var result = CambiumError(error, during: .migration)
      result.message =
        "the migration stage \(stage.name) cannot go from version checksum \(versions[place].checksum) to "
        + "\(versions[next].checksum): \(result.message)"
      throw result
    }
  }
}
