import CambiumKernel

/// For how many objects of a to-many relationship a condition holds, by owner.
///
/// Owners are asked one by one at first, link by link. When that has cost as much as finding all objects for which
/// the condition holds, these are found, and the owners that they lead back to are counted. So it costs at most
/// about twice as much as the better way, for each thread that scans, and nothing has to be known beforehand.
final class OwnerCounts {
  private let reader: PathReader
  private let destination: EntitySchema
  private let inverse: RelationshipSchema
  private let condition: Predicate
  /// The condition as one of the owner, if it is about nothing but the owner of the object that it is asked of.
  private let own: (test: DestinationTest, whenNull: Bool)?
  private var spent = 0.0
  private var plan: FetchPlan?
  /// By row.
  @exclusivity(unchecked) private var counts: [UInt32]?
  /// Whether owners are asked one by one to the end, because there are too many to be counted.
  private var isRefused = false

  /// Owners have row numbers below that, so that their counts take 16 MiB at most.
  private static let mostOwners: UInt64 = 1 << 22
  /// At most 16 conditions of one fetch have counts by owner, because each takes up to 16 MiB. The filter asks further
  /// conditions owner by owner.
  static let mostConditions = 16

  /// Nil for a relationship whose objects do not lead back by their own rows, and for conditions that may give
  /// another answer at another time.
  ///
  /// - Parameter reader: That of the fetch, which knows whether to end, and whether indexes may be used.
  init?(_ relationship: RelationshipSchema, _ condition: Predicate, _ reader: PathReader) {
    let view = reader.view
    guard reader.usesIndexes, reader.countedConditions < Self.mostConditions else { return nil }
    let schema = view.store.schema
    guard case .derived = RelationshipStorage(relationship, in: schema), !condition.isVolatile,
      let inverse = schema.inverse(of: relationship), let destination = schema.entity(named: relationship.destination)
    else { return nil }
    reader.countedConditions += 1
    self.reader = reader
    self.destination = destination
    self.inverse = inverse
    self.condition = condition
    if let moved = DestinationCondition(condition, of: destination), moved.relationship.id == inverse.id {
      own = (DestinationTest(moved.predicate, view), moved.whenNull)
    } else {
      own = nil
    }
  }

  /// Whether the condition holds for all objects of an owner, or for none, because it is about the owner; nil if it
  /// is about the objects.
  func holdsForAll(of owner: ObjectReference) throws(EngineError) -> Bool? {
    try own.map { (own) throws(EngineError) in
      try own.test.holds(for: PackedReference.pack(owner), whenNull: own.whenNull)
    }
  }

  /// Asks an owner by looking at its objects until the answer is known, but at no more than may be worth while; then
  /// all objects are found.
  ///
  /// - Parameter visit: Looks at so many objects at most, and adds to the number how many there were. Gives the answer,
  ///   which counts if there were fewer.
  /// - Returns: What `visit` gave, or nil if the count of the owner is known now.
  func ask<Answer>(
    _ visit: (_ visited: inout Int, _ limit: Int) throws(EngineError) -> Answer
  ) throws(EngineError) -> Answer? {
    if isRefused {
      var unused = 0
      return try visit(&unused, .max)
    }
    while counts == nil, !isRefused {
      let limit = Int(min(max(16, left / PlanCosts.measured.strayRow), 1e9))
      var visited = 0
      let answer = try visit(&visited, limit)
      try note(links: visited)
      if visited < limit { return answer }
    }
    return isRefused ? try ask(visit) : nil
  }

  /// The cost that asking single owners may still have, before `note` makes a plan or `gather` finds all objects.
  private var left: Double { max(0, (plan?.cost ?? Self.unplanned) - spent) }

  /// So much may be spent before a plan is made, which takes a while itself.
  private static let unplanned = 600.0

  /// The count of an owner; nil as long as it is to be asked itself.
  func count(of row: UInt64) -> Int? {
    guard let counts else { return nil }
    return row < UInt64(counts.count) ? Int(counts[Int(row)]) : 0
  }

  /// Notes that an owner was asked, by looking at so many objects.
  func note(links: Int) throws(EngineError) {
    if counts != nil { return }
    let costs = PlanCosts.measured
    spent += costs.links + Double(links) * costs.strayRow
    let plan: FetchPlan
    if let known = self.plan {
      plan = known
    } else {
      if spent < Self.unplanned { return }
      plan = try FetchPlanner(reader.view, destination, costs: costs, reader.isCancelled).choose(condition)
      self.plan = plan
    }
    if spent >= plan.cost { try gather(plan) }
  }

  private func gather(_ plan: FetchPlan) throws(EngineError) {
    var counts: [UInt32] = []
    var known: (layout: UInt16, field: Int?)?
    try reader.view.find(plan, in: destination, reader.isCancelled) { (row) throws(EngineError) in
      if known?.layout != row.layoutID { known = (row.layoutID, row.layout.fieldByName[inverse.name]) }
      guard let field = known?.field else { return true }
      let record = row.record
      let owner = try storing { () throws(StoreError) in try record.reference(at: field) }
      guard let owner else { return true }
      let number = PackedReference.unpack(owner).row
      if number >= Self.mostOwners {
        isRefused = true
        return false
      }
      if number >= UInt64(counts.count) {
        let more = max(Int(number) + 1, min(counts.count * 2, Int(Self.mostOwners))) - counts.count
        counts.append(contentsOf: repeatElement(0, count: more))
      }
      counts[Int(number)] &+= isPlanted(.ownerCountedTwice) ? 2 : 1
      return true
    }
    if !isRefused { self.counts = counts }
  }
}

extension RelationshipReader {
  /// Whether the relationship leads to a row that a sieve of its destination lets through.
  func leads(
    from reference: ObjectReference, toOneOf sieve: RowSieve, _ counts: OwnerCounts?
  ) throws(EngineError) -> Bool {
    var unused = 0
    guard let counts else { return try leads(from: reference, toOneOf: sieve, visited: &unused, limit: .max) }
    if let holds = try counts.holdsForAll(of: reference) {
      return holds ? try count(from: reference, limit: 1) > 0 : false
    }
    let answer = try counts.ask { (visited, limit) throws(EngineError) in
      try leads(from: reference, toOneOf: sieve, visited: &visited, limit: limit)
    }
    return answer ?? (counts.count(of: reference.row) ?? 0 > 0)
  }

  /// To how many rows it leads that a sieve of its destination lets through. Where there are more than `enough`, the
  /// answer is `enough` at least.
  func count(
    from reference: ObjectReference, of sieve: RowSieve, _ counts: OwnerCounts?, enough: Int
  ) throws(EngineError) -> Int {
    var unused = 0
    guard let counts else {
      return try count(from: reference, of: sieve, visited: &unused, limit: .max, enough: enough)
    }
    if let holds = try counts.holdsForAll(of: reference) { return try holds ? count(from: reference) : 0 }
    let answer = try counts.ask { (visited, limit) throws(EngineError) in
      try count(from: reference, of: sieve, visited: &visited, limit: limit, enough: enough)
    }
    return answer ?? counts.count(of: reference.row) ?? 0
  }
}
