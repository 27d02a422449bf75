#if CAMBIUM_VERIFICATION_SWITCHES
  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif
#endif

/// Mistakes that `.ci/planted` plants in the macros, one at a time, to show that some test notices each: see the
/// kernel's `PlantedFault`.
enum PlantedFault: CaseIterable {
  /// A bracket that closes nothing is copied into an expansion.
  case strayBracketCopied
}

extension PlantedFault {
  #if CAMBIUM_VERIFICATION_SWITCHES
    /// The mistake that this process makes, if it makes one of the macros'.
    static let active = allCases.first { "\($0)" == ProcessInfo.processInfo.environment["CAMBIUM_PLANTED"] }
  #endif
}

/// Whether this process makes a mistake of the macros.
@inline(__always)
func isPlanted(_ fault: PlantedFault) -> Bool {
  #if CAMBIUM_VERIFICATION_SWITCHES
    return PlantedFault.active == fault
  #else
    return false
  #endif
}
