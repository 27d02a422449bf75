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
    if coveredBy.isEmpty { return "\(kind)" }
    let names = coveredBy.map { "`\($0)`" }.joined(separator: ", ")
    return "covered by \(names); without them: \(kind)"
  }

  static func all(_ check: Verification) -> VerificationFinding {
    switch check {
    case .superblockChecksum, .recordChecksum: VerificationFinding(.crashes)
    case .directoryChecksum, .pageChecksum, .extentChecksum: VerificationFinding(.bytes)
    case .superblockVersion, .superblockFeatures, .superblockCipher, .superblockChecksumKind, .superblockUnit,
      .superblockPageSize, .directoryLength:
      VerificationFinding(.mended(.superblock, .open))
    case .directoryKind, .directoryPageLength, .directoryVersion, .directoryNumbers, .treeLevel, .treeIdentifier,
      .treeCount, .treeMerged, .treeOfExtents, .segmentListedKind, .segmentUnits, .segmentStart, .segmentUsed,
      .segmentLive, .segmentOverlap, .segmentEnd:
      VerificationFinding(.mended(.directory, .open))
    case .leafCount, .leafRests, .leafValuesOrder, .leafValuesEnd, .leafOrder, .innerCountWidth, .innerArrays,
      .innerEnd, .innerOrder, .pageLength:
      VerificationFinding(.mended(.pages, .read))
    // A cursor that goes on looks whether the way leads back to where it stands.
    case .innerRests: VerificationFinding(.wrongStores, coveredBy: [.cursorProgress])
    case .leafLevel, .innerLevel:
      VerificationFinding(.mended(.pages, .read), coveredBy: [.pageOwner, .pageOwnerCached])
    case .leafArrays: VerificationFinding(.wrongStores, coveredBy: [.leafValuesStart, .leafValuesEnd])
    case .pageOwner: VerificationFinding(.mended(.pages, .check))
    case .stubLength: VerificationFinding(.wrongStores, coveredBy: [.leafStub])
    case .mergeKind: VerificationFinding(.wrongStores, coveredBy: [.lookupKind])
    case .relocationKind: VerificationFinding(.wrongStores, coveredBy: [.mergeKind, .cursorKind])
    case .reportEntries, .reportPages, .reportBytes, .reportLargeValues, .reportLive:
      VerificationFinding(.mended(.directory, .check))
    case .reportBelow, .reportKeys, .reportLow, .reportHigh, .reportExtents:
      VerificationFinding(.mended(.pages, .check))
    case .reportSeparators: VerificationFinding(.mended(.pages, .check), coveredBy: [.reportLow, .reportHigh])
    case .reportExtentEntry: VerificationFinding(.mended(.pages, .check), coveredBy: [.reportExtents])
    case .directoryExcess: VerificationFinding(.mended(.superblock, .open), coveredBy: [.directoryLength])
    case .directoryReference: VerificationFinding(.wrongStores, coveredBy: [.directoryPageLength])
    case .recordHead: VerificationFinding(.wrongStores, coveredBy: [.recordLongest])
    case .behindTwice: VerificationFinding(.wrongStores, coveredBy: [.behindSteps])
    case .behindSteps: VerificationFinding(.wrongStores, coveredBy: [.behindTwice])
    default: VerificationFinding(.wrongStores)
    }
  }
}
