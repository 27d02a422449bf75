/// One key of an order. Nulls come first in ascending order.
public struct EngineSort: Sendable {
  /// A key path without to-many relationships.
  public var keyPath: String
  /// Whether small values come first.
  public var isAscending: Bool
  /// How texts are put in order; other values have one order only.
  public var textOrder: EngineTextOrder
  /// If there is one, the key path leads to a composite with elements `latitude` and `longitude`, and the order is
  /// that of the distances from here.
  public var origin: EnginePlace?

  /// A key of an order.
  public init(_ keyPath: String, ascending: Bool = true, textOrder: EngineTextOrder = .scalars) {
    self.keyPath = keyPath
    isAscending = ascending
    self.textOrder = textOrder
  }

  /// The order of distances from a place, as `distanceToLocation:fromLocation:` has them: in ascending order the
  /// nearest come first, and objects without a distance last, since they are not near.
  ///
  /// - Parameter keyPath: A composite with numbers `latitude` and `longitude`, in degrees. If there is an R-tree index
  ///   on both and a limit, only what is around the place is read.
  public init(distanceOf keyPath: String, from origin: EnginePlace, ascending: Bool = true) {
    self.init(keyPath, ascending: ascending)
    self.origin = origin
  }

  /// Whether something else is compared in place of values.
  var changesValues: Bool {
    if origin != nil { return true }
    switch textOrder {
    case .caseInsensitive, .natural: return true
    case .scalars, .custom: return false
    }
  }

  /// What is compared in place of a value, made once for each.
  public func key(_ value: Value) -> Value {
    if let origin { return .double(origin.measure(of: value) ?? .infinity) }
    switch (textOrder, value) {
    case (.caseInsensitive, .string(let text)), (.caseInsensitive, .uri(let text)):
      return .binary(FoldedText(text, .caseInsensitive).bytes)
    case (.natural, .string(let text)), (.natural, .uri(let text)): return .binary(naturalKey(text))
    default: return value
    }
  }

  /// The order of two keys, negative if the first one is the lesser; whatever ``isAscending`` says.
  public func order(_ a: Value, _ b: Value) -> Int {
    if case .custom(let compare) = textOrder, case .string(let x) = a, case .string(let y) = b { return compare(x, y) }
    return a.sortOrder(b)
  }
}

/// A place on the earth, in degrees.
public struct EnginePlace: Hashable, Sendable {
  /// Degrees north of the equator.
  public var latitude: Double
  /// Degrees east of Greenwich.
  public var longitude: Double

  /// A place.
  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }

  /// What grows with the distance to a composite or list of latitude and longitude; nil if that is no place.
  func measure(of value: Value) -> Double? {
    guard let place = PredicateFunction.place(value),
      let distance = SpatialDistance(.greatCircle(), fromX: latitude, y: longitude)
    else { return nil }
    return distance.measure(place.latitude, place.longitude)
  }
}

/// How texts are put in order.
public enum EngineTextOrder: Sendable {
  /// By the scalars of their normal forms: upper case before lower case, "a10" before "a2".
  case scalars
  /// The same, with upper and lower case alike (as predicates' `[c]` has it).
  case caseInsensitive
  /// As ``caseInsensitive``, with stretches of the digits 0 to 9 by their numbers: "A2" before "a10". Leading zeros
  /// don't count.
  case natural
  /// As a function says, which answers a negative number if the first one is the lesser, 0 for equals.
  case custom(@Sendable (String, String) -> Int)
}

/// Bytes that are ordered as the text is in natural order: in front of each number stands how many digits it has, so
/// that those with more come later. A number begins with a digit nevertheless, which places it among other
/// characters.
private func naturalKey(_ text: String) -> [UInt8] {
  let bytes = FoldedText(text, .caseInsensitive).bytes
  var key: [UInt8] = []
  key.reserveCapacity(bytes.count + 8)
  var at = 0
  while at < bytes.count {
    let byte = bytes[at]
    guard isDigit(byte) else {
      key.append(byte)
      at += 1
      continue
    }
    while at < bytes.count, bytes[at] == UInt8(ascii: "0") { at += 1 }
    let start = at
    while at < bytes.count, isDigit(bytes[at]) { at += 1 }
    let count = UInt32(clamping: at - start)
    key.append(UInt8(ascii: "0"))
    for shift in [24, 16, 8, 0] as [UInt32] { key.append(UInt8(truncatingIfNeeded: count >> shift)) }
    key.append(contentsOf: bytes[start..<at])
  }
  return key
}
