/// What leads where, as far as delete rules ask: stored links, or the objects of a context.
public protocol DeletionSource {
  /// An object.
  associatedtype Object: Hashable
  /// One of its relationships.
  associatedtype Relationship
  /// What reading throws.
  associatedtype Failure: Error

  /// The relationships of an object, with their rules. Those may be left out that have nothing to say about the
  /// deletion.
  func rules(of object: Object) throws(Failure) -> [(relationship: Relationship, rule: DeleteRule)]
  /// Where a relationship of an object leads.
  func destinations(of object: Object, by relationship: Relationship) throws(Failure) -> [Object]
}

/// What the deletion of some objects deletes, empties and denies, by the delete rules of their relationships.
///
/// It is gathered first, by ``init(of:in:)``, which only reads and may fail. To apply it then only writes.
public struct Deletion<Object: Hashable, Relationship> {
  /// A relationship of an object that is deleted, and a destination of it.
  public struct Lead {
    /// The object that is deleted.
    public let object: Object
    /// Its relationship.
    public let relationship: Relationship
    /// Where that leads.
    public let destination: Object

    @usableFromInline
    init(object: Object, relationship: Relationship, destination: Object) {
      (self.object, self.relationship, self.destination) = (object, relationship, destination)
    }
  }

  /// The objects that are deleted: those that were asked for, and behind them those that go along by the rule to
  /// cascade. Each once.
  public let objects: [Object]
  /// What leads to an object that stays, which is to lead back no longer.
  public let emptied: [Lead]
  /// What denies the deletion: leads to objects that stay.
  public let denials: [Lead]
  /// How many of ``objects`` were asked for: the first ones.
  public let askedCount: Int

  /// Gathers the deletion of some objects.
  ///
  /// - Throws: What reading throws.
  /// - Complexity: O(links of the objects that are deleted).
  @inlinable
  public init<Source: DeletionSource>(of asked: [Object], in source: Source) throws(Source.Failure)
  where Source.Object == Object, Source.Relationship == Relationship {
    var gone = UniqueObjects<Object>()
    gone.list.reserveCapacity(asked.count)
    for object in asked { gone.insert(object) }
    askedCount = gone.list.count
    var left: [Lead] = []
    var denied: [Lead] = []
    var next = 0
    while next < gone.list.count {
      let object = gone.list[next]
      next += 1
      for (relationship, rule) in try source.rules(of: object) where rule != .noAction {
        for destination in try source.destinations(of: object, by: relationship) {
          let lead = Lead(object: object, relationship: relationship, destination: destination)
          switch rule {
          case .cascade: gone.insert(destination)
          case .deny: denied.append(lead)
          case .nullify, .noAction: left.append(lead)
          }
        }
      }
    }
    objects = gone.list
    emptied = left.isEmpty ? [] : left.filter { !gone.contains($0.destination) }
    denials = denied.isEmpty ? [] : denied.filter { !gone.contains($0.destination) }
  }
}

/// Objects in the order in which they came, each once.
@usableFromInline
struct UniqueObjects<Object: Hashable> {
  /// So many are compared one by one, which takes less time than to hash them.
  @usableFromInline static var mostCompared: Int { 4 }

  @usableFromInline var list: [Object] = []
  /// All of them, once there are many.
  @usableFromInline var set: Set<Object> = []

  @inlinable
  init() {}

  @inlinable
  func contains(_ object: Object) -> Bool {
    list.count <= Self.mostCompared ? list.contains(object) : set.contains(object)
  }

  @inlinable
  mutating func insert(_ object: Object) {
    if list.count < Self.mostCompared {
      if !list.contains(object) { list.append(object) }
      return
    }
    if set.isEmpty { set = Set(list) }
    if set.insert(object).inserted { list.append(object) }
  }
}

/// The links that a transaction sees. What is known of an entity is kept, because many objects are of few entities.
private final class StoredLinks: DeletionSource {
  private let transaction: EntityTransaction
  private let rule: (RelationshipSchema) -> DeleteRule
  private var rules: [UInt32: [(relationship: RelationshipReader, rule: DeleteRule)]] = [:]
  /// The entity that was asked for last, and its rules.
  private var last: (entity: UInt32, rules: [(relationship: RelationshipReader, rule: DeleteRule)])?

  init(_ transaction: EntityTransaction, _ rule: @escaping (RelationshipSchema) -> DeleteRule) {
    (self.transaction, self.rule) = (transaction, rule)
  }

  func rules(
    of object: ObjectReference
  ) throws(EngineError) -> [(relationship: RelationshipReader, rule: DeleteRule)] {
    if let last, last.entity == object.entity { return last.rules }
    let known = rules[object.entity]
    let found = if let known { known } else { try rulesToAsk(object.entity) }
    rules[object.entity] = found
    last = (object.entity, found)
    return found
  }

  private func rulesToAsk(
    _ entity: UInt32
  ) throws(EngineError) -> [(relationship: RelationshipReader, rule: DeleteRule)] {
    var found: [(relationship: RelationshipReader, rule: DeleteRule)] = []
    for relationship in try transaction.store.plan(entity).entity.allRelationships
    where !relationship.isTransient {
      let rule = rule(relationship)
      // The transaction empties what leads to removed rows when it removes them.
      if rule == .cascade || rule == .deny {
        found.append((try transaction.destinations(of: relationship), rule))
      }
    }
    return found
  }

  func destinations(
    of object: ObjectReference, by relationship: RelationshipReader
  ) throws(EngineError) -> [ObjectReference] {
    var led: [ObjectReference] = []
    try relationship.forEach(from: object) { (destination) in
      led.append(destination)
      return true
    }
    // What follows from the rows of the destinations leads to rows that are there.
    if relationship.isDerived, !relationship.destination.sharesRows { return led }
    var found: [ObjectReference] = []
    for destination in led {
      // What is gone already was left behind by its rule.
      if let plan = try transaction.planOfRow(destination) { found.append(plan.reference(to: destination)) }
    }
    return found
  }
}

extension EntityTransaction {
  /// What the deletion of some objects deletes and denies by the delete rules, as the transaction sees the links now.
  /// Objects that do not exist are left out. What it empties, ``delete(_:rule:)`` finds itself.
  ///
  /// - Parameters:
  ///   - areThere: Whether the caller knows that the objects exist, so that they need not be looked up.
  ///   - rule: The delete rule of a relationship, if the model in use has another one than the stored model.
  /// - Throws: What reading throws.
  public func deletion(
    of objects: [ObjectReference], areThere: Bool = false,
    rule: @escaping (RelationshipSchema) -> DeleteRule = { $0.deleteRule }
  ) throws(EngineError) -> Deletion<ObjectReference, RelationshipReader> {
    var own: [ObjectReference] = []
    own.reserveCapacity(objects.count)
    for object in objects {
      // The object's own entity, whatever the reference says.
      let plan = try store.plan(object.entity)
      if areThere, !plan.sharesRows {
        own.append(object)
      } else if let plan = try planOfRow(object) {
        own.append(plan.reference(to: object))
      }
    }
    return try Deletion(of: own, in: StoredLinks(self, rule))
  }
}
