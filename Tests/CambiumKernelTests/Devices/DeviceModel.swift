import CambiumTesting
import Testing

@testable import CambiumKernel

/// Compares a device of a fixed capacity with an array.
enum DeviceModel {
  /// - Parameter again: Makes the device anew on what it holds.
  static func compare(
    _ first: any StorageDevice, capacity: Int, rounds: Int, seed: UInt64, again: () throws -> any StorageDevice
  ) throws {
    var random = SplitMix64(seed: seed)
    var device = first
    var model = [UInt8](repeating: 0, count: capacity)
    #expect(try device.size() == UInt64(capacity))
    for round in 0..<rounds {
      let offset = random.below(capacity)
      let count = 1 + random.below(random.oneIn(4) ? 20_000 : 300)
      switch random.below(8) {
      case 0:
        let size = random.below(capacity + 1)
        if size < model.count { model.removeLast(model.count - size) }
        model += [UInt8](repeating: 0, count: size - model.count)
        try device.resize(to: UInt64(size))
      case 1...4:
        let bytes = random.bytes(count)
        guard offset + count <= capacity else {
          #expect(throws: StoreError.deviceFull(bytes: UInt64(offset + count - capacity))) {
            try bytes.withUnsafeBytes { try device.write($0, at: UInt64(offset)) }
          }
          continue
        }
        try bytes.withUnsafeBytes { try device.write($0, at: UInt64(offset)) }
        if model.count < offset + count { model += [UInt8](repeating: 0, count: offset + count - model.count) }
        model.replaceSubrange(offset..<offset + count, with: bytes)
      case 5 where random.oneIn(10):
        // A fresh one is as long as its capacity; what it had been cut to is not kept, nor what lay behind.
        try device.resize(to: UInt64(capacity))
        model += [UInt8](repeating: 0, count: capacity - model.count)
        device = try again()
      default:
        var bytes = [UInt8](repeating: 0xEE, count: count)
        let got = try bytes.withUnsafeMutableBytes { try device.read(at: UInt64(offset), into: $0) }
        let wanted = model.dropFirst(offset).prefix(count)
        #expect(got == wanted.count && bytes.prefix(got).elementsEqual(wanted), "round \(round), seed \(seed)")
      }
      #expect(try device.size() == UInt64(model.count), "round \(round), seed \(seed)")
    }
  }
}
