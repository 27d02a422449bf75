import CambiumEngine

/// The versions that stages list, in order, each once.
struct StageOrder {
  /// How one gets from a version to the next.
  enum Departure {
    /// By inference.
    case lightweight
    /// By inference, and by what the application does before and after.
    case custom(CustomMigrationStage)
  }

  struct Version {
    var checksum: String
    var departure: Departure
    /// The stage that the version departs by; for one that a custom stage leads to and nothing departs from, that
    /// stage.
    var stage: MigrationStage

    var isLightweight: Bool {
      if case .lightweight = departure { return true }
      return false
    }
  }

  private(set) var versions: [Version] = []
  /// Whether what comes after the last version is reached by a lightweight stage, so that it need not be listed.
  private(set) var endsLightweight = false
  /// The references of all stages.
  private(set) var references: [ManagedObjectModelReference] = []

  /// - Throws: ``CambiumError/Code/invalidArgument``; see ``StagedMigrationManager/init(_:models:modelFolders:)``.
  @_optimize(none)
  init(_ stages: [MigrationStage]) throws {
    for stage in stages {
      if let stage = stage as? LightweightMigrationStage {
        guard !stage.versionChecksums.isEmpty else {
          throw CambiumError(
            .invalidArgument,
            "the lightweight migration stage \(stage.name) lists no version; list those it departs from")
        }
        references += stage.references
        for checksum in stage.versionChecksums {
          try add(Version(checksum: checksum, departure: .lightweight, stage: stage))
        }
        endsLightweight = true
      } else if let stage = stage as? CustomMigrationStage {
        references += [stage.currentModel, stage.nextModel]
        let departure = Version(
          checksum: stage.currentModel.versionChecksum, departure: .custom(stage), stage: stage)
        if let last = versions.last, last.stage is CustomMigrationStage, last.isLightweight,
          last.checksum == departure.checksum
        {
          versions[versions.count - 1] = departure
        } else {
          try add(departure)
        }
        try add(Version(checksum: stage.nextModel.versionChecksum, departure: .lightweight, stage: stage))
        endsLightweight = false
      }
    }
  }

  private mutating func add(_ version: Version) throws {
    guard VersionHash(base64: version.checksum) != nil else {
      throw CambiumError(
        .invalidArgument,
        "the migration stage \(version.stage.name) names a version by '\(version.checksum)', which is no version checksum: "
          + "those have 44 characters of base64; `cambium model checksum` prints them")
    }
    if let other = versions.first(where: { $0.checksum == version.checksum }) {
      throw CambiumError(
        .invalidArgument,
        "Duplicate version checksums across stages detected: \(version.checksum) is listed by the stages "
          + "\(other.stage.name) and \(version.stage.name). List each version once, by the stage that departs from it; a custom "
          + "stage may depart from the version that the custom stage before leads to. The stages list, in order: \(list)"
      )
    }
    versions.append(version)
  }

  /// The place of a version.
  func place(of checksum: String) -> Int? { versions.firstIndex { $0.checksum == checksum } }

  /// The checksums, in order, for messages.
  var list: String {
    versions.isEmpty ? "none" : versions.map { $0.checksum }.joined(separator: ", ")
  }
}
