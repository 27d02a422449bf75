import CambiumKernel

/// Reads the values of key paths from encoded rows, through composites and relationships, without building objects.
///
/// Paths are looked up once per entity and kept. One thread at a time uses a reader.
final class PathReader {
  let view: EntityView
  private var compiled: [UInt32: [String: CompiledPath]] = [:]
  /// By relationship: collections and subqueries follow the same one from row to row.
  private var destinations: [UInt32: RelationshipReader] = [:]
  /// What predicates need besides the rows; kept from one row to the next. Exclusive access is not checked for each of
  /// them: `matches` alone uses it, and what the evaluator asks for does not come back there.
  @exclusivity(unchecked) private var state: EvaluationState
  /// Whether to end; see ``EngineFetch/isCancelled``.
  var isCancelled: (@Sendable () -> Bool)?
  /// See ``EngineFetch/usesIndexes``.
  var usesIndexes = true
  /// How many conditions have an ``OwnerCounts``.
  var countedConditions = 0
  /// Whether what lies behind a to-one relationship is kept for the rows that lead to the same object.
  private let keepsValues: Bool

  /// - Parameter keepsValues: Pass false for a reader that outlives one request of a write transaction, because the
  ///   transaction changes rows between requests.
  init(view: EntityView, variables: [String: Value] = [:], keepsValues: Bool = true) {
    self.view = view
    self.keepsValues = keepsValues
    state = EvaluationState(variables: variables)
  }

  /// Takes time and chance from the store's environment, once for all rows.
  func prepare(for predicate: Predicate?) {
    guard let predicate, predicate.isVolatile else { return }
    prepare()
  }

  /// The same for expressions of any kind.
  func prepare() { state = view.evaluationState(variables: state.variables) }

  /// A stretch of a path within one row, and what follows.
  final class CompiledPath {
    fileprivate enum Leg {
      /// An attribute or an element of a composite.
      case field(FieldPath, AttributeSchema)
      /// A whole composite, or an attribute directly in the row.
      case attribute(Int, AttributeSchema)
      case toOne(Int, destination: UInt32, rest: String?)
      case toMany(RelationshipSchema, destination: UInt32, rest: String?)
      case identity
      /// Transient: always null in the store.
      case absent
    }
    fileprivate let leg: Leg
    /// Of a to-one relationship, what lies behind it.
    @exclusivity(unchecked) fileprivate var known = KnownValues()
    fileprivate init(_ leg: Leg) { self.leg = leg }
  }

  /// Where the values of a path are in rows of a layout, found out once.
  func path(_ text: String, _ layout: EntityLayout) throws(EngineError) -> CompiledPath {
    if let known = compiled[layout.entity.id]?[text] { return known }
    let made = try compile(text, layout)
    compiled[layout.entity.id, default: [:]][text] = made
    return made
  }

  private func compile(_ text: String, _ layout: EntityLayout) throws(EngineError) -> CompiledPath {
    let plan = try view.store.plan(layout.entityID)
    if plan.layout === layout, let (field, attribute) = view.store.column(text, of: plan) {
      return CompiledPath(
        field.path.depth == 1 ? .attribute(field.path.leaf, attribute) : .field(field.path, attribute))
    }
    let schema = view.store.schema
    let resolved = try resolving { () throws(SchemaError) in try schema.resolve(keyPath: text, from: layout.entity.id) }
    let components = keyPathNames(text)
    func rest(after n: Int) -> String? {
      if n + 1 >= components.count { return nil }
      var out = ""
      for c in components[(n + 1)...] { out += out.isEmpty ? String(c) : "." + String(c) }
      return out
    }
    var skip = 0
    for (n, step) in resolved.steps.enumerated() {
      switch step {
      case .evaluatedObject:
        skip = n + 1
        if n + 1 == resolved.steps.count { return CompiledPath(.identity) }
      case .objectID: return CompiledPath(.identity)
      case .toOne(let r, let destination):
        guard let field = layout.fieldByName[r.name] else { return CompiledPath(.absent) }
        return CompiledPath(.toOne(field, destination: destination, rest: rest(after: n)))
      case .toMany(let r, let destination):
        return CompiledPath(.toMany(r, destination: destination, rest: rest(after: n)))
      case .attribute(let attribute):
        let steps = Array(resolved.steps[skip...])
        guard let indexes = layout.fieldPath(steps) else { return CompiledPath(.absent) }
        if indexes.count == 1 { return CompiledPath(.attribute(indexes[0], attribute)) }
        guard let last = resolved.attribute else { return CompiledPath(.absent) }
        let path = try storing { () throws(StoreError) in try FieldPath(indexes, in: layout.record) }
        return CompiledPath(.field(path, last))
      case .element: break
      }
    }
    return CompiledPath(.identity)
  }

  /// The place of an attribute or of an element of a composite in rows of the layout; nil if the path is anything else.
  func field(_ text: String, _ layout: EntityLayout) -> (FieldPath, AttributeSchema)? {
    do throws(EngineError) {
      switch try path(text, layout).leg {
      case .field(let path, let attribute): return (path, attribute)
      case .attribute(let index, let attribute):
        return (try storing { () throws(StoreError) in try FieldPath([index], in: layout.record) }, attribute)
      default: return nil
      }
    } catch {
      // Whoever reads the path meets the error again.
      return nil
    }
  }

  /// The field of the to-one relationship that a path begins with; nil if it begins with anything else.
  ///
  /// - Parameter isWhole: Whether nothing may follow the relationship.
  func toOneField(_ text: String, _ layout: EntityLayout, isWhole: Bool = false) -> Int? {
    do throws(EngineError) {
      if case .toOne(let field, _, let rest) = try path(text, layout).leg, !isWhole || rest == nil { return field }
    } catch {
      // Whoever reads the path meets the error again.
    }
    return nil
  }

  /// The value of a key path of a record.
  func value(
    _ text: String, _ record: RecordView, _ layout: EntityLayout, _ reference: ObjectReference
  ) throws(EngineError) -> Value {
    try value(path(text, layout), record, reference)
  }

  /// The packed reference of the object that a path leads to by a to-one relationship; nil if there is none.
  func destination(_ path: CompiledPath, _ record: RecordView) throws(EngineError) -> UInt64? {
    guard case .toOne(let field, _, _) = path.leg else { return nil }
    return try storing { () throws(StoreError) in try record.reference(at: field) }
  }

  /// The value at a path that ``path(_:_:)`` gave for the record's layout.
  func value(
    _ path: CompiledPath, _ record: RecordView, _ reference: ObjectReference, isKept: Bool = true
  ) throws(EngineError) -> Value {
    switch path.leg {
    case .identity: return .reference(reference)
    case .absent: return .null
    case .attribute(let index, let attribute):
      return try storing { () throws(StoreError) in try record.value(attribute, at: index) }
    case .field(let path, let attribute):
      return try storing { () throws(StoreError) in
        guard let parent = try path.parent(in: record) else { return .null }
        return try parent.value(attribute, at: path.leaf)
      }
    case .toOne(let field, _, let rest):
      let target = try storing { () throws(StoreError) in try record.reference(at: field) }
      guard let target else { return .null }
      if !keepsValues || !isKept || rest == nil { return try follow(PackedReference.unpack(target), rest) ?? .null }
      if let known = path.known[target] { return known }
      let found = try follow(PackedReference.unpack(target), rest) ?? .null
      path.known.learn(target, found)
      return found
    case .toMany(let relationship, _, let rest):
      var list: [Value] = []
      for target in try related(reference, relationship) {
        guard let value = try follow(target, rest) else { continue }
        // A path over several to-many relationships gives one flat list.
        if case .list(let inner) = value { list += inner } else { list.append(value) }
      }
      return .list(list)
    }
  }

  /// All of them at once: what is read from them may follow the same relationship.
  private func related(
    _ reference: ObjectReference, _ relationship: RelationshipSchema
  ) throws(EngineError) -> [ObjectReference] {
    let reader: RelationshipReader
    if let known = destinations[relationship.id] {
      reader = known
    } else {
      reader = try view.destinations(of: relationship)
      destinations[relationship.id] = reader
    }
    var result: [ObjectReference] = []
    try reader.forEach(from: reference) { (found) in
      result.append(found)
      return true
    }
    return result
  }

  /// The value of the rest of a path from another object; nil if there is no such object any more.
  private func follow(_ target: ObjectReference, _ rest: String?) throws(EngineError) -> Value? {
    guard let rest else { return .reference(target) }
    guard let row = try view.row(target) else { return nil }
    return try value(rest, row)
  }

  func value(_ text: String, _ row: Row) throws(EngineError) -> Value {
    try row.withBytes { (b) throws(EngineError) -> Value in
      let record = try storing { () throws(StoreError) in try RecordView(b, layout: row.layout.record) }
      return try value(text, record, row.layout, row.reference)
    }
  }

  /// Whether a predicate holds for a record.
  func matches(
    _ predicate: Predicate, _ record: RecordView, _ layout: EntityLayout, _ reference: ObjectReference
  ) throws(EngineError) -> Bool {
    do throws(PredicateEvaluationError<EngineError>) {
      return try predicate.evaluate(&state) { (object: ObjectReference?, path: String) throws(EngineError) -> Value in
        guard let object else { return try self.value(path, record, layout, reference) }
        return try self.follow(object, path) ?? .null
      }
    } catch {
      switch error {
      case .predicate(let inner): throw .predicate(inner)
      case .value(let inner): throw inner
      }
    }
  }

  /// What a checked expression gives for a record.
  func value(
    of expression: Expression, _ record: RecordView, _ layout: EntityLayout, _ reference: ObjectReference
  ) throws(EngineError) -> Value {
    do throws(PredicateEvaluationError<EngineError>) {
      return try expression.read(
        &state,
        { (object: ObjectReference?, path: String) throws(EngineError) -> Value in
          guard let object else { return try self.value(path, record, layout, reference) }
          return try self.follow(object, path) ?? .null
        }, depth: 0)
    } catch {
      switch error {
      case .predicate(let inner): throw .predicate(inner)
      case .value(let inner): throw inner
      }
    }
  }

  func matches(_ predicate: Predicate, _ row: Row) throws(EngineError) -> Bool {
    try row.withBytes { (b) throws(EngineError) -> Bool in
      let record = try storing { () throws(StoreError) in try RecordView(b, layout: row.layout.record) }
      return try matches(predicate, record, row.layout, row.reference)
    }
  }
}

extension Store {
  /// The environment's time in seconds since 2001, as dates count.
  var now: Double { Double(nowMilliseconds()) / 1000 - 978_307_200 }
}

extension EntityView {
  /// What evaluating needs besides the rows, with the time and chance of the store's environment.
  func evaluationState(variables: [String: Value] = [:]) -> EvaluationState {
    let kernel = store.kernel
    return EvaluationState(variables: variables, now: kernel.now, seed: kernel.randomBits())
  }
}
