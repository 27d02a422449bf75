import CambiumTesting
import Testing

@testable import CambiumKernel

/// Texts that are made strings by their bytes, and found where most records have them.
@Suite struct ShortTextTests {
  #if _pointerBitWidth(_64) && _endian(little)
    @Test func stringsLookAsTheyAreTakenTo() { #expect(ShortText.isKnown) }
  #endif

  @Test func shortTextsAreTheSameAsOthers() throws {
    var random = SplitMix64(seed: testSeed(31))
    var made = 0
    for count in 0...17 {
      for _ in 0..<300 {
        var bytes = (0..<count).map { _ in UInt8(random.below(128)) }
        try bytes.withUnsafeBytes { b in
          guard let short = ShortText.string(b) else { return #expect(count > 15) }
          made += 1
          try #require(count <= 15)
          let known = String(decoding: b, as: UTF8.self)
          #expect(short == known && short.hashValue == known.hashValue && Array(short.utf8) == bytes)
          #expect(short + "\u{E9} and more than that" == known + "\u{E9} and more than that")
          #expect(short.utf8.count == count && short.count == known.count && "x" + short == "x" + known)
        }
        // Nothing that is not ASCII, wherever it lies.
        if count == 0 { continue }
        bytes[random.below(count)] |= 0x80
        bytes.withUnsafeBytes { #expect(ShortText.string($0) == nil) }
      }
    }
    #if _pointerBitWidth(_64) && _endian(little)
      #expect(made == 16 * 300)
    #endif
  }

  /// A place tells what the field's path tells: of records of all shapes, whole, cut short and damaged.
  @Test func placesTellWhatPathsTell() throws {
    let seed = testSeed(32)
    print("places of texts: seed \(seed)")
    var random = SplitMix64(seed: seed)
    var (texts, nulls, errors, deep) = (0, 0, 0, 0)
    for _ in 0..<600 {
      let layout = try random.layout(depth: 3)
      let builder = RecordBuilder(layout)
      var paths: [FieldPath] = []
      for (i, field) in layout.fields.enumerated() {
        let path = try FieldPath([i], in: layout)
        let place = TextPlace(path, in: layout)
        #expect((place != nil) == (field.kind.tag == .string))
        if place != nil { paths.append(path) }
        guard let nested = layout.nestedLayout(at: i) else { continue }
        for (j, element) in nested.fields.enumerated() {
          let path = try FieldPath([i, j], in: layout)
          #expect((TextPlace(path, in: layout) != nil) == (element.kind.tag == .string))
          if element.kind.tag == .string {
            paths.append(path)
            deep += 1
          }
          guard let third = nested.nestedLayout(at: j), !third.fields.isEmpty else { continue }
          #expect(TextPlace(try FieldPath([i, j, 0], in: layout), in: layout) == nil)
        }
      }
      if paths.isEmpty { continue }
      for _ in 0..<4 {
        try builder.fill(layout.fields.map { random.value(of: $0.kind) }, order: &random)
        let whole = try builder.bytes()
        for step in 0..<8 {
          var bytes = whole
          if step >= 6 { bytes.removeLast(random.below(bytes.count + 1)) }
          if step >= 2, !bytes.isEmpty {
            for _ in 0..<(1 + random.below(3)) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
          }
          bytes.withUnsafeBytes { b in
            guard let record = try? RecordView(b, layout: layout) else { return }
            for path in paths {
              guard let place = TextPlace(path, in: layout) else { continue }
              let told = Result { () throws(StoreError) in try record.string(at: place) }
              let known = Result { () throws(StoreError) in try record.string(at: path) }
              #expect(told == known)
              switch told {
              case .success(let text?):
                texts += 1
                if case .success(let other?) = known { #expect(Array(text.utf8) == Array(other.utf8)) }
              case .success(nil): nulls += 1
              case .failure: errors += 1
              }
            }
          }
        }
      }
    }
    #expect(texts > 1_000 && nulls > 100 && errors > 100 && deep > 100)
  }
}
