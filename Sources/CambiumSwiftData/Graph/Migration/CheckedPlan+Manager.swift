import Cambium
import CambiumEngine
import Foundation

// Each stage is a custom stage of the object graph's staged migration, also a lightweight one, which has no handlers.
// So no two stages are joined, and an original name is always a name in the version just before.
extension CheckedPlan {
  /// Has a store that is opened migrate by the plan.
  ///
  /// - Parameter entities: The entities of the last version that the store has; nil for all.
  func apply(
    to description: PersistentStoreDescription, _ configuration: ModelConfiguration, entities: Set<String>?
  ) throws {
    let references = versions.map { ManagedObjectModelReference(model: $0.model, versionChecksum: $0.checksum) }
    let foreign = entities.map { foreignEntities($0) }
    let made = stages.indices.map { place in
      let stage = CustomMigrationStage(migratingFrom: references[place], to: references[place + 1])
      stage.label = stageName(place)
      let sides = (place, place + 1)
      StageHandlers(
        plan: plan, configuration: configuration,
        old: .init(version: versions[sides.0], foreign: foreign?[sides.0] ?? []),
        new: .init(version: versions[sides.1], foreign: foreign?[sides.1] ?? [])
      ).add(stages[place], to: stage)
      return stage
    }
    let manager = try StagedMigrationManager(made, models: references)
    let file = configuration.url.lastPathComponent
    manager.hooks = StagedMigrationHooks { stored in
      _ = try place(of: stored, file: file)
    } explainBlocks: { error, stage, container in
      explained(error, made.firstIndex { $0 === stage } ?? 0, container)
    } message: {
      ($0 as? SwiftDataError)?.message
    }
    description.stagedMigrationManager = manager
    description.sourceModels = versions.dropLast().map { $0.model }
  }

  /// The entities of each version that other stores of the container have: those that became entities of the last
  /// version that are not the store's. An entity that went before belongs to all stores.
  private func foreignEntities(_ own: Set<String>) -> [[String]] {
    var result: [[String]] = []
    var foreign: Set<String> = []
    var next: ManagedObjectModel?
    for model in versions.map({ $0.model }).reversed() {
      if let later = next {
        let origins = OriginalNames.origins(of: later, in: model)
        foreign = Set(origins.filter { foreign.contains($0.key) }.values)
      } else {
        foreign = Set(model.entities.map { $0.name }).subtracting(own)
      }
      result.append(foreign.sorted())
      next = model
    }
    return result.reversed()
  }

  // MARK: Models in the way

  private func explained(_ error: CambiumError, _ place: Int, _ container: PersistentContainer) -> SwiftDataError {
    let problems = error.underlyingErrors.compactMap { $0 as? MigrationBlock }.map {
      MigrationProblem($0, in: container, to: versions[place + 1])
    }
    return SwiftDataError(
      .loadIssueModelContainer,
      "the stage \(stageName(place)) of the migration plan \(plan) cannot be made, and the store is as it was: "
        + problems.map { $0.description }.joined(separator: "; ") + ". \(remedy(problems, place))", error)
  }

  /// What to do about models in the way of a stage. No handler before a stage can give them values of a property that
  /// the old version lacks.
  private func remedy(_ problems: [MigrationProblem], _ place: Int) -> String {
    var texts = problems.filter { $0.isOfNewProperty }.map { problem in
      "Give '\(problem.entityName).\(problem.propertyNames.joined(separator: "."))' an initial value in "
        + "\(versions[place + 1].type), and set the value of each model in didMigrate; or make it optional"
    }
    if problems.contains(where: { !$0.isOfNewProperty }) {
      switch stages[place] {
      case .lightweight: texts.append("Make the stage .custom, and change or delete these models in willMigrate")
      case .custom(_, _, nil, _):
        texts.append("Give the stage a willMigrate that changes or deletes these models, and saves")
      case .custom: texts.append("Change or delete these models in willMigrate, and save")
      case .comparing:
        texts.append(
          "Make the stage .custom(fromVersion:toVersion:willMigrate:didMigrate:), and change or delete these models in "
            + "willMigrate")
      }
    }
    return texts.joined(separator: ". ")
  }
}
