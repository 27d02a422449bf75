import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The check of an inferred migration for drops: `ModelStep` finds them, `DropRule` decides. Deferred migrations pass
// through here as well. Stages and mapping models do not, because the application knows the models that they lead
// through.
extension StoreMigration {
  /// Returns the error if the application may not make the migration because of its drops; nil if it may.
  @_optimize(none)
  func dropRefusal(_ store: EntityStore, _ model: Schema) throws(EngineError) -> CambiumError? {
    let source = store.schema
    // The files of known models are read only if there is a drop.
    if ModelStep(from: source, to: model).drops.isEmpty { return nil }
    let known: [Schema]
    do { known = try destination.knownModels(with: description.sourceModels) } catch {
      return error as? CambiumError ?? CambiumError(.invalidModel, "\(error)", underlying: [error])
    }
    let step = ModelStep(from: source, to: model, known: known)
    if !step.strayIdentifiers.isEmpty {
      return mismatch(CambiumError(strays: step.strayIdentifiers), model.differingEntities(from: source))
    }
    var rule = DropRule()
    rule.knownModels = Set(known.map { $0.versionChecksum } + stageChecksums)
    rule.isFormerModel = try store.view().formerModels().contains { $0.base64 == model.versionChecksum }
    rule.allowsDroppingUnknownData = description.allowsDroppingUnknownData
    rule.allowsReturningToFormerModels = description.allowsReturningToFormerModels
    guard let refusal = rule.refusal(of: step, from: source, to: model) else { return nil }
    return mismatch(CambiumError(refusal, step), model.differingEntities(from: source))
  }

  private func mismatch(_ error: CambiumError, _ entities: [String]) -> CambiumError {
    var error = error
    error.mismatchedEntities = entities
    error.storeURL = description.url
    return error
  }

  private var stageChecksums: [String] {
    (try? description.stagedMigrationManager?.order)?.versions.map { $0.checksum } ?? []
  }

  /// Returns the definition of the model. If the store has the same model under a higher number, it keeps that number.
  ///
  /// For example, versions 1 and 3 of an application have the same model. If version 1 opens a store of version 3 and
  /// wrote its own number, version 2 would take itself for the newer one.
  func definition(for store: EntityStore) throws -> SchemaDefinition {
    guard let number = store.schema.versionNumber else { return definition }
    if let own = ModelVersionNumber(among: definition.versionIdentifiers), own >= number { return definition }
    let model = try ManagedObjectModel.compile(definition, basedOn: store.schema)
    guard model.differingEntities(from: store.schema).isEmpty else { return definition }
    var result = definition
    result.versionIdentifiers = store.schema.versionIdentifiers
    return result
  }
}

extension ManagedObjectModel {
  /// Returns the models that an application knows besides this one: the source models, and the other versions in the
  /// files of this model and of the source models.
  func knownModels(with sourceModels: [ManagedObjectModel]) throws -> [Schema] {
    var models: [Schema] = []
    for model in sourceModels { models.append(try model.schema()) }
    for model in [self] + sourceModels { models += model.versionsOfFile() }
    return models
  }
}

extension CambiumError {
  /// The error about renaming identifiers that name nothing.
  init(strays: [StrayIdentifier]) {
    self.init(
      .migrationMissingSourceModel,
      "the store is not migrated: " + strays.map { $0.description }.joined(separator: "; "),
      entityName: strays.first?.entity, key: strays.first?.property, underlying: strays)
  }

  /// What to do if a drop is a property or an entity that got another name or place.
  private static func renamingHint(_ step: ModelStep) -> String {
    guard let drop = step.drops.first(where: { !$0.isNamed }) else { return "" }
    var text = "If '\(drop.name)' was renamed or moved, give the new one renamed: \"\(drop.path ?? drop.entity)\". "
    for finding in step.findings { text += "\(finding). " }
    return text
  }

  /// The error about a migration with drops that the rule refuses.
  @_optimize(none)
  init(_ refusal: DropRule.Refusal, _ step: ModelStep) {
    let drops = step.drops.map { $0.name }.joined(separator: ", ")
    let lines = ModelDrop.lines(step.drops.filter { !$0.isNamed }).joined(separator: "; ")
    let allowing =
      "allow it once (PersistentStoreDescription.allowsDroppingUnknownData, allowDroppingUnknownDataOption)"
    switch refusal {
    case .unknownModel:
      self.init(
        .migrationMissingSourceModel,
        "the application does not know the model that the store has, and the migration to its own model would drop: \(drops). "
          + "If a newer version of the application made the store, update this one. If the drops are intended, add to the model: "
          + "\(lines). " + Self.renamingHint(step)
          + "Or number the versions of the model (ManagedObjectModel(version:)), pass the store's model in "
          + "sourceModels, or \(allowing)", underlying: step.drops)
    case .olderApplication(let number, let store):
      self.init(
        .migrationMissingSourceModel,
        "the store has version \(store) of the model, and the application has version \(number). The migration would drop: "
          + "\(drops). Update the application. If the drops are intended, add to the model: \(lines). "
          + Self.renamingHint(step) + "Or \(allowing)",
        underlying: step.drops)
    case .formerModel:
      self.init(
        .persistentStoreIncompatibleVersionHash,
        "the store had this model before, and another version of the application migrated it to a newer one. The way back "
          + "would drop: \(drops). Open the store with the newer model. If this version is the newer one, number both "
          + "(ManagedObjectModel(version:)). Or allow the way back (PersistentStoreDescription.allowsReturningToFormerModels, "
          + "allowReturningToFormerModelsOption)",
        underlying: step.drops)
    }
  }
}
