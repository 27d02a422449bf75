import CambiumEngine

/// What was made of what, by entity mapping: references only, about 150 bytes for an object of the source and the one
/// made of it.
struct MigrationAssociations {
  /// Of one entity mapping.
  struct Table {
    /// The objects of the destination, in the order in which they were associated first.
    private(set) var destinations: [ObjectReference] = []
    private var forward = ReferenceMap()
    private var backward = ReferenceMap()
    /// Where in ``destinations`` objects are that are not saved yet.
    private var unsaved: [ObjectReference: Int] = [:]

    /// Notes that an object was made of another.
    mutating func associate(_ source: ObjectReference, _ destination: ObjectReference) {
      if backward.first(destination) == nil {
        if destination.isTemporary { unsaved[destination] = destinations.count }
        destinations.append(destination)
      }
      // Many objects may be made of one, or one of many: the shorter list is looked through.
      let isKnown =
        forward.count(source) <= backward.count(destination)
        ? forward.all(source).contains(destination) : backward.all(destination).contains(source)
      if isKnown { return }
      forward.add(source, destination)
      backward.add(destination, source)
    }

    func destinations(of source: ObjectReference) -> [ObjectReference] { forward.all(source) }

    func sources(of destination: ObjectReference) -> [ObjectReference] { backward.all(destination) }

    /// Gives objects that were saved their permanent references; nil stands for one that was deleted before.
    mutating func settle(_ permanent: (ObjectReference) -> ObjectReference?) {
      for (temporary, place) in unsaved {
        let sources = backward.remove(temporary)
        let reference = permanent(temporary)
        for source in sources { forward.replace(source, temporary, by: reference) }
        if let reference {
          for source in sources { backward.add(reference, source) }
          destinations[place] = reference
        }
      }
      unsaved = [:]
    }

    /// Forgets objects that were deleted.
    mutating func forget(_ deleted: [ObjectReference]) {
      for reference in deleted {
        for source in backward.remove(reference) { forward.replace(source, reference, by: nil) }
      }
    }

    /// Whether an object of ``destinations`` is still associated.
    func isAssociated(_ destination: ObjectReference) -> Bool { backward.first(destination) != nil }
  }

  private var tables: [String: Table] = [:]
  /// The names of the mappings of a source entity, in order.
  private var namesBySource: [String: [String]] = [:]

  init(_ mappings: [EntityMapping]) {
    for mapping in mappings {
      tables[mapping.name] = Table()
      if let source = mapping.sourceEntityName { namesBySource[source, default: []].append(mapping.name) }
    }
  }

  subscript(mapping: String) -> Table? {
    get { tables[mapping] }
    _modify { yield &tables[mapping] }
  }

  /// The tables of the mappings of a source entity.
  func tables(ofSourceEntity name: String) -> [Table] { (namesBySource[name] ?? []).compactMap { tables[$0] } }

  mutating func settle(_ permanent: (ObjectReference) -> ObjectReference?, deleted: [ObjectReference]) {
    for name in tables.keys {
      tables[name]?.settle(permanent)
      tables[name]?.forget(deleted)
    }
  }

  mutating func removeAll() {
    for name in tables.keys { tables[name] = Table() }
  }
}

/// References by reference: most lead to one, a few to several.
private struct ReferenceMap {
  private var firsts: [ObjectReference: ObjectReference] = [:]
  private var others: [ObjectReference: [ObjectReference]] = [:]

  func first(_ key: ObjectReference) -> ObjectReference? { firsts[key] }

  func count(_ key: ObjectReference) -> Int { firsts[key] == nil ? 0 : 1 + (others[key]?.count ?? 0) }

  func all(_ key: ObjectReference) -> [ObjectReference] {
    guard let first = firsts[key] else { return [] }
    return [first] + (others[key] ?? [])
  }

  mutating func add(_ key: ObjectReference, _ value: ObjectReference) {
    if firsts[key] == nil { firsts[key] = value } else { others[key, default: []].append(value) }
  }

  mutating func remove(_ key: ObjectReference) -> [ObjectReference] {
    let values = all(key)
    firsts[key] = nil
    others[key] = nil
    return values
  }

  mutating func replace(_ key: ObjectReference, _ old: ObjectReference, by new: ObjectReference?) {
    let values = remove(key).compactMap { $0 == old ? new : $0 }
    for value in values { add(key, value) }
  }
}
