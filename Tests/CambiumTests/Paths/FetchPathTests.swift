import CambiumEngine
import Foundation
import Testing

@testable import Cambium

final class PlaneObject: ManagedObject, FetchPaths {
  struct Paths: Sendable {
    let tail = FetchPath<PlaneObject, String>("tail")
    let seats = FetchPath<PlaneObject, Int>("seats")
    let engines = FetchPath<PlaneObject, Int>("engines")
    let hours = FetchPath<PlaneObject, Double>("hours")
    let isActive = FetchPath<PlaneObject, Bool>("isActive")
    let built = FetchPath<PlaneObject, Date>("built")
    let note = FetchPath<PlaneObject, String>("note")
    let paint = FetchPath<PlaneObject, ColorScheme>("paint")
    let owner = FetchPath<PlaneObject, OwnerObject>("owner")
    let legs = FetchCollection<PlaneObject, LegObject>("legs")
    let wrong = FetchPath<PlaneObject, String>("nothing")
  }
  static let paths = Paths()
}

final class OwnerObject: ManagedObject, FetchPaths {
  struct Paths: Sendable {
    let name = FetchPath<OwnerObject, String>("name")
    let city = FetchPath<OwnerObject, String>("city")
    let planes = FetchCollection<OwnerObject, PlaneObject>("planes")
  }
  static let paths = Paths()
}

// Not final, as a class that others inherit from.
class LegObject: ManagedObject, FetchPaths {
  struct Paths: Sendable {
    let minutes = FetchPath<LegObject, Int>("minutes")
    let remarks = FetchPath<LegObject, String>("remarks")
    let plane = FetchPath<LegObject, PlaneObject>("plane")
  }
  static let paths = Paths()
}

extension ColorScheme: FetchPaths {
  struct Paths: Sendable {
    let primary = FetchPath<ColorScheme, PaintColor>("primary")
    let secondary = FetchPath<ColorScheme, PaintColor>("secondary")
  }
  static let paths = Paths()
}

/// Predicates and orders made of typed paths.
@Suite struct FetchPathTests {
  private let planes: Planes

  init() throws { planes = try Planes() }

  /// Compares a predicate's text, and what the store finds by it with what it finds by the text.
  private func check(
    _ condition: (PlaneObject.Paths) -> FetchPredicate, _ format: String, _ tails: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let predicate = condition(PlaneObject.paths)
    #expect(predicate.predicateFormat == format, sourceLocation: sourceLocation)
    #expect(try FetchPredicate(format: format) == predicate, sourceLocation: sourceLocation)
    #expect(try planes.stored(predicate) == tails, sourceLocation: sourceLocation)
  }

  @Test func comparisons() throws {
    try check({ $0.tail == "N1" }, "tail == \"N1\"", ["N1"])
    try check({ $0.seats == nil }, "seats == NULL", ["N2"])
    let none: Int? = nil
    try check({ $0.seats != none }, "seats != NULL", ["N1", "D3", "D4", "D5"])
    try check({ $0.seats != 4 }, "seats != 4", ["N2", "D3", "D4", "D5"])
    try check({ $0.hours >= 1200.5 }, "hours >= 1200.5", ["N1", "D4"])
    try check({ $0.hours < 12 }, "hours < 12.0", ["N2"])
    try check({ $0.engines <= $0.seats }, "engines <= seats", ["N1", "D3", "D4", "D5"])
    try check({ $0.engines == $0.seats }, "engines == seats", ["D5"])
    try check({ $0.engines > 1 }, "engines > 1", ["N2", "D4", "D5"])
    try check({ $0.isActive == true }, "isActive == TRUE", ["N1", "D3", "D4"])
    try check(
      { $0.built > Date(timeIntervalSinceReferenceDate: 4000) }, "built > CAST(4000.0, \"NSDate\")", ["D5"])
    try check({ $0.seats.between(1, 4) }, "seats BETWEEN {1, 4}", ["N1", "D3", "D5"])
    try check({ $0.seats.between(1...2) }, "seats BETWEEN {1, 2}", ["D3", "D5"])
    try check({ $0.tail.in(["N1", "D5"]) }, "tail IN {\"N1\", \"D5\"}", ["N1", "D5"])
    try check({ $0.seats.in([nil, 180]) }, "seats IN {NULL, 180}", ["N2", "D4"])
  }

  /// A path with an operator goes on from where it is used; a name that is a word of the language is itself in an
  /// order.
  @Test func operatorsAndWords() throws {
    let legs = FetchPath<PlaneObject, Int>("legs.@count")
    let owner = FetchPath<LegObject, PlaneObject>("plane")
    #expect(legs.fetchExpression == FetchExpression(forKeyPath: "legs.@count"))
    struct Paths: Sendable { let legCount = FetchPath<PlaneObject, Int>("legs.@count") }
    let longer = CambiumEngine.Expression.keyPath("plane").appending(.aggregate(.count, .keyPath("legs"), path: nil))
    #expect(longer == .aggregate(.count, .keyPath("plane.legs"), path: nil))
    #expect(owner.keyPath == "plane" && legs.keyPath == "legs.@count")
    let word = FetchPath<PlaneObject, String>("like")
    #expect(word.keyPath == "like" && word.ascending == FetchSortDescriptor(key: "like"))
    #expect((word == "x").predicateFormat == "#like == \"x\"")
  }

  @Test func logicAndText() throws {
    try check(
      { $0.isActive == true && $0.engines == 2 && !($0.hours < 100) },
      "isActive == TRUE AND engines == 2 AND NOT hours < 100.0", ["D4"])
    try check({ $0.tail == "N1" || $0.tail == "N2" }, "tail == \"N1\" OR tail == \"N2\"", ["N1", "N2"])
    try check({ $0.tail.beginsWith("n", .caseInsensitive) }, "tail BEGINSWITH[c] \"n\"", ["N1", "N2"])
    try check(
      { $0.note.contains("Blue", [.caseInsensitive, .diacriticInsensitive]) }, "note CONTAINS[cd] \"Blue\"",
      ["N1", "D4"])
    try check({ $0.note.endsWith("stripe") }, "note ENDSWITH \"stripe\"", ["N1"])
    try check({ $0.note.like("b*e", .caseInsensitive) }, "note LIKE[c] \"b*e\"", ["N1", "D4"])
    try check({ $0.note.equals("BLUE", .caseInsensitive) }, "note ==[c] \"BLUE\"", ["D4"])
    try check({ $0.note.matches("[Bb]lue.*") }, "note MATCHES \"[Bb]lue.*\"", ["N1", "D4"])
    try check({ $0.note.length == 2 }, "length(note) == 2", ["D5"])
    try check({ $0.note.lowercased == "blue" }, "lowercase(note) == \"blue\"", ["D4"])
  }

  @Test func pathsThroughCompositesAndRelationships() throws {
    try check({ $0.paint.primary == .white }, "paint.primary == \"white\"", ["N1", "D5"])
    try check({ $0.paint.secondary == nil }, "paint.secondary == NULL", ["N2", "D3", "D5"])
    try check({ $0.owner.name == "Bob" }, "owner.name == \"Bob\"", ["N2", "D4"])
    try check({ $0.owner == nil }, "owner == NULL", ["D3"])
    let ann = try #require(try planes.context.all("Owner", "name == 'Ann'").first)
    let owner = FetchPath<PlaneObject, ManagedObject>("owner")
    #expect(try planes.stored(owner == ann) == ["N1", "D5"])
    #expect(try planes.stored(FetchPath<PlaneObject, ManagedObjectID>("owner") == ann.objectID) == ["N1", "D5"])
    // Nothing in the store is equal to an object that is not saved.
    let new = try planes.context.make("Owner", ["name": "New"])
    #expect(try planes.stored(owner == new) == [])
  }

  @Test func collections() throws {
    try check({ $0.legs.any { $0.minutes > 90 } }, "ANY legs.minutes > 90", ["N1", "D4"])
    try check({ $0.legs.all { $0.minutes > 20 } }, "ALL legs.minutes > 20", ["N1", "N2", "D3"])
    try check({ $0.legs.none { $0.remarks == nil } }, "NOT ANY legs.remarks == NULL", ["N2", "D3"])
    try check(
      { plane in plane.legs.any { $0.minutes < plane.engines } }, "ANY legs.minutes < engines", ["D5"])
    try check(
      { $0.legs.any { $0.minutes > 60 && $0.remarks != nil } },
      "SUBQUERY(legs, $x1, $x1.minutes > 60 AND $x1.remarks != NULL).@count > 0", ["N1", "N2"])
    try check(
      { $0.owner.planes.any { $0.legs.any { $0.minutes == 61 } } }, "ANY owner.planes.legs.minutes == 61", ["N2", "D4"])
    try check(
      { $0.owner.planes.any { plane in plane.legs.any { $0.minutes > plane.seats && $0.minutes > 600 } } },
      "SUBQUERY(owner.planes, $x1, SUBQUERY($x1.legs, $x2, $x2.minutes > $x1.seats AND $x2.minutes > 600).@count > 0)"
        + ".@count > 0", ["N2", "D4"])
    try check({ $0.legs.count > 2 }, "legs.@count > 2", ["D4"])
    try check({ $0.legs.isEmpty }, "legs.@count == 0", ["D3"])
    try check(
      { $0.legs.count { $0.minutes > 50 } == 1 }, "SUBQUERY(legs, $x1, $x1.minutes > 50).@count == 1", ["N1", "N2"])
    try check({ $0.legs.sum(\.minutes) > 200 }, "legs.@sum.minutes > 200", ["D4"])
    try check(
      { $0.legs.max(\.minutes) == $0.legs.min(\.minutes) }, "legs.@max.minutes == legs.@min.minutes", ["N2", "D3"])
    try check({ $0.legs.average(\.minutes) > 62 }, "legs.@avg.minutes > 62.0", ["N1", "D4"])
    let fog = try #require(try planes.context.all("Leg", "remarks == 'fog'").first)
    #expect(try planes.stored(FetchCollection<PlaneObject, ManagedObject>("legs").contains(fog)) == ["N2"])
  }

  @Test func arithmetic() throws {
    try check({ $0.engines + 1 == $0.seats }, "(engines + 1) == seats", ["D3"])
    try check({ $0.hours / 2 * 3 > 300 - $0.hours }, "((hours / 2.0) * 3.0) > (300.0 - hours)", ["N1", "D3", "D4"])
    try check({ -$0.engines < -1 }, "-(engines) < -1", ["N2", "D4", "D5"])
    try check({ $0.engines % 2 == 1 }, "modulus:by:(engines, 2) == 1", ["N1"])
  }

  @Test func requests() throws {
    let request = FetchRequest<PlaneObject>(entityName: "Plane")
    request.filter { $0.engines == 2 }.filter { $0.seats != nil }.sort { [$0.isActive.ascending, $0.hours.descending] }
    let tail = PlaneObject.paths.tail
    #expect(try planes.context.fetch(request).map { $0.value(forKey: tail.keyPath) as? String } == ["D5", "D4"])
    request.filter { $0.wrong == "x" }
    #expect(cambiumError { _ = try planes.context.fetch(request) }?.code == .invalidPredicate)

    let colors = FetchRequest<[String: Any]>(entityName: "Plane")
    let paths = PlaneObject.paths
    colors.propertiesToGroupBy = [paths.paint.primary.keyPath]
    colors.propertiesToFetch = [
      paths.paint.primary.fetchProperty, .expression("hours", .sum(paths.hours.fetchExpression)),
    ]
    colors.sortDescriptors = [paths.paint.primary.descending]
    #expect(try planes.context.fetch(colors).map { $0["hours"] as? Double } == [1212.5, 0, 100_000, 333])
  }
}
