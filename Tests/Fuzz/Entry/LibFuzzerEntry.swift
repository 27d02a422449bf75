// What libFuzzer calls. Built by `.ci/fuzz` alone; the package leaves this folder out.

@testable import FuzzTests

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The target named by CAMBIUM_FUZZ_TARGET; nil for the canary.
private let target: FuzzTarget? = {
  let name = getenv("CAMBIUM_FUZZ_TARGET").map { String(cString: $0) } ?? ""
  if name == "canary" { return nil }
  guard let target = FuzzTarget(rawValue: name) else {
    report("CAMBIUM_FUZZ_TARGET is '\(name)'; it has to be canary or one of \(FuzzTarget.allCases.map(\.rawValue))")
    exit(2)
  }
  return target
}()

private func report(_ text: String) {
  let line = Array("\(text)\n".utf8)
  _ = write(STDERR_FILENO, line, line.count)
}

/// A fault planted behind some bytes that chance alone does not meet: a fuzzer that does not find it finds nothing.
private func canary(_ bytes: UnsafeRawBufferPointer) {
  let magic: StaticString = "CSEG01"
  var matched = 0
  for (i, byte) in bytes.enumerated() where i < magic.utf8CodeUnitCount {
    if byte != magic.utf8Start[i] { return }
    matched += 1
  }
  if matched == magic.utf8CodeUnitCount {
    let block = UnsafeMutableRawPointer.allocate(byteCount: matched, alignment: 1)
    defer { block.deallocate() }
    // One byte behind the end.
    block.storeBytes(of: bytes[0], toByteOffset: matched, as: UInt8.self)
  }
}

/// Tries one input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  guard let target else {
    canary(bytes)
    return 0
  }
  if let problem = target.problem(bytes) {
    report("FOUND: \(problem)")
    abort()
  }
  return 0
}
