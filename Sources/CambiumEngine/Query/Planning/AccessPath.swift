import CambiumKernel

/// A way to find rows. The rows that it gives contain all that the conditions it was made for hold for; whether they
/// are just those is said by who made it.
indirect enum AccessPath {
  /// Every row.
  case scan
  /// No row: a condition never holds.
  case nothing
  /// These rows, ascending.
  case rows([UInt64])
  /// What ranges of an index hold.
  case ranges(IndexRanges)
  /// These rows, ascending: a range of an index for each value of its first part has them.
  case skipped(KeyMaker, [UInt64])
  /// The places that a spatial index has in an area.
  case places(PlaceRows)
  /// What any of them gives.
  case union([Alternative])
  /// What all of them give.
  case intersection([Narrowing])
  /// What is related to rows of another entity.
  case related(RelatedRows)

  /// Whether all rows are looked at.
  var isScan: Bool {
    if case .scan = self { return true }
    return false
  }

  /// Whether rows may be named that are not there.
  var mayNameMissingRows: Bool {
    switch self {
    case .scan, .nothing, .ranges, .skipped, .places: return false
    case .rows: return true
    case .related(let related):
      // What is kept in other rows may lead to one that was deleted.
      if case .toMany = related.way { return true }
      return false
    case .union(let alternatives): return alternatives.contains { $0.path.mayNameMissingRows }
    case .intersection(let parts): return parts.contains { $0.path.mayNameMissingRows }
    }
  }

  /// One of the alternatives of a union.
  struct Alternative {
    let path: AccessPath
    let rows: Double
  }
}

/// Rows whose places lie in an area.
struct PlaceRows {
  let maker: KeyMaker
  let area: SpatialArea
}

/// Rows of an entity found by way of the rows of another: those from which a relationship leads to objects that were
/// found.
struct RelatedRows {
  enum Way {
    /// By the tree of a to-one relationship of the rows wanted.
    case toOne(tree: TreeID)
    /// By the field of the to-one relationship that is the inverse of a to-many one of the rows wanted.
    case toMany(inverse: RelationshipSchema)
    /// By the inverse, which is kept as well: transactions write both ends of every link.
    case inverse(RelationshipSchema)
  }

  /// The objects that it is followed from.
  enum Ends {
    /// Those that a fetch of the destination finds.
    case found(EntitySchema, FetchPlan)
    /// Those in these rows.
    case rows([UInt64])
  }

  let relationship: RelationshipSchema
  let way: Way
  let ends: Ends
  /// How many of the objects at least have to lead back to a row; more than 1 only along a to-many relationship.
  var least = 1
  /// The rows at the other end, if finding them took so little that the planner did it.
  var known: [UInt64]?
}

/// A way to find rows by something else than looking at all of them.
struct Narrowing {
  var path: AccessPath
  /// About how many rows it gives.
  var rows: Double
  /// What finding them costs, reading them not included.
  var cost: Double
  /// The conditions, by place, that hold for what it gives, and for nothing else: they need not be asked again.
  var covered: [Int]

  /// Whether indexes tell how many rows there are.
  var isCounted: Bool {
    switch path {
    case .ranges, .rows, .skipped: return true
    case .related(let related): return related.known != nil
    default: return false
    }
  }
}

/// How a fetch is done: the rows that are looked at, and what is asked of them.
struct FetchPlan {
  var path: AccessPath
  /// What is asked of each row; nil if it is one that is sought.
  var residual: Predicate?
  /// An index that gives the rows in the order asked for, instead of ``path``.
  var order: OrderedIndex?
  /// The best plan that sorts, for the case that going through an index in order takes longer than the planner
  /// expects: one, or none.
  var sorting: [FetchPlan] = []
  /// A spatial index that gives the nearest rows first, instead of ``path``, if that is the order asked for.
  var nearest: NearestOrder?
  /// About how many rows are looked at.
  var rows: Double
  /// About how many rows the best index gives; nil if there is none.
  var matches: Double?
  /// What all of it costs, in the time to look at a row of a scan.
  var cost: Double
  /// Whether to end; see ``EngineFetch/isCancelled``.
  var isCancelled: (@Sendable () -> Bool)?
  /// See ``EngineFetch/usesIndexes``.
  var usesIndexes = true
  /// Whether rows are found in the order asked for.
  var isInOrder: Bool { order != nil || nearest != nil }
}

/// An index, or a stretch of one, whose entries stand in the order that a fetch asks for.
struct OrderedIndex {
  let ranges: IndexRanges
  /// Whether it is gone through from its end.
  let isReversed: Bool
  /// How many of the index's parts the order is by, those included that are the same for all. Rows with the same ones
  /// come by their number, whatever the other parts.
  let parts: Int
  /// Whether that is the whole order. If not, it is by other keys as well, and rows with the same parts have to be
  /// sorted.
  let sortsAll: Bool
  /// Whether the order leaves parts of the index open.
  var isOfSomeParts: Bool { parts < ranges.maker.paths.count }
}

/// A spatial index whose places are gone through from a place on, the nearest first.
struct NearestOrder {
  let maker: KeyMaker
  let distance: SpatialDistance
  /// What the conditions leave of the places, if they do; then rows without a place are left out as well.
  let area: SpatialArea?
}

/// What steps cost, in the time to look at a row of a scan.
struct PlanCosts {
  /// A row of a scan.
  var scannedRow = 1.0
  /// A row of a scan of which a number or text of its own is looked at, and hardly more, and the share of such rows
  /// that are looked at more closely.
  var siftedRow = 0.4
  var passing = 0.3
  /// A key of an index, read in order.
  var key = 1.2
  /// A place of a spatial index, with what is read around it and compared.
  var place = 2.0
  /// A row that is sought among others in ascending order.
  var soughtRow = 4.0
  /// A row that is sought in no order.
  var strayRow = 12.0
  /// Asking a row something that the evaluator computes.
  var computed = 50.0
  /// Asking a row something that a program computes.
  var programmed = 0.6
  /// Asking a row something about the object at the other end of a to-one relationship, which is known for most rows.
  var destination = 0.5
  /// Comparing with an element of a list.
  var listed = 0.7
  /// Asking a row something that is to be read elsewhere.
  var readElsewhere = 25.0
  /// The way from a row to the beginning of what is related to it.
  var related = 15.0
  /// The same, where a row is asked about what is related to it.
  var links = 15.0
  /// The way to the beginning of a range.
  var range = 12.0
  /// Putting a row in order.
  var sortedRow = 4.0
  /// Looking at a row once more when its place in an order is known.
  var lateRow = 6.0

  /// The planner looks for no better way if a known one costs less than `planned`. It reads rows to estimate a
  /// condition only if a fetch may cost more than `sampled`.
  var planned = 600.0
  var sampled = 4000.0

  /// As measured; see Specs/07-predicates.md.
  static let measured = PlanCosts()
}
