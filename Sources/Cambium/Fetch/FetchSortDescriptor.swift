import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One key of an order. Core Data: `NSSortDescriptor`; Foundation's `SortDescriptor` is another type.
///
/// Nulls come first in ascending order, but not in one of distances. For dictionaries the key may also be the name of
/// an expression.
public struct FetchSortDescriptor: Hashable, Sendable {
  /// A key path, through composites and to-one relationships.
  public var key: String
  /// Whether small values come first.
  public var ascending: Bool
  /// How strings are compared.
  public var comparator: FetchSortComparator
  /// If there is one, ``key`` leads to a composite with elements `latitude` and `longitude`, and the order is that of
  /// the distances from here.
  public var origin: FetchPlace?

  /// A key of an order.
  public init(key: String, ascending: Bool = true, comparator: FetchSortComparator = .binary) {
    self.key = key
    self.ascending = ascending
    self.comparator = comparator
  }

  /// The order of distances from a place, the nearest first; objects without a place come last.
  ///
  ///     request.sortDescriptors = [FetchSortDescriptor(distanceOf: "place.location", fromLatitude: 46.5, longitude: 8)]
  ///     request.fetchLimit = 10
  ///
  /// With an R-tree index on the latitude and the longitude, such a request reads only what is around the place.
  ///
  /// - Parameters:
  ///   - key: A key path to a composite with numbers `latitude` and `longitude`, in degrees.
  ///   - latitude: Degrees north of the equator.
  ///   - longitude: Degrees east of Greenwich.
  public init(
    distanceOf key: String, fromLatitude latitude: Double, longitude: Double, ascending: Bool = true
  ) {
    self.init(key: key, ascending: ascending)
    origin = FetchPlace(latitude: latitude, longitude: longitude)
  }

  /// The opposite order.
  public var reversedSortDescriptor: FetchSortDescriptor {
    var result = self
    result.ascending.toggle()
    return result
  }

  /// The same order with strings compared in another way.
  public func comparing(_ comparator: FetchSortComparator) -> FetchSortDescriptor {
    var result = self
    result.comparator = comparator
    return result
  }

  var engine: EngineSort {
    guard let origin else { return EngineSort(key, ascending: ascending, textOrder: comparator.order) }
    return EngineSort(
      distanceOf: key, from: EnginePlace(latitude: origin.latitude, longitude: origin.longitude), ascending: ascending)
  }
}

/// A place on the earth, in degrees.
public struct FetchPlace: Hashable, Sendable {
  /// Degrees north of the equator.
  public var latitude: Double
  /// Degrees east of Greenwich.
  public var longitude: Double

  /// A place.
  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }
}

/// How an order compares strings. Core Data: the selector of an `NSSortDescriptor`.
public struct FetchSortComparator: Hashable, Sendable {
  /// Tells comparators apart: two of the same name are equal.
  public let name: String
  let order: EngineTextOrder

  /// By the scalars of the strings' normal forms, in no language: upper case before lower case, "a10" before "a2". Core
  /// Data: `compare:`.
  public static let binary = FetchSortComparator("binary", .scalars)
  /// As ``binary``, with upper and lower case alike. Core Data: `caseInsensitiveCompare:`.
  public static let caseInsensitive = FetchSortComparator("caseInsensitive", .caseInsensitive)
  /// As ``caseInsensitive``, with numbers of the digits 0 to 9 by their value: "A2" before "a10". Nearest to Core
  /// Data's `localizedStandardCompare:` without a language.
  public static let natural = FetchSortComparator("natural", .natural)

  private init(_ name: String, _ order: EngineTextOrder) {
    self.name = name
    self.order = order
  }

  /// By a function of the application's, such as a collation of a language.
  ///
  ///     FetchSortComparator(name: "standard") { $0.localizedStandardCompare($1) }
  ///
  /// - Parameter compare: Is called for pairs of strings from one thread at a time; it must put them into one order.
  public init(name: String, compare: @escaping @Sendable (String, String) -> ComparisonResult) {
    self.init(name, .custom { compare($0, $1).rawValue })
  }

  /// Whether the names are the same.
  public static func == (a: FetchSortComparator, b: FetchSortComparator) -> Bool { a.name == b.name }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
