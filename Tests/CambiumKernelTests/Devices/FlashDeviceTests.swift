import CambiumTesting
import Testing

@testable import CambiumKernel

/// Stores on a flash chip, by way of ``FlashDevice``. `CAMBIUM_FLASH_CUTS` sets how often the power is cut (10,000 are
/// a long run), and `CAMBIUM_FLASH_COMMITS` how many commits wear the chip (100,000).
struct FlashDeviceTests {
  @Test func powerCutsLoseNothing() throws {
    let seed = testSeed(4_242)
    let cuts = testCount("CAMBIUM_FLASH_CUTS", short: 100, full: 1000)
    var random = SplitMix64(seed: seed)
    let chip = SimulatedFlash(sectorCount: 96, seed: seed)
    let work = FlashWorkload(chip, seed: seed)
    try work.create()
    var inOpening = 0
    for n in 0..<cuts {
      // Some cuts fall into the recovery from the one before.
      chip.cutPower(afterOperations: random.oneIn(3) ? random.below(120) : random.below(3000))
      var isOpen = n == 0
      do throws(StoreError) {
        if !isOpen {
          do { try work.reopen() } catch {
            guard let error = error as? StoreError else {
              Issue.record(error, "cut \(n)")
              return
            }
            throw error
          }
          isOpen = true
        }
        while true { try work.step(keys: 300) }
      } catch {
        if !chip.isOff { Issue.record(error, "cut \(n)") }
        if !isOpen { inOpening += 1 }
      }
      chip.powerOn()
      if n % 20 == 0 {
        try work.reopen()
        try work.check()
        try work.close()
      }
    }
    try work.reopen()
    try work.check()
    #expect(chip.overwrittenBytes == 0)
    print(
      "\(cuts) power cuts (seed \(seed)), \(inOpening) while the store was opened: \(work.commits) commits acknowledged,",
      "none lost; \(work.unacknowledged) more were there; \(work.compactions) compactions;",
      "sectors erased \(chip.erasures.min() ?? 0) to \(chip.erasures.max() ?? 0) times")
  }

  @Test func wearIsLevelled() throws {
    let commits = testCount("CAMBIUM_FLASH_COMMITS", short: 3000, full: 100_000)
    let chip = SimulatedFlash(sectorCount: 256, seed: 7)
    let work = FlashWorkload(chip, seed: testSeed(7))
    try work.create()
    // A quarter of the chip never changes.
    try work.fill(250)
    let before = chip.operationCount
    while work.commits < commits + 250 { try work.step(keys: 200) }
    let (least, most) = (chip.erasures.min() ?? 0, chip.erasures.max() ?? 0)
    print(
      "\(commits) commits on \(chip.sectorCount * chip.sectorBytes) bytes: sectors erased \(least) to \(most) times,",
      "\((chip.operationCount - before) / 17) sector writes")
    #expect(most >= 16 && most <= 2 * least, "\(least) to \(most)")
    #expect(chip.overwrittenBytes == 0)
    try work.close()
    try work.reopen()
    try work.check()
    let wear = try work.device().wear
    #expect(Int(wear.mostErasures) == most && wear.wornSectors == 0)
  }

  /// Sectors fail one after the other. The spare ones make up for them, until there are none left: then commits throw,
  /// and the store can be read.
  @Test(arguments: SimulatedFlash.Wear.allCases) func wornSectorsLoseNothing(_ wear: SimulatedFlash.Wear) throws {
    let chip = SimulatedFlash(sectorCount: 240, seed: 9)
    let work = FlashWorkload(chip, spareSectors: 12, seed: testSeed(9))
    try work.create()
    try work.fill(60)
    var random = SplitMix64(seed: 10)
    var failure: StoreError?
    while failure == nil, chip.worn.count < chip.sectorCount {
      chip.worn[random.below(chip.sectorCount)] = wear
      do throws(StoreError) { for _ in 0..<40 { try work.step(keys: 200) } } catch { failure = error }
    }
    guard case .device(.write, _, FlashDevice.wornOut) = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(chip.worn.count > 12, "\(chip.worn.count) sectors failed")
    try work.reopen(isReadOnly: true)
    try work.check()
    // It may be opened for writing as well, if that takes no more sectors than the recovery finds; or that throws.
    do { try work.reopen() } catch let error as StoreError { print("opening a worn flash: \(error)") }
    chip.worn = [:]
    try work.reopen()
    try work.check()
  }

  @Test func aFullFlashRefusesAndLosesNothing() throws {
    let chip = SimulatedFlash(sectorCount: 64, seed: 3)
    let work = FlashWorkload(chip, seed: testSeed(3))
    try work.create()
    var refusal: StoreError?
    var key: UInt64 = 0
    while refusal == nil {
      do throws(StoreError) {
        try work.put([(key, [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: 700))])
        key += 1
      } catch { refusal = error }
    }
    switch refusal {
    case .deviceFull, .reserveExhausted: break
    default: Issue.record("\(String(describing: refusal))")
    }
    #expect(key > 50)
    // Nothing was changed, and there is room again when rows are deleted.
    for n in 0..<key / 2 { try work.put([(n, nil)]) }
    try work.put([(key, [1, 2, 3])])
    try work.reopen()
    try work.check()
  }

  @Test func aChipThatCannotBeUsedIsRefused() throws {
    #expect(throws: StoreError.misuse("")) { try FlashDevice(SimulatedFlash(sectorCount: 4, seed: 1)) }
    #expect(throws: StoreError.misuse("")) {
      try FlashDevice(SimulatedFlash(sectorCount: 40, sectorBytes: 1000, seed: 1))
    }
    let chip = SimulatedFlash(sectorCount: 64, seed: 1)
    #expect(throws: StoreError.notAStore) {
      try Store.open(on: FlashDevice(chip), environment: TestEnvironment(), options: .small)
    }
    // What fills all but four sectors does not fit beside 16 spare ones.
    let device = try FlashDevice(chip, spareSectors: 4)
    let all = [UInt8](repeating: 5, count: Int(device.capacityBytes))
    try all.withUnsafeBytes { try device.write($0, at: 0) }
    #expect(throws: StoreError.misuse("")) { try FlashDevice(chip, spareSectors: 16) }
    #expect(throws: StoreError.deviceFull(bytes: 1)) { try device.resize(to: device.capacityBytes + 1) }
    var back = [UInt8](repeating: 0, count: all.count + 10)
    let got = try back.withUnsafeMutableBytes { try FlashDevice(chip, spareSectors: 4).read(at: 0, into: $0) }
    #expect(got == all.count && back.prefix(got).allSatisfy { $0 == 5 })
  }

  /// Reads and writes by chance agree with an array, across sectors of other lengths and fresh mounts.
  @Test(arguments: [1024, 4096]) func agreesWithAnArray(_ sectorBytes: Int) throws {
    let chip = SimulatedFlash(sectorCount: 48, sectorBytes: sectorBytes, seed: 11)
    var device = try FlashDevice(chip)
    try DeviceModel.compare(device, capacity: Int(device.capacityBytes), rounds: 600, seed: testSeed(11)) {
      device = try FlashDevice(chip)
      return device
    }
    #expect(chip.overwrittenBytes == 0)
  }
}
