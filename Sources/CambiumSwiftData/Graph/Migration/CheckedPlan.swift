import Cambium
import CambiumEngine

/// A migration plan whose versions and stages fit together.
///
///     versions   1.0.0 ── stages[0] ──> 2.0.0 ── stages[1] ──> 3.0.0, the container's
struct CheckedPlan {
  let plan: any SchemaMigrationPlan.Type
  /// The oldest first; at least one.
  let versions: [PlanVersion]
  /// The stage at a place leads from the version at that place to the next.
  let stages: [MigrationStage]

  /// Looks at the plan alone. Reads no store.
  ///
  /// - Throws: ``SwiftDataError/loadIssueModelContainer`` that names the versions and entities.
  init(_ plan: any SchemaMigrationPlan.Type) throws {
    self.plan = plan
    var versions: [PlanVersion] = []
    for type in plan.schemas { versions.append(try PlanVersion(type, after: versions.last, of: plan)) }
    self.versions = versions
    stages = plan.stages
    guard !versions.isEmpty else { throw refused("lists no schemas; list at least the container's") }
    try checkOrder()
    try checkClasses()
    try checkChecksums()
    try checkStages()
    try checkMappings()
  }

  /// An error about the plan.
  func refused(_ message: String, _ underlying: (any Error)? = nil) -> SwiftDataError {
    SwiftDataError(.loadIssueModelContainer, "the migration plan \(plan) \(message)", underlying)
  }

  /// The container's version.
  var last: PlanVersion { versions[versions.count - 1] }

  /// A new model of the container's schema, which the plan ends with.
  func makeModel(of schema: Schema) throws -> ManagedObjectModel {
    let model = try schema.makeModel(version: last.number)
    if versions.count > 1 { OriginalNames.settle(model, after: versions[versions.count - 2]) }
    return model
  }

  /// The stage that leads from a version to the next, for messages.
  func stageName(_ place: Int) -> String { "from \(versions[place].name) to \(versions[place + 1].name)" }

  // MARK: Versions

  private func checkOrder() throws {
    for (version, next) in zip(versions, versions.dropFirst()) where version.number >= next.number {
      throw refused(
        version.number == next.number
          ? "has two schemas of the version \(version.number): \(version.type) and \(next.type). Give each a version of its own"
          : "lists \(version.name) before \(next.name). List schemas in the order of their versionIdentifier, the lowest first"
      )
    }
  }

  /// A version must not have classes of a later one: these have the properties of then.
  private func checkClasses() throws {
    for (place, version) in versions.enumerated() {
      for later in versions[(place + 1)...] {
        guard let shared = version.schema.classes.first(where: { $0.isNested(in: later.type) }) else { continue }
        throw refused(
          "has \(shared.fullName) in the version \(version.name): a class of the later version \(later.name), with the properties "
            + "that '\(shared.entityName)' has there. Nest a copy of the class, as it was, in \(version.type)")
      }
    }
  }

  private func checkChecksums() throws {
    for (place, version) in versions.enumerated() {
      guard let other = versions[..<place].first(where: { $0.checksum == version.checksum }) else { continue }
      let entities = version.schema.classes.map { "'\($0.entityName)'" }.sorted().joined(separator: ", ")
      let shared = version.schema.classes.filter { one in other.schema.classes.contains { $0 === one } }
      var text =
        "has two versions with one checksum, so that no store can be told to have the one or the other: \(other.name) and "
        + "\(version.name) store the entities \(entities) alike"
      if !shared.isEmpty {
        text +=
          ". Both list \(shared.map { $0.fullName }.sorted().joined(separator: ", ")). A class that two versions list has the "
          + "properties of today in both; nest a copy, as it was, in each version"
      }
      let difference = SchemaDifference(from: other.stored, to: version.stored).entities
      if !difference.isEmpty {
        text += ". What differs is no part of a version: \(SchemaText.changes(difference, storedOnly: false))"
      }
      throw refused(text + ". Remove one of the versions, or give a property of one a hashModifier")
    }
  }
}
