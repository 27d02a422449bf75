import Foundation

/// Where chance begins in a random test: at `usual`, or where `CAMBIUM_SEED` says. The test prints it, so that what it
/// found can be found again.
public func testSeed(_ usual: UInt64) -> UInt64 {
  ProcessInfo.processInfo.environment["CAMBIUM_SEED"].flatMap(UInt64.init) ?? usual
}
