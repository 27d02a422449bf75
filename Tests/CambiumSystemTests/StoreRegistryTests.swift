import CambiumKernel
import CambiumSystem
import CambiumTesting
import Foundation
import Testing

@Suite struct StoreRegistryTests {
  final class Engine: Sendable {
    let device: FileDevice
    init(_ device: FileDevice) { self.device = device }
  }

  @Test func givesOneEngineForAFile() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/store"
      try FileDevice.create(at: path) { _ in }.close()
      try FileManager.default.createSymbolicLink(atPath: directory + "/alias", withDestinationPath: path)
      let registry = StoreRegistry<Engine>()
      let first = try registry.open(path: path) { device in Engine(device) }
      let second = try registry.open(path: directory + "/alias") { _ throws(StoreError) in throw .misuse("made twice") }
      #expect(first === second)
      #expect(registry.userCount(of: first.device.identity) == 2)
      #expect(try FileIdentity(path: path) == first.device.identity)

      let closings = Locked(0)
      func close(_ engine: Engine) {
        closings.withLock { $0 += 1 }
        engine.device.close()
      }
      try registry.release(first) { close($0) }
      #expect(closings.withLock { $0 } == 0)
      try registry.release(second) { close($0) }
      try registry.release(second) { close($0) }
      #expect(closings.withLock { $0 } == 1)
      let third = try registry.open(path: path) { device in Engine(device) }
      #expect(third !== first)
      try registry.release(third) { close($0) }
    }
  }

  @Test func keepsNothingOfAFailedOpening() throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/store"
      try FileDevice.create(at: path) { _ in }.close()
      let registry = StoreRegistry<Engine>()
      let error = thrown { () throws(StoreError) in
        _ = try registry.open(path: path) { _ throws(StoreError) in throw .notAStore }
      }
      #expect(error == .notAStore)
      #expect(registry.userCount(of: try FileIdentity(path: path)) == 0)
      let engine = try registry.open(path: path) { device in Engine(device) }
      try registry.release(engine) { $0.device.close() }
      let missing = thrown { () throws(StoreError) in
        _ = try registry.open(path: directory + "/none") { device in Engine(device) }
      }
      #expect(missing?.meansNoSuchFile == true)
    }
  }

  @Test func serializesOpeningAndClosing() async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("cambium-\(UUID().uuidString)").path
    try FileDevice.create(at: path) { _ in }.close()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let registry = StoreRegistry<Engine>()
    // The exclusive lock of the file fails any opening that runs beside another engine.
    let errors = await withTaskGroup(of: StoreError?.self) { group in
      for _ in 0..<4 {
        group.addTask {
          thrown { () throws(StoreError) in
            for _ in 0..<50 {
              let engine = try registry.open(path: path) { device in Engine(device) }
              _ = try engine.device.size()
              try registry.release(engine) { $0.device.close() }
            }
          }
        }
      }
      return await group.reduce(into: [StoreError?]()) { $0.append($1) }
    }
    #expect(errors.allSatisfy { $0 == nil })
    #expect(registry.userCount(of: try FileIdentity(path: path)) == 0)
  }
}
