import CambiumEngine
import CambiumModelFiles

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The promotion of a model to the schema that the devices of an application's users share.
///
/// A cloud database such as CloudKit's has two schemas. The development schema changes freely. What was promoted to the
/// production schema stays as it is, because devices with every released version of the application read and write it.
/// Only entities, attributes, elements of composites and relationships may be added.
///
/// Keep the production schema as a file of the application's repository, beside the model that you develop. A test
/// compares the two, and the release promotes:
///
///     let model = try ManagedObjectModel(contentsOf: URL(fileURLWithPath: "Trips.xcdatamodeld"))
///     let promotion = try SchemaPromotion(of: model, to: URL(fileURLWithPath: "Production.xcdatamodel"))
///     for obstacle in promotion.obstacles { print(obstacle) }
///     try promotion.promote()
///
/// `cambium model diff --sync` and `cambium model promote` do the same. Nothing here speaks with a server: run
/// CloudKit's own steps as well, which change its database.
public struct SchemaPromotion: Sendable {
  /// The folder `.xcdatamodel` that keeps the production schema.
  public let production: URL
  /// The places that the promotion adds: `Hotel`, `Trip.note`, `Trip.place.country`. Of a new entity only its name.
  public let additions: [String]
  /// The reasons why the model cannot be promoted, each with its place and the way out. The rule is `not-additive` for
  /// a change of what is in production, and `sync` for what cannot be synchronised at all.
  public let obstacles: [ManagedObjectModel.Finding]
  private let model: ManagedObjectModel

  /// Whether the model can be promoted.
  public var isAllowed: Bool { obstacles.isEmpty }

  /// Compares a model with the production schema. Entities and properties are matched by their names alone: to rename
  /// one is to remove it. Writes nothing. O(size of the models).
  ///
  /// - Parameters:
  ///   - model: The model in development.
  ///   - production: A file URL of the folder that keeps the production schema. If it does not exist yet, everything is
  ///     an addition.
  /// - Throws: ``CambiumError/Code/invalidModel`` for a model that cannot be used; what
  ///   ``ManagedObjectModel/init(contentsOf:version:)`` throws for a production schema that cannot be read.
  public init(of model: ManagedObjectModel, to production: URL) throws {
    let earlier =
      FileManager.default.fileExists(atPath: production.path) ? try ManagedObjectModel(contentsOf: production) : nil
    let step = AdditiveStep(
      from: try earlier?.schema(), to: try ManagedObjectModel.compile(try model.definition()))
    self.model = model
    self.production = production
    additions = step.additions
    obstacles = step.obstacles.map { ManagedObjectModel.Finding($0) }
  }

  /// Writes the model as the production schema, a file that Xcode's model editor opens. The file is replaced whole.
  ///
  /// - Throws: ``CambiumError/Code/invalidModel`` with all ``obstacles``, and writes nothing; the error of the system.
  public func promote() throws {
    guard isAllowed else {
      let reasons = obstacles.map { "\($0)" }.joined(separator: "; ")
      throw CambiumError(.invalidModel, "the model cannot be promoted to '\(production.lastPathComponent)': \(reasons)")
    }
    try model.writeXcodeModel(to: production)
  }
}
