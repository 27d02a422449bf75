// Models by bundles, and without reasons for failure, as Core Data has them.

extension Bundle {
  /// Where models lie.
  fileprivate var modelFolder: URL { resourceURL ?? bundleURL }
}

extension ManagedObjectModel {
  /// The model in a file or folder; `nil` if there is none that can be read. ``init(contentsOf:version:)`` says why.
  public convenience init?(contentsOf url: URL) {
    do { try self.init(contentsOf: url, version: nil) } catch { return nil }
  }

  /// The models of bundles, merged; those of the application's if there is no list. `nil` if they cannot be.
  public static func mergedModel(from bundles: [Bundle]?) -> ManagedObjectModel? {
    try? mergedModel(from: (bundles ?? [.main]).map { $0.modelFolder })
  }
}

extension ManagedObjectModelReference {
  /// A reference to a model by name in a bundle; the application's if there is none.
  public convenience init(name: String, in bundle: Bundle?, versionChecksum: String) {
    self.init(name: name, in: (bundle ?? .main).modelFolder, versionChecksum: versionChecksum)
  }

  /// A reference to a model by name in a bundle, as Apple's talk writes it.
  public convenience init(modelName: String, in bundle: Bundle?, versionChecksum: String) {
    self.init(name: modelName, in: bundle, versionChecksum: versionChecksum)
  }

  /// A reference to the model of version hashes in a bundle; the application's if there is none.
  public convenience init(entityVersionHashes: [String: Data], in bundle: Bundle?, versionChecksum: String) {
    self.init(
      entityVersionHashes: entityVersionHashes, in: [(bundle ?? .main).modelFolder], versionChecksum: versionChecksum)
  }
}

extension MappingModel {
  /// ``inferred(from:to:)``.
  public static func inferredMappingModel(
    forSourceModel source: ManagedObjectModel, destinationModel destination: ManagedObjectModel
  ) throws -> MappingModel {
    try inferred(from: source, to: destination)
  }
}

extension StagedMigrationManager {
  /// A manager of stages. Where Core Data raises, the opening of a store throws.
  public convenience init(_ stages: [MigrationStage]) { self.init(unchecked: stages) }

  /// A manager of stages. Where Core Data raises, the opening of a store throws.
  public convenience init(migrationStages stages: [MigrationStage]) { self.init(unchecked: stages) }
}
