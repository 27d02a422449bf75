import Cambium
import CambiumEngine
import Foundation

extension CheckedPlan {
  // MARK: The container

  /// The container must have the plan's last version.
  ///
  /// - Parameter files: The files of the container's stores.
  /// - Throws: ``SwiftDataError/backwardMigration`` if a store has a later version than the container;
  ///   ``SwiftDataError/loadIssueModelContainer``.
  func check(_ schema: Schema, files: [URL]) throws {
    let model = try schema.compiled.get()
    let own = try model.schema()
    if own.versionChecksum == last.checksum { return }
    guard let place = versions.firstIndex(where: { $0.checksum == own.versionChecksum }) else {
      let difference = SchemaDifference(from: last.stored, to: own).entities.filter { $0.isStored }
      throw refused(
        "ends with \(last.name), and the container has another schema; these entities differ from the plan's: "
          + "\(SchemaText.changes(difference)). Make the container with Schema(versionedSchema: \(last.type).self)")
    }
    for file in files where FileManager.default.fileExists(atPath: file.path) {
      let stored = try PersistentStoreCoordinator.cachedModelForPersistentStore(at: file)
      let checksum = try stored.versionChecksum
      guard let found = versions.firstIndex(where: { $0.checksum == checksum }), found > place else { continue }
      throw backward(
        "the store '\(file.lastPathComponent)' has the version \(versions[found].name) of the migration plan \(plan), and the "
          + "container the earlier \(versions[place].name); no store goes back. Make the container with "
          + "Schema(versionedSchema: \(last.type).self)")
    }
    throw refused(
      "ends with \(last.name), and the container has its version \(versions[place].name). Make the container with "
        + "Schema(versionedSchema: \(last.type).self), or with a plan that ends with \(versions[place].type)")
  }

  private func backward(_ message: String) -> SwiftDataError {
    SwiftDataError(.backwardMigration, message, CambiumError(.stagedMigrationBackwardMigration, message))
  }

  // MARK: A store

  /// The place of a store's version in the plan.
  ///
  /// - Parameters:
  ///   - stored: The model that the store has.
  ///   - file: The store's file, for messages.
  /// - Throws: ``SwiftDataError/unknownDataStoreSchema`` if it has none; ``SwiftDataError/backwardMigration`` if a
  ///   later version of the application made the store.
  func place(of stored: CambiumEngine.Schema, file: String) throws -> Int {
    guard let place = versions.firstIndex(where: { $0.checksum == stored.versionChecksum }) else {
      throw unknown(stored, file)
    }
    // A later version may store everything as an earlier one did.
    if place < versions.count - 1, isLater(stored) {
      throw backward(
        "the store '\(file)' is of the version \(Self.number(of: stored)), and the migration plan \(plan) ends with "
          + "\(last.name). Update the application")
    }
    return place
  }

  private func isLater(_ stored: CambiumEngine.Schema) -> Bool {
    guard let number = stored.versionNumber, let own = last.stored.versionNumber else { return false }
    return number > own
  }

  private static func number(of stored: CambiumEngine.Schema) -> String {
    stored.versionNumber == nil ? "unknown" : stored.versionIdentifiers.joined(separator: ", ")
  }

  private func unknown(_ stored: CambiumEngine.Schema, _ file: String) -> SwiftDataError {
    let entities = stored.entities.map { "'\($0.name)'" }.sorted().joined(separator: ", ")
    var text =
      "the store '\(file)' has a schema that is none of the migration plan \(plan): version \(Self.number(of: stored)), with "
      + "\(entities). The plan has \(versions.map { $0.name }.joined(separator: ", "))"
    let (nearest, difference) = nearest(to: stored)
    text += ". The nearest is \(nearest.name). Compared with it, in the store: \(SchemaText.changes(difference))"
    let shared = difference.compactMap { entity in
      nearest.modelClass(named: entity.name).flatMap { one in
        versions.count(where: { $0.schema.classes.contains { $0 === one } }) > 1 ? one.fullName : nil
      }
    }
    if !shared.isEmpty {
      text +=
        ". Several versions list \(shared.sorted().joined(separator: ", ")). A class that several versions list has the properties "
        + "of today in all of them; nest a copy, as it was, in each version"
    } else if isLater(stored) {
      text += ". A later version of the application made the store; update this one"
    } else {
      text += ". Add the store's version to the plan, or correct the version that should be it"
    }
    return SwiftDataError(
      .unknownDataStoreSchema, text, CambiumError(.managedObjectModelReferenceNotFound, text))
  }

  /// The version that differs least, with what differs in the store: that of the store's number, if one has it.
  private func nearest(to stored: CambiumEngine.Schema) -> (PlanVersion, [EntityDifference]) {
    var best: (version: PlanVersion, difference: [EntityDifference], distance: Int)?
    for version in versions.reversed() {
      let difference = SchemaDifference(from: version.stored, to: stored).entities.filter { $0.isStored }
      if version.stored.versionNumber == stored.versionNumber { return (version, difference) }
      let distance = difference.reduce(0) { sum, entity in sum + max(1, entity.changes.count { $0.isStored }) }
      if best.map({ distance < $0.distance }) ?? true { best = (version, difference, distance) }
    }
    return best.map { ($0.version, $0.difference) } ?? (last, [])
  }
}
