import CambiumEngine
import CambiumTesting

/// Objects and links in plain dictionaries: what a store must agree with. It follows the rules of links as a user reads
/// them, and looks at nothing of the engine.
struct LinkModel: Equatable {
  /// One relationship of an entity.
  struct Side: Equatable {
    var name: String
    var owner: String
    var destination: String
    var isToMany: Bool
    var isOrdered = false
    /// The place of the inverse among all sides.
    var inverse: Int?
    var rule = DeleteRule.nullify
  }

  /// The parents of entities that have one.
  var parents: [String: String] = [:]
  var sides: [Side]
  /// The entities of the objects.
  private(set) var objects: [ObjectReference: String] = [:]
  /// By side, where each object leads; in order if the side is ordered.
  private(set) var links: [Int: [ObjectReference: [ObjectReference]]] = [:]

  init(_ sides: [Side]) { self.sides = sides }

  func isKind(_ entity: String, of ancestor: String) -> Bool {
    var current: String? = entity
    while let name = current {
      if name == ancestor { return true }
      current = parents[name]
    }
    return false
  }

  func has(_ object: ObjectReference, _ side: Int) -> Bool {
    objects[object].map { isKind($0, of: sides[side].owner) } ?? false
  }

  func mayLead(_ side: Int, to object: ObjectReference) -> Bool {
    objects[object].map { isKind($0, of: sides[side].destination) } ?? false
  }

  func destinations(_ side: Int, _ object: ObjectReference) -> [ObjectReference] { links[side]?[object] ?? [] }

  // MARK: Changes

  mutating func insert(_ object: ObjectReference, _ entity: String) { objects[object] = entity }

  mutating func link(_ side: Int, _ object: ObjectReference, _ target: ObjectReference) {
    if destinations(side, object).contains(target) { return }
    let inverse = backSide(side, object)
    if !sides[side].isToMany {
      for former in destinations(side, object) { unlink(side, object, former) }
    }
    if let inverse, !sides[inverse].isToMany {
      // Who leads to the target already lets go of it.
      for former in destinations(inverse, target) { unlink(inverse, target, former) }
    }
    append(side, object, target)
    if let inverse { append(inverse, target, object) }
  }

  mutating func unlink(_ side: Int, _ object: ObjectReference, _ target: ObjectReference) {
    links[side]?[object]?.removeAll { $0 == target }
    if let inverse = backSide(side, object) { links[inverse]?[target]?.removeAll { $0 == object } }
  }

  mutating func replace(_ side: Int, _ object: ObjectReference, _ targets: [ObjectReference]) {
    var wanted: [ObjectReference] = []
    for target in targets where !wanted.contains(target) { wanted.append(target) }
    for old in destinations(side, object) where !wanted.contains(old) { unlink(side, object, old) }
    for target in wanted { link(side, object, target) }
    if !wanted.isEmpty { links[side, default: [:]][object] = wanted }
  }

  mutating func move(_ side: Int, _ object: ObjectReference, _ target: ObjectReference, after other: ObjectReference?) {
    var list = destinations(side, object)
    guard let from = list.firstIndex(of: target) else { return }
    list.remove(at: from)
    if let other {
      guard let behind = list.firstIndex(of: other) else { return }
      list.insert(target, at: behind + 1)
    } else {
      list.insert(target, at: 0)
    }
    links[side]?[object] = list
  }

  /// - Parameter waiting: Objects that are not inserted yet. By what their rows are to hold they never lead to what is
  ///   gone.
  mutating func delete(_ gone: [ObjectReference], waiting: Set<ObjectReference>) {
    for (side, design) in sides.enumerated() where !design.isToMany || design.isOrdered {
      for object in waiting { links[side]?[object]?.removeAll { gone.contains($0) } }
    }
    for object in gone {
      for side in sides.indices {
        // A side that follows from the rows which lead there loses the row in any case.
        guard let inverse = backSide(side, object) else { continue }
        let follows = !sides[side].isToMany && sides[inverse].isToMany && !sides[inverse].isOrdered
        if sides[side].rule == .noAction, !follows { continue }
        for target in destinations(side, object) { links[inverse]?[target]?.removeAll { $0 == object } }
      }
    }
    for object in gone {
      for side in sides.indices { links[side]?[object] = nil }
      objects[object] = nil
    }
  }

  /// The inverse of a side, unless it cannot lead back to an object of the object's entity.
  private func backSide(_ side: Int, _ object: ObjectReference) -> Int? {
    guard let inverse = sides[side].inverse else { return nil }
    guard let entity = objects[object] else { return inverse }
    return isKind(entity, of: sides[inverse].destination) ? inverse : nil
  }

  private mutating func append(_ side: Int, _ object: ObjectReference, _ target: ObjectReference) {
    if !destinations(side, object).contains(target) { links[side, default: [:]][object, default: []].append(target) }
  }

  // MARK: Compared with a store

  /// What differs from a view of a store; nil if nothing does.
  func difference(from view: EntityView) throws -> String? {
    var found: [ObjectReference: String] = [:]
    for entity in view.store.schema.entities where entity.parentID == nil {
      try view.rows(entity: entity) { (row) throws(EngineError) in
        found[row.reference] = row.entity.name
        return true
      }
    }
    if found != objects { return "objects \(found.count), expected \(objects.count)" }
    for (object, entity) in objects.sorted(by: { $0.key < $1.key }) {
      let schema = view.store.schema.entity(named: entity)
      for (place, side) in sides.enumerated() where isKind(entity, of: side.owner) {
        guard let relationship = schema?.relationship(named: side.name) else { return "no \(side.name)" }
        let stored = try view.related(object, relationship).map { $0.row }
        let expected = destinations(place, object).map { $0.row }
        let isSame = side.isOrdered ? stored == expected : stored.sorted() == expected.sorted()
        if !isSame { return "\(entity) \(object).\(side.name) leads to \(stored), expected \(expected)" }
        if try view.relatedCount(object, relationship) != expected.count {
          return "\(entity).\(side.name) counts wrong"
        }
      }
    }
    return nil
  }
}
