import CambiumKernel

#if canImport(CambiumTesting)
  import CambiumTesting
#endif

// The kernel's random operations against sorted arrays, as its tests run them.

func modelProgram() throws(StoreError) {
  for variant in 0..<4 {
    let seed = 20_261_121 + UInt64(variant)
    var run = try RandomRun(seed: seed, variant: variant, environment: Board(seed: seed)) { what, line in
      expect(false, "variant \(variant): \(what)", line: line)
    }
    try run.go(operations: 2_500)
    // The other variants begin checkpoints when the memory of changes is used up, which depends on the length of
    // pointers.
    if variant == 1 || variant == 2 {
      say("random operations, variant \(variant): file hash \(try hash(of: run.device))\n")
    }
  }
  part("random operations")
}

/// FNV-1a over a whole device.
private func hash(of device: any StorageDevice) throws(StoreError) -> UInt64 {
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)
  defer { buffer.deallocate() }
  var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  var offset: UInt64 = 0
  while true {
    let count = try device.read(at: offset, into: buffer)
    if count == 0 { return hash }
    for byte in buffer[..<count] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    offset += UInt64(count)
  }
}
