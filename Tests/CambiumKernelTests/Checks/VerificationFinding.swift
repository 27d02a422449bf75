@testable import CambiumKernel

/// What finds out that a check is missing.
struct VerificationFinding: CustomStringConvertible {
  var kind: DamageHunt.Kind
  /// Checks that find by themselves all that this one finds: what `kind` finds is that all of them are missing.
  var coveredBy: [Verification] = []

  init(_ kind: DamageHunt.Kind, coveredBy: [Verification] = []) {
    self.kind = kind
    self.coveredBy = coveredBy
  }

  var description: String {
    coveredBy.isEmpty ? "\(kind)" : "covered by \(coveredBy); without all of them, \(kind)"
  }

  static func all(_ check: Verification) -> VerificationFinding {
    switch check {
    case .superblockChecksum, .recordChecksum: VerificationFinding(.crashes)
    case .directoryChecksum, .logSegmentChecksum, .pageChecksum, .extentChecksum: VerificationFinding(.bytes)
    case .superblockVersion, .superblockFeatures, .superblockCipher, .superblockChecksumKind, .superblockUnit,
      .superblockPageSize, .directoryLength:
      VerificationFinding(.mended(.superblock, .open))
    case .directoryKind, .directoryPageLength, .directoryVersion, .directoryNumbers, .treeLevel, .treeIdentifier,
      .treeCount, .segmentListedKind, .segmentUnits, .segmentStart, .segmentNumbers, .segmentUsed,
      .segmentLive, .segmentOverlap, .segmentEnd:
      VerificationFinding(.mended(.directory, .open))
    case .leafLevel, .leafCount, .leafWidth, .leafArrays, .leafRests, .leafValuesStart, .leafValuesOrder, .leafValuesEnd,
      .leafStub, .leafStubValues, .leafOrder, .innerCount, .innerLevel, .innerWidth, .innerCountWidth, .innerArrays,
      .innerRests, .innerEnd, .innerOrder, .pageOwner, .pageLength:
      VerificationFinding(.mended(.pages, .read))
    case .lookupKind: VerificationFinding(.mended(.directory, .lookUp))
    case .cursorKind: VerificationFinding(.mended(.directory, .read))
    case .mergeKind: VerificationFinding(.mended(.directory, .write))
    case .relocationKind: VerificationFinding(.mended(.directory, .compact), coveredBy: [.mergeKind])
    case .reportKind, .reportEntries, .reportPages, .reportBytes, .reportLargeValues, .reportLive:
      VerificationFinding(.mended(.directory, .check))
    case .reportBelow, .reportKeys, .reportLow, .reportHigh, .reportExtents:
      VerificationFinding(.mended(.pages, .check))
    case .reportSeparators: VerificationFinding(.mended(.pages, .check), coveredBy: [.reportLow, .reportHigh])
    case .reportExtentEntry: VerificationFinding(.mended(.pages, .check), coveredBy: [.reportExtents])
    case .directoryExcess: VerificationFinding(.mended(.superblock, .open), coveredBy: [.directoryLength])
    case .directoryReference: VerificationFinding(.wrongStores, coveredBy: [.directoryPageLength])
    case .behindTwice: VerificationFinding(.wrongStores, coveredBy: [.behindSteps])
    case .behindSteps: VerificationFinding(.wrongStores, coveredBy: [.behindTwice])
    default: VerificationFinding(.wrongStores)
    }
  }
}
