import Foundation

/// Whether tests do all that they can, and not what fits a minute: where the sources are built for release, unless
/// `CAMBIUM_SHORT` is set. (Not all tests are optimized there themselves, see Package.swift.)
public let isFullLength: Bool = {
  #if DEBUG
    return false
  #else
    return ProcessInfo.processInfo.environment["CAMBIUM_SHORT"] == nil
  #endif
}()

/// Which part of full length is done: one in as many. `CAMBIUM_SHARE` says so, and all is done without it.
public let share: Int = max(1, ProcessInfo.processInfo.environment["CAMBIUM_SHARE"].flatMap(Int.init) ?? 1)

/// How often a test is to do what it does: as often as environment variable `name` says, else so often as is usual for
/// a run of a minute, or for one of full length or a ``share`` of it, which is no shorter than that of a minute.
public func testCount(_ name: String, short: Int, full: Int) -> Int {
  if let count = ProcessInfo.processInfo.environment[name].flatMap(Int.init) { return count }
  return isFullLength ? max(short, full / share) : short
}
