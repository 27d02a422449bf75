extension KeyEncoder {
  /// Appends a string, in the order of ``StringNormalization/compare(_:_:)``: canonical equivalents are equal, as in
  /// Swift.
  public mutating func append(_ value: String, descending: Bool = false) {
    var value = value
    value.withUTF8 { append(utf8: UnsafeRawBufferPointer($0), descending: descending) }
  }

  /// Appends a string given as UTF-8, as it lies in a record.
  public mutating func append(utf8: UnsafeRawBufferPointer, descending: Bool = false) {
    guard begin(3) else { return }
    append(byte: KeyTag.string, inversion(descending))
    StringNormalization.withNormalForm(of: utf8) { appendEscaped($0, inversion(descending)) }
  }

  /// Appends bytes; they order like unsigned bytes, a prefix first.
  public mutating func append(bytes value: UnsafeRawBufferPointer, descending: Bool = false) {
    guard begin(3) else { return }
    append(byte: KeyTag.bytes, inversion(descending))
    appendEscaped(value, inversion(descending))
  }

  /// Appends bytes; they order like unsigned bytes, a prefix first.
  public mutating func append(bytes value: [UInt8], descending: Bool = false) {
    value.withUnsafeBytes { append(bytes: $0, descending: descending) }
  }

  /// Appends a decimal; numbers that are equal have equal keys. Not-a-number sorts before every number.
  public mutating func append(_ value: DecimalValue, descending: Bool = false) {
    // Tag, place, up to 20 bytes of digits, end.
    guard begin(23) else { return }
    let inversion = inversion(descending)
    if value.isNaN { return append(byte: KeyTag.decimalNaN, inversion) }
    let digits = value.digits
    guard let last = digits.lastIndex(where: { $0 != 0 }) else { return append(byte: KeyTag.decimalZero, inversion) }
    let place = digits.count - 1 + Int(value.exponent)
    let isLarge = place >= (isPlanted(.largeDecimalMisplaced) ? 129 : 128)
    let body: UInt8
    if value.isNegative {
      append(byte: isLarge ? KeyTag.decimalLargeNegative : KeyTag.decimalNegative, inversion)
      body = ~inversion
    } else {
      append(byte: isLarge ? KeyTag.decimalLargePositive : KeyTag.decimalPositive, inversion)
      body = inversion
    }
    append(byte: UInt8(truncatingIfNeeded: isLarge ? place - 128 : place + 128), body)
    for index in stride(from: 0, through: last, by: 2) {
      append(byte: digits[index] * 10 + (index < last ? digits[index + 1] : 0) + 1, body)
    }
    append(byte: KeyTag.end, body)
  }

  /// Appends the first bytes of a string part that starts with `prefix`, without an end, for ``KeyRange``.
  mutating func append(prefix: UnsafeRawBufferPointer, tag: UInt8, descending: Bool) {
    guard begin(3) else { return }
    append(byte: tag, inversion(descending))
    appendEscaped(prefix, inversion(descending), isPrefix: true)
  }

  /// Appends content and its end, or as much as there is room for and the mark of a cut.
  ///
  /// The cut is at a byte, not at a scalar: two texts that differ first in a scalar across the cut must not be told
  /// apart by its length. An escape is not split; it stands for the lowest bytes, so that the mark may take its place.
  private mutating func appendEscaped(_ content: UnsafeRawBufferPointer, _ inversion: UInt8, isPrefix: Bool = false) {
    // Room for content: two bytes are kept for the end, exact or not.
    var left = room - 2
    var start = 0
    var index = 0
    while index < content.count {
      let byte = content[index]
      let isEscaped = byte <= KeyTag.escape - (isPlanted(.escapeNotEscaped) ? 1 : 0)
      let size = isEscaped ? 2 : 1
      guard size <= left else { break }
      left &-= size
      if isEscaped {
        append(run: UnsafeRawBufferPointer(rebasing: content[start..<index]), inversion)
        append(byte: KeyTag.escape, inversion)
        append(byte: byte &+ KeyTag.escapedZero, inversion)
        start = index &+ 1
      }
      index &+= 1
    }
    append(run: UnsafeRawBufferPointer(rebasing: content[start..<index]), inversion)
    let isCut = index < content.count
    if isCut, !isPlanted(.cutKeyTakenForExact) { markInexact() }
    if isPrefix { return }
    if isCut {
      append(byte: KeyTag.escape, inversion)
      append(byte: KeyTag.cut, inversion)
    } else {
      append(byte: KeyTag.end, inversion)
    }
  }
}
