/// How a fetch is done: which indexes are used, what is asked of each row, and about how many rows there are to it.
///
/// Made by `EntityView.explain`. The text is for people, and may change; tests of plans go by ``kinds``.
public struct QueryExplanation: Sendable, CustomStringConvertible {
  /// What plans are made of.
  public enum Kind: String, CaseIterable, Sendable {
    /// Every row is looked at.
    case scan
    /// No row is: a condition never holds.
    case nothing
    /// Rows by their identity.
    case identity
    /// Equality of all, or of the first, parts of an index.
    case equality
    /// Several values of a part of an index.
    case list
    /// A range of a part of an index.
    case range
    /// A range of an index behind parts that are compared for equality.
    case compound
    /// Texts that begin alike.
    case prefix
    /// A range of an index for each value of its first part.
    case skipped
    /// All of an index.
    case wholeIndex
    /// An index of which the conditions say that it holds all rows sought.
    case partialIndex
    /// Places in an area, by a spatial index.
    case places
    /// The nearest places first, by a spatial index.
    case nearest
    /// What any of several plans finds.
    case union
    /// What all of several plans find.
    case intersection
    /// From the objects at the other end of a to-one relationship.
    case toOne
    /// From the objects of a to-many relationship.
    case toMany
    /// An index has the order asked for.
    case orderedIndex
    /// All that is found is put in order.
    case sort
    /// What is found is put in order, and no more kept than is wanted.
    case boundedSort
    /// Rows are not looked at: what finds them decides.
    case undecoded
    /// Groups or distinct values are stretches of an index: of their rows, hardly more than the first ones are looked
    /// at.
    case coveringIndex
  }

  /// A step, those that it needs behind it and deeper.
  public struct Step: Sendable {
    /// How deep it stands.
    public var depth: Int
    /// What is done.
    public var text: String
    /// About how many rows it gives.
    public var estimatedRows: Int?
  }

  /// The steps.
  public internal(set) var steps: [Step] = []
  /// What the plan is made of.
  public internal(set) var kinds: Set<Kind> = []
  /// About how many rows are looked at.
  public internal(set) var estimatedRows = 0
  /// How many objects were found, if the fetch was run.
  public internal(set) var actualRows: Int?

  /// The steps, one a line, those that another one needs indented.
  public var description: String {
    var text = ""
    for step in steps {
      if !text.isEmpty { text += "\n" }
      for _ in 0..<step.depth { text += "  " }
      text += step.text
      if let rows = step.estimatedRows { text += ", about \(rows) row" + (rows == 1 ? "" : "s") }
    }
    if let actualRows { text += "\nfound \(actualRows)" }
    return text
  }

  /// Returns the integer nearest to an estimated number of rows, between 0 and `limit`. Returns 0 for a NaN.
  ///
  /// `Int` has 32 bits on some targets, so a conversion without a limit traps there at 2^31 rows. `rounded()` would
  /// need a mathematics library, which the engine does not import.
  ///
  /// - Parameter limit: The greatest result. Tests pass that of a 32-bit `Int`.
  static func count(_ rows: Double, limit: Int = .max) -> Int {
    guard rows >= 0.5 else { return 0 }
    return rows >= Double(limit) ? limit : Int(rows + 0.5)
  }

  @_optimize(none)
  mutating func add(_ text: String, _ rows: Double?, _ depth: Int) {
    steps.append(Step(depth: depth, text: text, estimatedRows: rows.map { Self.count($0) }))
  }
}

extension EntityView {
  /// How a fetch is done; with `running`, also how many objects it finds, for which it is done.
  ///
  /// - Throws: what ``fetch(_:)`` throws.
  @_optimize(none)
  public func explain(_ fetch: EngineFetch, running: Bool = false) throws(EngineError) -> QueryExplanation {
    let chosen = try choose(fetch)
    if !fetch.sort.isEmpty { try requireSortable(fetch) }
    var explanation = QueryExplanation()
    explanation.estimatedRows = QueryExplanation.count(chosen.rows)
    explanation.add(chosen, fetch.entity, fetch, depth: 0)
    if running { explanation.actualRows = try self.fetch(fetch).count }
    return explanation
  }
}

extension QueryExplanation {
  @_optimize(none)
  init(_ groups: IndexGroups) {
    kinds = [.coveringIndex]
    add(groups.ranges, nil, 0, suffix: groups.isOne ? ", by its ends" : ", a stretch for each group")
  }

  @_optimize(none)
  init(_ index: DistinctIndex) {
    let isDecided = index.residual == nil
    kinds = [isDecided ? .coveringIndex : .orderedIndex]
    add(index.ranges, nil, 0, suffix: isDecided ? ", each value once" : ", of the rows with the same values one")
    if let tail = index.tail {
      let path = index.ranges.maker.paths[index.parts]
      let count = tail.ranges.count
      add("behind each, \(count == 1 ? "one range" : "\(count) ranges") of " + path, nil, 1)
    }
    if let residual = index.residual { add("for which " + residual.description, nil, 0) }
  }

  @_optimize(none)
  fileprivate mutating func add(_ plan: FetchPlan, _ entity: EntitySchema, _ fetch: EngineFetch?, depth: Int) {
    if let order = plan.order {
      kinds.insert(.orderedIndex)
      add(
        order.ranges, plan.rows, depth,
        suffix: (order.isReversed ? ", from its end" : "")
          + (order.sortsAll ? ", in the order asked for" : ", in the order of the first keys"))
      if !order.sortsAll { add("rows with the same first keys put in order", nil, depth) }
    } else if let nearest = plan.nearest {
      kinds.insert(.nearest)
      add("the nearest first, by " + name(of: nearest.maker), plan.rows, depth)
    } else {
      add(plan.path, plan.rows, entity, depth)
    }
    if let residual = plan.residual {
      add("of these, those for which " + residual.description, nil, depth)
    } else if case .scan = plan.path {
    } else if !plan.isInOrder, fetch?.sort.isEmpty ?? true {
      kinds.insert(.undecoded)
    }
    guard let fetch, !fetch.sort.isEmpty, !plan.isInOrder else { return }
    addOrder(of: fetch, depth)
  }

  /// What is found is put in order.
  @_optimize(none)
  mutating func addOrder(of fetch: EngineFetch, _ depth: Int = 0) {
    if let limit = fetch.limit {
      kinds.insert(.boundedSort)
      add("put in order, the first \(max(0, limit).addingSaturating(max(0, fetch.offset))) kept", nil, depth)
    } else {
      kinds.insert(.sort)
      add("put in order", nil, depth)
    }
  }

  @_optimize(none)
  private mutating func add(_ path: AccessPath, _ rows: Double, _ entity: EntitySchema, _ depth: Int) {
    switch path {
    case .scan:
      kinds.insert(.scan)
      add("scan of " + entity.name, rows, depth)
    case .nothing:
      kinds.insert(.nothing)
      add("nothing: a condition never holds", nil, depth)
    case .rows(let rows):
      kinds.insert(.identity)
      add("by identity", Double(rows.count), depth)
    case .ranges(let ranges): add(ranges, rows, depth, suffix: "")
    case .skipped(let maker, let rows):
      kinds.insert(.skipped)
      add("a range for each first value of " + name(of: maker), Double(rows.count), depth)
    case .places(let places):
      kinds.insert(.places)
      if case .box = places.area {
        add("places in a rectangle of " + name(of: places.maker), rows, depth)
      } else {
        add("places within a distance, by " + name(of: places.maker), rows, depth)
      }
    case .union(let alternatives):
      kinds.insert(.union)
      add("any of", rows, depth)
      for alternative in alternatives { add(alternative.path, alternative.rows, entity, depth + 1) }
    case .intersection(let parts):
      kinds.insert(.intersection)
      add("all of", rows, depth)
      for part in parts { add(part.path, part.rows, entity, depth + 1) }
    case .related(let related):
      kinds.insert(related.relationship.isToMany ? .toMany : .toOne)
      add("those that '\(related.relationship.name)' leads from", rows, depth)
      switch related.ends {
      case .rows(let ends): add("to \(ends.count) given object" + (ends.count == 1 ? "" : "s"), nil, depth + 1)
      case .found(let destination, let plan): add(plan, destination, nil, depth: depth + 1)
      }
    }
  }

  @_optimize(none)
  private mutating func add(_ ranges: IndexRanges, _ rows: Double?, _ depth: Int, suffix: String) {
    let maker = ranges.maker
    let name = name(of: maker)
    let what: String
    switch ranges.shape {
    case .open:
      kinds.insert(.wholeIndex)
      what = "all of "
    case .equality:
      kinds.insert(.equality)
      what = "one value of "
    case .list:
      kinds.insert(.list)
      what = "\(ranges.ranges.count) values of "
    case .range:
      kinds.insert(.range)
      what = "a range of "
    case .prefix:
      kinds.insert(.prefix)
      what = "a prefix of "
    }
    if ranges.equalParts > 0, ranges.shape != .equality { kinds.insert(.compound) }
    add(what + name + suffix, rows, depth)
  }

  private mutating func name(of maker: KeyMaker) -> String {
    if maker.partial != nil { kinds.insert(.partialIndex) }
    var paths = ""
    for path in maker.paths { paths += paths.isEmpty ? path : ", " + path }
    return maker.isUnique ? "the unique (\(paths))" : "index '\(maker.name)' on (\(paths))"
  }
}
