import Foundation

/// What aircraft and log entries of the operations on both faces have in common.
enum FaceData {
  static let types = ["Cessna 172", "Piper PA-28", "Robin DR 400"]
  /// One property is read so many times in a row.
  static let readings = 20

  static func tail(_ i: Int) -> String { "N\(10_000 + i * 7_919 % 50_000)" }

  static var photo: Data { Data(repeating: 7, count: 64) }
}

/// The operations that a program does by managed objects or by models, so that their counts can be compared.
protocol Face {
  associatedtype Context
  associatedtype Aircraft
  associatedtype Identifier

  /// An empty store in memory.
  init() throws
  func work(_ body: (Context) throws -> Void) throws
  func save(_ context: Context) throws
  func insertAircraft(_ i: Int, _ photo: Data, _ context: Context)
  /// Inserts an entry that leads to an aircraft.
  func insertEntry(_ i: Int, _ aircraft: Identifier, _ context: Context)
  func aircraft(_ context: Context) throws -> [Aircraft]
  /// Goes through all aircraft without keeping them.
  func walk(_ context: Context, _ body: () -> Void) throws
  func identifiers(_ context: Context) throws -> [Identifier]
  /// Reads all properties.
  func whole(_ one: Aircraft) -> Int
  func hours(_ one: Aircraft) -> Double
  func setHours(_ hours: Double, _ one: Aircraft)
  /// The sum of the years of the aircraft that all entries lead to.
  func years(_ context: Context) throws -> Int
  /// The sum of the distances of an aircraft's entries.
  func distance(_ one: Aircraft) -> Int
}

private struct WrongAnswer: Error {}

/// The operations of a face.
enum FaceOperations<F: Face> {
  private static func require(_ holds: Bool) throws { if !holds { throw WrongAnswer() } }

  /// A store with aircraft and, of each, two entries.
  private static func filled(_ count: Int) throws -> F {
    let face = try F()
    try fill(face, count)
    // What is found out once for each class is not counted.
    try face.work { context in
      for one in try face.aircraft(context) { try require(face.whole(one) + face.distance(one) > 0) }
      try require(try face.years(context) > 0)
    }
    return face
  }

  private static func fill(_ face: F, _ count: Int) throws {
    let photo = FaceData.photo
    try face.work { context in
      for i in 0..<count { face.insertAircraft(i, photo, context) }
      try face.save(context)
      let all = try face.identifiers(context)
      for i in 0..<(2 * count) { face.insertEntry(i, all[i % count], context) }
      try face.save(context)
    }
  }

  static func insert(_ count: Int) throws {
    _ = try filled(10)
    let face = try F()
    let photo = FaceData.photo
    try counted {
      try face.work { context in
        for i in 0..<count { face.insertAircraft(i, photo, context) }
        try face.save(context)
      }
    }
  }

  static func relate(_ count: Int) throws {
    let face = try filled(count)
    try face.work { context in
      let all = try face.identifiers(context)
      try counted {
        try face.work { context in
          for i in 0..<count { face.insertEntry(i, all[i], context) }
          try face.save(context)
        }
      }
    }
  }

  static func fetch(_ count: Int) throws {
    let face = try filled(count)
    try counted { try face.work { context in try require(try face.aircraft(context).count == count) } }
  }

  static func walk(_ count: Int) throws {
    let face = try filled(count)
    try counted {
      try face.work { context in
        var found = 0
        try face.walk(context) { found += 1 }
        try require(found == count)
      }
    }
  }

  static func read(_ count: Int) throws {
    let face = try filled(count)
    try counted {
      try face.work { context in
        var sum = 0
        for one in try face.aircraft(context) { sum += face.whole(one) }
        try require(sum > 0)
      }
    }
  }

  static func readOne(_ count: Int) throws { try readOne(count) { $0.hours($1) } }

  static func readOne(_ count: Int, _ hours: (F, F.Aircraft) -> Double) throws {
    let face = try filled(count)
    try face.work { context in
      let all = try face.aircraft(context)
      var sum = 0.0
      for one in all { sum += hours(face, one) }
      counted { for _ in 0..<FaceData.readings { for one in all { sum += hours(face, one) } } }
      try require(sum > 0)
    }
  }

  static func toOne(_ count: Int) throws {
    let face = try filled(count)
    try counted { try face.work { context in try require(try face.years(context) > 0) } }
  }

  static func toMany(_ count: Int) throws {
    let face = try filled(count)
    try counted {
      try face.work { context in
        var distance = 0
        for one in try face.aircraft(context) { distance += face.distance(one) }
        try require(distance > 0)
      }
    }
  }

  static func change(_ count: Int) throws {
    let face = try filled(count)
    try counted {
      try face.work { context in
        for one in try face.aircraft(context) { face.setHours(-1, one) }
        try face.save(context)
      }
    }
  }
}
