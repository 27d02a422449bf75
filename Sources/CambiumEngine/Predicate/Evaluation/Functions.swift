import CambiumKernel

extension PredicateFunction {
  /// What the function gives of values. All but those of several values give null if an argument is null, or of a kind
  /// that they do not take.
  func apply(_ arguments: [Value], _ state: inout EvaluationState) throws(PredicateError) -> Value {
    guard argumentCounts.contains(arguments.count) else { return .null }
    switch self {
    case .sum, .count, .minimum, .maximum, .average, .median, .mode, .standardDeviation:
      return applyToMany(arguments)
    case .add, .subtract, .multiply, .divide, .raise:
      return arithmetic?.apply(arguments[0], arguments[1]) ?? .null
    case .modulus: return arguments[0].remainder(dividingBy: arguments[1])
    case .squareRoot, .logarithm, .naturalLogarithm, .exponential:
      guard let number = arguments[0].nearestDouble else { return .null }
      return applyToReal(number).map { .double($0) } ?? .null
    case .floor: return arguments[0].rounded(.down)
    case .ceiling: return arguments[0].rounded(.up)
    case .truncate: return arguments[0].rounded(.towardZero)
    case .absolute: return arguments[0].absolute
    case .onesComplement: return arguments[0].exactInteger.map { .integer(~$0) } ?? .null
    case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift:
      guard let a = arguments[0].exactInteger, let b = arguments[1].exactInteger else { return .null }
      return .integer(applyToBits(a, b))
    case .random: return .double(Double(state.randomBits() >> 11) * 0x1p-53)
    case .randomBelow:
      guard let limit = arguments[0].exactInteger, limit > 0 else { return .null }
      return .integer(Int64(state.randomBits() % UInt64(limit)))
    case .now:
      guard let now = state.now else {
        throw PredicateError(.unsupported, "now()", "the time is not known here; give a date for a variable")
      }
      return .date(now)
    case .uppercase, .lowercase, .canonical, .length: return applyToText(arguments[0])
    case .noIndex: return arguments[0]
    case .cast:
      guard case .string(let name) = arguments[1], let type = CastType(name) else { return .null }
      return type.convert(arguments[0])
    case .distance: return Self.distance(arguments[0], arguments[1])
    case .castToEntity: return try Self.castToEntity(arguments)
    // Was resolved before.
    case .call: return .null
    }
  }

  private func applyToMany(_ arguments: [Value]) -> Value {
    var values: [Value] = []
    for argument in arguments { values += argument.elements }
    switch self {
    case .sum: return Aggregates.sum(values)
    case .count: return .integer(Int64(values.count))
    case .minimum: return Aggregates.extreme(values, .less)
    case .maximum: return Aggregates.extreme(values, .greater)
    case .average: return Aggregates.average(values)
    case .median: return Aggregates.median(values)
    case .mode: return Aggregates.mode(values)
    default: return Aggregates.standardDeviation(values)
    }
  }

  private func applyToReal(_ number: Double) -> Double? {
    switch self {
    case .squareRoot: return ElementaryFunctions.squareRoot(number)
    case .logarithm: return ElementaryFunctions.decimalLogarithm(number)
    case .naturalLogarithm: return ElementaryFunctions.logarithm(number)
    default: return ElementaryFunctions.exponential(number)
    }
  }

  private func applyToBits(_ a: Int64, _ b: Int64) -> Int64 {
    switch self {
    case .bitwiseAnd: return a & b
    case .bitwiseOr: return a | b
    case .bitwiseXor: return a ^ b
    // Swift's shifts take any amount: beyond the width nothing but the sign is left.
    case .leftShift: return a << b
    default: return a >> b
    }
  }

  private func applyToText(_ value: Value) -> Value {
    let text: String
    switch value {
    case .string(let string), .uri(let string): text = string
    case .binary(let bytes) where self == .length: return .integer(Int64(bytes.count))
    default: return .null
    }
    switch self {
    case .length: return .integer(FoldedText(text, []).scalarCount)
    case .canonical: return .string(FoldedText(text, [.caseInsensitive, .diacriticInsensitive]).text)
    case .uppercase: return .string(textInUppercase(text))
    default: return .string(textInLowercase(text))
    }
  }

  private static func distance(_ a: Value, _ b: Value) -> Value {
    guard let from = place(a), let to = place(b) else { return .null }
    return greatCircle(from.latitude, from.longitude, to.latitude, to.longitude).map { .double($0) } ?? .null
  }

  /// A composite with elements `latitude` and `longitude`, or a list of the two, in degrees.
  static func place(_ value: Value) -> (latitude: Double, longitude: Double)? {
    switch value {
    case .composite(let composite):
      guard let latitude = composite["latitude"]?.nearestDouble, let longitude = composite["longitude"]?.nearestDouble
      else { return nil }
      return (latitude, longitude)
    case .list(let values):
      guard values.count == 2, let latitude = values[0].nearestDouble, let longitude = values[1].nearestDouble
      else { return nil }
      return (latitude, longitude)
    default: return nil
    }
  }
}

/// Text in capital letters, in no language; under Embedded Swift ASCII letters alone.
func textInUppercase(_ text: String) -> String {
  #if hasFeature(Embedded)
    return asciiUppercase(text)
  #else
    return text.uppercased()
  #endif
}

/// Text in small letters, in no language; under Embedded Swift ASCII letters alone.
func textInLowercase(_ text: String) -> String {
  #if hasFeature(Embedded)
    var bytes = Array(text.utf8)
    for index in bytes.indices where bytes[index] >= UInt8(ascii: "A") && bytes[index] <= UInt8(ascii: "Z") {
      bytes[index] &+= 32
    }
    return String(decoding: bytes, as: UTF8.self)
  #else
    return text.lowercased()
  #endif
}
