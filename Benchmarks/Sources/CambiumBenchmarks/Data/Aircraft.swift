/// A row of the first table: about 145 bytes of payload, a unique tail number in random order, a colour that 1% of the
/// rows share, a third colour that every third row lacks.
///
/// The initializer with a value for each field is the language's own: one that is written out puts a row together and
/// then copies it.
struct Aircraft: Sendable, Equatable {
  var id: Int
  var tailNumber: String
  var category: String
  var kind: String
  var type: String
  var primary: String
  var secondary: String
  var tertiary: String?
  var year: Int32?
  var hours: Double
  var photo: [UInt8]

  static let categories = ["airplane", "rotorcraft", "glider", "balloon"]
  static let kinds = ["single-eng", "multi-eng", "helicopter", "gyroplane"]
  static let types = [
    "Cessna 172SP Skyhawk II", "Piper PA-28-181 Archer", "Diamond DA40 NG Series", "Cirrus SR22T G6 Turbo",
  ]
  static let colours = ["none", "white", "blue", "orange", "red", "gray", "green", "gold", "yellow", "black"]

  /// One of the hundred colours.
  static func colour(_ n: UInt64) -> String { colours[Int(n % 10)] + (n / 10 % 10 == 0 ? "" : "\(n / 10 % 10)") }

  /// The tail number of a row: numbers are spread over 32 bits, none twice.
  static func tailNumber(_ id: Int) -> String {
    var n = UInt32(truncatingIfNeeded: id) &* 0x9E37_79B1
    n = (n ^ (n >> 15)) &* 0x2C1B_3C6D
    n ^= n >> 13
    var digits: [UInt8] = [78]
    for _ in 0..<7 {
      let d = UInt8(n % 36)
      digits.append(d < 10 ? 48 + d : 55 + d)
      n /= 36
    }
    return String(decoding: digits, as: UTF8.self)
  }
}

extension Aircraft {
  /// The row of an id.
  init(id: Int) {
    self.id = id
    tailNumber = Self.tailNumber(id)
    category = Self.categories[Int(mix(id, 1) & 3)]
    kind = Self.kinds[Int(mix(id, 2) & 3)]
    type = Self.types[Int(mix(id, 3) & 3)]
    primary = Self.colour(mix(id, 4))
    secondary = Self.colour(mix(id, 5))
    tertiary = id % 3 == 0 ? nil : Self.colour(mix(id, 6))
    year = id % 10 == 0 ? nil : Int32(1950 + mix(id, 7) % 75)
    hours = Double(mix(id, 8) % 200_000) / 10
    photo = []
    photo.reserveCapacity(64)
    var word = mix(id, 9)
    for i in 0..<64 {
      photo.append(UInt8(truncatingIfNeeded: word &>> UInt64(i & 7 &* 8)))
      if i & 7 == 7 { word = word &* 0x9E37_79B9_7F4A_7C15 }
    }
  }
}
