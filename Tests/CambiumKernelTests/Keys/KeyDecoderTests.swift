import CambiumKernel
import CambiumTesting
import Testing

@Suite struct KeyDecoderTests {
  private func randomPart(_ random: inout SplitMix64, _ encoder: inout KeyEncoder, _ descending: Bool) -> KeyPart {
    switch random.below(10) {
    case 0:
      encoder.appendNull(descending: descending)
      return .null
    case 1:
      let value = random.oneIn(2)
      encoder.append(value, descending: descending)
      return .boolean(value)
    case 2:
      let value = random.integer()
      encoder.append(value, descending: descending)
      return .int64(value)
    case 3:
      let value = random.double()
      encoder.append(value, descending: descending)
      return .double(value)
    case 4:
      let value = random.double()
      encoder.append(date: value, descending: descending)
      return .date(value)
    case 5:
      let value = random.decimal()
      encoder.append(value, descending: descending)
      return .decimal(value)
    case 6:
      let value = random.text()
      encoder.append(value, descending: descending)
      return .string(value)
    case 7:
      let value = random.bytes(random.below(6)).map { $0 & 3 }
      encoder.append(bytes: value, descending: descending)
      return .bytes(value)
    case 8:
      let value = UUIDBytes(high: random.next(), low: random.next())
      encoder.append(value, descending: descending)
      return .uuid(value)
    default:
      let value = random.next() >> UInt64(random.below(64))
      encoder.append(reference: value, descending: descending)
      return .reference(value)
    }
  }

  private func same(_ a: KeyPart, _ b: KeyPart) -> Bool {
    switch (a, b) {
    case (.double(let x), .double(let y)), (.date(let x), .date(let y)): return x == y || (x.isNaN && y.isNaN)
    default: return a == b
    }
  }

  @Test func keysReadBack() throws {
    var random = SplitMix64(seed: 21)
    for _ in 0..<2_000 {
      var encoder = KeyEncoder()
      var parts: [(KeyPart, Bool)] = []
      for _ in 0..<random.below(5) {
        let descending = random.oneIn(2)
        parts.append((randomPart(&random, &encoder, descending), descending))
      }
      let before = encoder.bytes.count
      let id = random.next() >> UInt64(random.below(64))
      encoder.append(rowID: id)
      try encoder.bytes.withUnsafeBytes { bytes in
        var decoder = KeyDecoder(bytes)
        for (part, descending) in parts { #expect(same(try decoder.next(descending: descending), part)) }
        #expect(decoder.offset == before)
        #expect(try decoder.next() == .rowID(id))
        #expect(decoder.isAtEnd)
        let suffix = try KeyDecoder.rowID(atEndOf: bytes)
        #expect(suffix.id == id && suffix.start == before)
      }
    }
  }

  /// Reads a damaged key to its end; an accepted part must be one that the encoder writes in the same bytes.
  private func readAll(_ bytes: [UInt8], descending: Bool) {
    bytes.withUnsafeBytes { buffer in
      var decoder = KeyDecoder(buffer)
      do throws(StoreError) {
        while !decoder.isAtEnd {
          let start = decoder.offset
          let part = try decoder.next(descending: descending)
          if decoder.wasCut { return }
          var encoder = KeyEncoder()
          switch part {
          case .null: encoder.appendNull(descending: descending)
          case .boolean(let value): encoder.append(value, descending: descending)
          case .int64(let value): encoder.append(value, descending: descending)
          case .double(let value): encoder.append(value, descending: descending)
          case .date(let value): encoder.append(date: value, descending: descending)
          case .decimal(let value): encoder.append(value, descending: descending)
          case .string: continue  // Damage may leave text that is not in the normal form.
          case .bytes(let value): encoder.append(bytes: value, descending: descending)
          case .uuid(let value): encoder.append(value, descending: descending)
          case .place(let x, let y): encoder.append(KeyPlace(x: x, y: y))
          case .reference(let value): encoder.append(reference: value, descending: descending)
          case .rowID(let value):
            if descending { continue }
            encoder.append(rowID: value)
          }
          #expect(encoder.bytes == Array(buffer[start..<decoder.offset]))
        }
      } catch {
        guard case .corrupt(.key, let offset, _) = error else {
          Issue.record("\(error)")
          return
        }
        #expect(offset <= UInt64(bytes.count))
      }
      _ = try? KeyDecoder.rowID(atEndOf: buffer)
    }
  }

  /// Row ids are always ascending; inverted bytes of one are no part of a descending key.
  @Test func aDescendingRowIDIsRefused() {
    var encoder = KeyEncoder()
    encoder.append(rowID: 300)
    let inverted = encoder.bytes.map { ~$0 }
    inverted.withUnsafeBytes { bytes in
      var decoder = KeyDecoder(bytes)
      #expect(throws: StoreError.self) { try decoder.next(descending: true) }
    }
  }

  @Test func damageIsAnswered() {
    var random = SplitMix64(seed: 22)
    for _ in 0..<150 {
      var encoder = KeyEncoder(limit: 16 + random.below(60))
      let descending = random.oneIn(2)
      for _ in 0..<3 { _ = randomPart(&random, &encoder, descending) }
      if !descending { encoder.append(rowID: random.next()) }
      var bytes = encoder.bytes
      for count in 0...bytes.count { readAll(Array(bytes[..<count]), descending: descending) }
      for index in bytes.indices {
        let old = bytes[index]
        for mask in [0x01, 0x02, 0x80, 0xFF, UInt8(1 + random.below(255))] as [UInt8] {
          bytes[index] = old ^ mask
          readAll(bytes, descending: descending)
        }
        bytes[index] = old
      }
    }
    for _ in 0..<3_000 { readAll(random.bytes(random.below(30)), descending: random.oneIn(2)) }
    for tag in UInt8.min...UInt8.max {
      for _ in 0..<10 { readAll([tag] + random.bytes(random.below(24)), descending: false) }
    }
  }

  @Test func cutStringsReadAsTheirFirstScalars() throws {
    for limit in 16..<40 {
      let text = "a\u{e9}\u{4e2d}\u{1f600}a\u{e9}\u{4e2d}\u{1f600}\0\u{1}"
      var encoder = KeyEncoder(limit: limit)
      encoder.append(text)
      try encoder.bytes.withUnsafeBytes { bytes in
        var decoder = KeyDecoder(bytes)
        guard case .string(let read) = try decoder.next() else {
          Issue.record("no string")
          return
        }
        #expect(decoder.wasCut == encoder.isInexact)
        #expect(text.unicodeScalars.starts(with: read.unicodeScalars))
        #expect(encoder.isInexact || read == text)
      }
    }
  }
}
