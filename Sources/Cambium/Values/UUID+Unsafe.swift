import CambiumEngine
import CambiumKernel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension UUID {
  /// The UUID as stores hold it.
  var storedBytes: UUIDBytes? { withUnsafeBytes(of: uuid) { UUIDBytes(bytes: $0) } }

  init(_ value: UUIDBytes) {
    let b = value.bytes
    var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &bytes) { $0.copyBytes(from: b) }
    self.init(uuid: bytes)
  }
}
