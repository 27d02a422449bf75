import CambiumEngine

/// Holds prefetched objects until the block that fetched them ends. Outside of a block, they are held until the next
/// fetch with prefetching.
final class PrefetchedObjects {
  private(set) var objects: [ManagedObject] = []
  /// How many blocks run, one within the other.
  private var blockDepth = 0

  /// Notes that a block begins.
  func beginBlock() { blockDepth += 1 }

  /// Notes that a block ends. The outermost block lets go of the objects.
  func endBlock() {
    blockDepth -= 1
    if blockDepth == 0 { letGo() }
  }

  /// Holds more objects. Outside of a block, lets go of those that were held before.
  func hold(_ find: () throws -> [ManagedObject]) rethrows {
    if blockDepth == 0 { letGo() }
    let found = try find()
    objects += found
  }

  /// Lets go of all objects.
  func letGo() {
    if objects.isEmpty { return }
    // An object that ends here may call this again.
    let old = objects
    objects = []
    withExtendedLifetime(old) {}
  }
}

/// Reads the rows that relationships of fetched objects lead to, together with the fetch.
struct RelationshipPrefetch {
  let context: ManagedObjectContext

  /// Reads the rows at the end of relationship key paths, each once and in the order of the rows, and has the context
  /// hold their objects, which stay faults. See ``FetchRequest/relationshipKeyPathsForPrefetching``. A child prefetches
  /// nothing, because it reads the objects of its parent.
  ///
  /// - Throws: what reading throws.
  func hold(_ paths: [String]?, from objects: [ManagedObject]) throws {
    guard let paths, context.parent == nil else { return }
    try context.making.prefetched.hold { try destinations(of: paths, from: objects) }
  }

  /// Returns the objects at the end of relationship key paths. The caller must hold them.
  func destinations(of paths: [String], from objects: [ManagedObject]) throws -> [ManagedObject] {
    var all: [ManagedObject] = []
    try prefetch(paths.map { $0.split(separator: ".")[...] }, from: objects, into: &all)
    return all
  }

  private func prefetch(
    _ paths: [ArraySlice<Substring>], from objects: [ManagedObject], into all: inout [ManagedObject]
  ) throws {
    var rests: [Substring: [ArraySlice<Substring>]] = [:]
    for path in paths {
      guard let first = path.first else { continue }
      rests[first, default: []].append(path.dropFirst())
    }
    if objects.isEmpty { return }
    for (name, rest) in rests {
      let found = try destinations(of: String(name), from: objects)
      all += found
      try prefetch(rest, from: found, into: &all)
    }
  }

  /// Reads the destinations of a relationship in the commit that the fetch reads.
  private func destinations(of name: String, from objects: [ManagedObject]) throws -> [ManagedObject] {
    var wanted: [(space: StoreSpace, references: [ObjectReference])] = []
    var new: Set<ManagedObject> = []
    var last: (info: EntityInfo, relationship: RelationshipInfo?)?
    for object in objects where !object.isDeleted && object.isOfContext(context) {
      let info = object.info
      if last?.info !== info { last = (info, info.properties[name]?.relationship) }
      guard let r = last?.relationship, !r.isTransient else { continue }
      try object.forEachDestinationWithoutFiring(r) { id in
        if id.isTemporaryID {
          if let object = context.registered(id) { new.insert(object) }
          return
        }
        let place = wanted.firstIndex { $0.space === id.space } ?? wanted.count
        if place == wanted.count { wanted.append((id.space, [])) }
        wanted[place].references.append(id.reference)
      }
    }
    var result = Array(new)
    for (space, references) in wanted { result += try FoundObjects(of: references, in: space, for: context).objects }
    return result
  }
}

extension ManagedObject {
  /// Calls a block with the destinations of a relationship that are known without firing the fault. An object whose row
  /// was not read has no known destination of a to-one relationship.
  @inline(__always)
  fileprivate func forEachDestinationWithoutFiring(
    _ r: RelationshipInfo, _ body: (ManagedObjectID) throws -> Void
  ) throws {
    if r.isToMany {
      for id in try currentToMany(r) { try body(id) }
      return
    }
    if let changed = withOverlay({ $0.toOneChanges[r.place] }) {
      if let changed { try body(changed) }
      return
    }
    guard let heldRow else { return }
    let reference: ObjectReference?
    do throws(EngineError) { reference = try heldRow.reference(r.key) } catch { throw CambiumError(error) }
    if let reference { try body(ManagedObjectID(space: space, reference: reference)) }
    withExtendedLifetime(self) {}
  }
}
