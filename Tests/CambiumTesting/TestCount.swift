import Foundation

/// How often a test is to do what it does: as often as environment variable `name` says, else as is usual, less often where the
/// tests are not optimized, which makes them ten times as slow.
public func testCount(_ name: String, debug: Int, release: Int) -> Int {
  if let count = ProcessInfo.processInfo.environment[name].flatMap(Int.init) { return count }
  #if DEBUG
    return debug
  #else
    return release
  #endif
}
