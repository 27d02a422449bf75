import CambiumSwiftData
import CambiumTesting
import Foundation

/// A version that is combined of parts.
protocol CombinedVersion: VersionedSchema {
  static var parts: [any SchemaPart.Type] { get }
}

/// The versions of the chain that a test works with, by their types.
enum ChainNumbers {
  @TaskLocal static var numbers: [ObjectIdentifier: Int] = [:]
}

enum Combined<A: SchemaPart, B: SchemaPart, C: SchemaPart, D: SchemaPart>: CombinedVersion {
  static var parts: [any SchemaPart.Type] { [A.self, B.self, C.self, D.self] }
  static var models: [any PersistentModel.Type] { A.models + B.models + C.models + D.models }
  static var versionIdentifier: Schema.Version {
    Schema.Version(1, ChainNumbers.numbers[ObjectIdentifier(Self.self)] ?? 0, 0)
  }
}

/// A random chain of versions, with a stage from each to the next.
struct RandomChain {
  /// What a stage does.
  enum Step {
    case lightweight
    case custom(will: Bool, did: Bool)
    case comparing
  }

  private static var kinds: [[any SchemaPart.Type]] {
    [
      [Persons1.self, Persons2.self, Persons3.self, Persons4.self], [Homes1.self, Homes2.self, Homes3.self],
      [Vehicles1.self, Vehicles2.self], [NoNotes.self, Notes1.self, Notes2.self, NotesGone.self],
    ]
  }

  let versions: [any CombinedVersion.Type]
  let steps: [Step]

  init(_ random: inout SplitMix64) {
    var places = Self.kinds.map { random.below($0.count - 1) }
    var versions = [Self.version(places)]
    var steps: [Step] = []
    // A version without notes is the same before they come and after they went.
    func key(_ places: [Int]) -> [Int] { places.dropLast() + [places[3] % (Self.kinds[3].count - 1)] }
    var known = [key(places)]
    for _ in 0..<1 + random.below(4) {
      let movable = places.indices.filter { places[$0] < Self.kinds[$0].count - 1 }
      guard !movable.isEmpty else { break }
      let first = random.pick(movable)
      for place in movable where place == first || random.oneIn(3) { places[place] += 1 }
      guard !known.contains(key(places)) else { break }
      known.append(key(places))
      versions.append(Self.version(places))
      switch random.below(4) {
      case 0, 1: steps.append(.lightweight)
      case 2: steps.append(.custom(will: random.oneIn(2), did: random.oneIn(2)))
      default: steps.append(random.oneIn(2) ? .comparing : .custom(will: true, did: true))
      }
    }
    (self.versions, self.steps) = (versions, steps)
  }

  private static func version(_ places: [Int]) -> any CombinedVersion.Type {
    func combine<A: SchemaPart, B: SchemaPart, C: SchemaPart, D: SchemaPart>(
      _ a: A.Type, _ b: B.Type, _ c: C.Type, _ d: D.Type
    ) -> any CombinedVersion.Type { Combined<A, B, C, D>.self }
    let parts = zip(kinds, places).map { $0[$1] }
    return combine(parts[0], parts[1], parts[2], parts[3])
  }

  /// In messages.
  var text: String { "\(versions), \(steps)" }

  /// Runs a block in which the versions have their numbers.
  func numbered<R>(_ body: () throws -> R) rethrows -> R {
    var numbers: [ObjectIdentifier: Int] = [:]
    for (number, version) in versions.enumerated() { numbers[ObjectIdentifier(version)] = number + 1 }
    return try ChainNumbers.$numbers.withValue(numbers, operation: body)
  }

  // MARK: Rows

  static func read(_ version: any CombinedVersion.Type, _ context: ModelContext) throws -> [[PartRow]] {
    try version.parts.map { sorted(try $0.read(context)) }
  }

  private static func sorted(_ rows: [PartRow]) -> [PartRow] {
    rows.sorted { ($0["text"] ?? "", $0.description.count) < ($1["text"] ?? "", $1.description.count) }
  }

  private static func touch(_ version: any CombinedVersion.Type, _ rows: [[PartRow]], _ mark: String) -> [[PartRow]] {
    zip(version.parts, rows).map { part, rows in rows.map { part.touched($0, mark) } }
  }

  /// What becomes of rows of a version by the stages from there on: the plain run in memory.
  func migrated(_ rows: [[PartRow]], from start: Int) -> [[PartRow]] {
    var rows = rows
    for place in start..<steps.count {
      if case .custom(true, _) = steps[place] { rows = Self.touch(versions[place], rows, "w\(place)") }
      rows = zip(versions[place + 1].parts, zip(versions[place].parts, rows)).map { part, former in
        ObjectIdentifier(part) == ObjectIdentifier(former.0) ? former.1 : former.1.compactMap { part.became($0) }
      }
      switch steps[place] {
      case .lightweight, .custom(_, false): break
      case .custom(_, true): rows = Self.touch(versions[place + 1], rows, "d\(place)")
      case .comparing: rows = Self.touch(versions[place + 1], rows, "c\(place)")
      }
    }
    return rows.map(Self.sorted)
  }

  // MARK: The plan

  /// The stages. `pass` is called where the process may end: at the beginning of a handler, and after each save.
  func stages(_ pass: @escaping () throws -> Void) -> [MigrationStage] {
    func touch(_ version: any CombinedVersion.Type, _ mark: String) -> (ModelContext) throws -> Void {
      { context in
        try pass()
        for part in version.parts {
          try part.touch(context, mark)
          guard context.hasChanges else { continue }
          try context.save()
          try pass()
        }
      }
    }
    return steps.indices.map { place in
      let (from, to) = (versions[place], versions[place + 1])
      switch steps[place] {
      case .lightweight: return .lightweight(fromVersion: from, toVersion: to)
      case .custom(let will, let did):
        return .custom(
          fromVersion: from, toVersion: to, willMigrate: will ? touch(from, "w\(place)") : nil,
          didMigrate: did ? touch(to, "d\(place)") : nil)
      case .comparing:
        return .custom(from: from, to: to) { old, new in
          let before = try Self.read(from, old)
          try touch(to, "c\(place)")(new)
          // The old context shows what it showed.
          old.rollback()
          guard try Self.read(from, old) == before else { throw SwiftDataError.unknownSchema }
        }
      }
    }
  }
}
