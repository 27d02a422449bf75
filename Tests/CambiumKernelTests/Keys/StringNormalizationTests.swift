#if !canImport(Darwin)
  import CambiumTesting
  import Testing

  @testable import CambiumKernel

  /// The kernel's normalisation against the standard library's.
  @Suite struct StringNormalizationTests {
    private func check(_ scalars: [UInt32]) -> Bool {
      let expected = NormalizationTableMaker.nfc(scalars)
      let utf8 = Array(NormalizationTableMaker.text(scalars).utf8)
      return utf8.withUnsafeBytes { bytes in
        let normal = String(decoding: StringNormalization.normalForm(of: bytes), as: UTF8.self)
        let isRight = normal.unicodeScalars.map { $0.value } == expected
        // What counts as normal at a glance must be so.
        return isRight && (!StringNormalization.isQuicklyNormal(bytes) || expected == scalars)
      }
    }

    @Test func tablesAreThoseOfTheStandardLibrary() {
      let maker = NormalizationTableMaker()
      #expect(maker.decompositions == "\(NormalizationTables.decompositions)")
      #expect(maker.compositions == "\(NormalizationTables.compositions)")
      #expect(maker.classes == "\(NormalizationTables.classes)")
      #expect(maker.blocks == "\(NormalizationTables.blocks)")
      #expect(maker.decompositionCount == NormalizationTables.decompositionCount)
      #expect(maker.compositionCount == NormalizationTables.compositionCount)
      #expect(maker.classCount == NormalizationTables.classCount)
    }

    @Test func everyScalarAlone() {
      var wrong: [UInt32] = []
      for value: UInt32 in 0..<0x30000 where !(0xD800..<0xE000).contains(value) {
        if !(0x20100..<0x2F700).contains(value), !(0x4F00..<0x9F00).contains(value), !check([value]) {
          wrong.append(value)
        }
      }
      #expect(wrong == [])
    }

    @Test func mixturesOfWhatChanges() {
      var random = SplitMix64(seed: 41)
      var interesting: [UInt32] = []
      for value: UInt32 in 0..<0x30000 where !(0xAC20..<0xD780).contains(value) {
        guard let scalar = Unicode.Scalar(value) else { continue }
        if scalar.properties.canonicalCombiningClass.rawValue != 0 || StringNormalization.mayChange(value) {
          interesting.append(value)
        }
      }
      let bases: [UInt32] = [0x41, 0x61, 0x65, 0x73, 0x1100, 0x1112, 0xAC00, 0xAC01, 0x9C7, 0x11099, 0xC5, 0x1E9B]
      for _ in 0..<20_000 {
        let scalars = (0..<random.below(8)).map { _ in random.oneIn(3) ? random.pick(bases) : random.pick(interesting) }
        #expect(check(scalars), "\(scalars)")
        #expect(checkWithoutMarks(scalars), "\(scalars)")
      }
    }

    /// Decomposed, without what has a combining class, and composed again.
    private func checkWithoutMarks(_ scalars: [UInt32]) -> Bool {
      let bases = NormalizationTableMaker.nfd(scalars).filter {
        Unicode.Scalar($0)?.properties.canonicalCombiningClass == .notReordered
      }
      let bare = Array(NormalizationTableMaker.text(scalars).utf8).withUnsafeBytes {
        StringNormalization.withoutMarks($0)
      }
      return String(decoding: bare, as: UTF8.self).unicodeScalars.map { $0.value } == NormalizationTableMaker.nfc(bases)
    }

    @Test func marksAreTakenOff() {
      for (text, bare) in [
        ("Zürich", "Zurich"), ("e\u{301}\u{323}", "e"), ("ø", "ø"), ("\u{301}", ""), ("각", "각"), ("", ""),
      ] {
        let bytes = Array(text.utf8).withUnsafeBytes { StringNormalization.withoutMarks($0) }
        #expect(String(decoding: bytes, as: UTF8.self) == bare)
      }
    }

    @Test func longRunsOfMarksAreSorted() {
      var random = SplitMix64(seed: 42)
      let marks: [UInt32] = [0x300, 0x301, 0x323, 0x327, 0x345, 0x334]
      #expect(check([0x61] + (0..<20_000).map { _ in random.pick(marks) }))
    }

    @Test func illFormedTextStaysAsItIs() {
      for bytes: [UInt8] in [[0xFF], [0x61, 0xCC], [0xED, 0xA0, 0x80], [0xC0, 0x80], [0xF4, 0x90, 0x80, 0x80]] {
        #expect(bytes.withUnsafeBytes { StringNormalization.normalForm(of: $0) } == bytes)
        #expect(!bytes.withUnsafeBytes { $0.isWellFormedUTF8 })
      }
      var random = SplitMix64(seed: 43)
      for _ in 0..<20_000 {
        let bytes = random.bytes(random.below(9)).map { random.oneIn(2) ? $0 | 0xC0 : $0 & 0xBF }
        let expected = String(validating: bytes, as: UTF8.self) != nil
        #expect(bytes.withUnsafeBytes { $0.isWellFormedUTF8 } == expected)
      }
    }
  }
#endif
