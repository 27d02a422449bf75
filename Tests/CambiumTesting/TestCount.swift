import Foundation

/// Whether tests do all that they can, and not what fits a minute: where the sources are built for release, unless `CAMBIUM_SHORT` is
/// set. (Not all tests are optimized there themselves, see Package.swift.)
public let isFullLength: Bool = {
  #if DEBUG
    return false
  #else
    return ProcessInfo.processInfo.environment["CAMBIUM_SHORT"] == nil
  #endif
}()

/// How often a test is to do what it does: as often as environment variable `name` says, else so often as is usual for a run
/// of a minute, or for one of full length.
public func testCount(_ name: String, short: Int, full: Int) -> Int {
  if let count = ProcessInfo.processInfo.environment[name].flatMap(Int.init) { return count }
  return isFullLength ? full : short
}
