import Cambium
import CambiumEngine
import Foundation

/// What a migration plan would do to a store, and what is in its way. ``ModelContainer/preflight(_:storeAt:)`` makes
/// it.
public struct MigrationPreflight: Sendable, CustomStringConvertible {
  /// A stage that the store has before it.
  public struct Stage: Sendable, CustomStringConvertible {
    /// The version before.
    public let fromVersion: Schema.Version
    /// The version after.
    public let toVersion: Schema.Version
    /// Whether the stage has a handler.
    public let isCustom: Bool
    /// Whether the stage has a `willMigrate`, which may change or delete models that are in the way.
    public let hasWillMigrate: Bool
    /// Whether the models of the store were looked at. A custom stage may change any model, so those behind it are not.
    public let isChecked: Bool
    /// The models in the way. If the stage has a `willMigrate`, that may remove them.
    public let problems: [MigrationProblem]
    /// The properties and entities whose values the stage drops, with the numbers of values.
    public let drops: [String]

    /// The versions, and what is in the way.
    public var description: String {
      let text = "\(isCustom ? "custom" : "lightweight") stage from \(fromVersion) to \(toVersion)"
      if !isChecked { return text + ": not looked at, because a custom stage comes before" }
      let all = drops + problems.map { $0.description }
      return text + ": " + (all.isEmpty ? "nothing in the way" : all.joined(separator: "; "))
    }
  }

  /// The store's version; `nil` if there is no store yet.
  public let storeVersion: Schema.Version?
  /// The stages from the store's version on. Empty if the store has the last version.
  public let stages: [Stage]

  /// The models in the way. If there are any, making a container with the plan fails. Problems of a stage with a
  /// `willMigrate` are not among them, because that may remove them. Missing values of a property that the old version
  /// lacks are, because no `willMigrate` can give them.
  public var problems: [MigrationProblem] {
    stages.flatMap { stage in stage.problems.filter { !stage.hasWillMigrate || $0.isOfNewProperty } }
  }

  /// The stages, a line each.
  public var description: String {
    stages.isEmpty ? "nothing to do" : stages.map { $0.description }.joined(separator: "\n")
  }
}

extension ModelContainer {
  /// Looks at what a migration plan would do to a store, and at the models that are in its way. The store is not
  /// changed, and no handler is called.
  ///
  ///     let preflight = try ModelContainer.preflight(Plan.self, storeAt: url)
  ///     for problem in preflight.problems { print(problem) }
  ///
  /// It looks at the stages up to the first custom one, that one included, because what comes behind depends on its
  /// handlers. If it looks at several stages, it makes the earlier ones in a copy of the store, which it removes.
  ///
  /// - Parameters:
  ///   - migrationPlan: The plan.
  ///   - url: The store's file. There need not be one.
  /// - Throws: ``SwiftDataError`` for a plan that does not fit together, or a store of no version of it, as making a
  ///   container does; ``SwiftDataError/loadIssueModelContainer`` if the store cannot be read.
  public static func preflight(
    _ migrationPlan: any SchemaMigrationPlan.Type, storeAt url: URL
  ) throws -> MigrationPreflight {
    let plan = try CheckedPlan(migrationPlan)
    guard FileManager.default.fileExists(atPath: url.path) else {
      return MigrationPreflight(storeVersion: nil, stages: [])
    }
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), isFolder.boolValue {
      throw SwiftDataError(.loadIssueModelContainer, "'\(url.path)' is a folder; name the file of the store")
    }
    return try SwiftDataError.loading {
      let model = try PersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
      let start = try plan.place(of: try model.schema(), file: url.lastPathComponent)
      return MigrationPreflight(
        storeVersion: plan.versions[start].number, stages: try plan.stagesLookedAt(from: start, url))
    }
  }
}

extension CheckedPlan {
  /// The stages from a version on, with what is in their way in a store.
  fileprivate func stagesLookedAt(from start: Int, _ url: URL) throws -> [MigrationPreflight.Stage] {
    var found: [MigrationPreflight.Stage] = []
    try Migration.tryOut(storeAt: url, through: versions[start...].map { $0.model }) { step in
      let place = start + step.place
      let problems = step.plan.blocks.map { MigrationProblem($0, in: step.container, to: versions[place + 1]) }
      found.append(stage(place, isChecked: true, problems, step.plan.drops.map { $0.description }))
      return !stages[place].isCustom
    }
    for place in stages.indices.dropFirst(start + found.count) { found.append(stage(place, isChecked: false, [], [])) }
    return found
  }

  private func stage(
    _ place: Int, isChecked: Bool, _ problems: [MigrationProblem], _ drops: [String]
  ) -> MigrationPreflight.Stage {
    MigrationPreflight.Stage(
      fromVersion: versions[place].number, toVersion: versions[place + 1].number, isCustom: stages[place].isCustom,
      hasWillMigrate: stages[place].hasWillMigrate, isChecked: isChecked, problems: problems, drops: drops)
  }
}
