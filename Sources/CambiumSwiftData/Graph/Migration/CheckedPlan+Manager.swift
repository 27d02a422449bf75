import Cambium
import CambiumEngine
import Foundation

// Each stage is a custom stage of the object graph's staged migration, also a lightweight one, which has no handlers.
// So no two stages are joined: a name that was changed twice is followed from stage to stage.
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
        plan: plan, name: stageName(place), configuration: configuration,
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
      if let later = next?.entities {
        var origins: (own: Set<String>, foreign: Set<String>) = ([], [])
        for entity in later {
          guard let origin = OriginalNames.counterpart(of: entity, in: model)?.name else { continue }
          if foreign.contains(entity.name) { origins.foreign.insert(origin) } else { origins.own.insert(origin) }
        }
        foreign = origins.foreign.subtracting(origins.own)
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
    let remedy =
      stages[place].isCustom
      ? "Change or delete these models in willMigrate, and save"
      : "Make the stage .custom, and change or delete these models in willMigrate"
    return SwiftDataError(
      .loadIssueModelContainer,
      "the stage \(stageName(place)) of the migration plan \(plan) cannot be made, and the store is as it was: "
        + problems.map { $0.description }.joined(separator: "; ") + ". \(remedy)", error)
  }
}
