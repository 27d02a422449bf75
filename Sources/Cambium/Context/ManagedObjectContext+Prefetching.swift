import CambiumEngine

// The rows of objects that relationships of fetched objects lead to, read with the fetch.
extension ManagedObjectContext {
  /// Reads the rows that key paths of relationships lead to from objects, each once and in the order in which rows lie, and holds the objects,
  /// which stay faults, as ``FetchRequest/relationshipKeyPathsForPrefetching`` says. A child reads what its parent has: nothing is read for it.
  ///
  /// - Throws: what reading throws.
  func prefetch(_ paths: [String], from objects: [ManagedObject]) throws {
    if parent != nil { return }
    if blockDepth == 0 { letGoOfPrefetched() }
    prefetched += try prefetchedObjects(paths, from: objects)
  }

  /// The same, held by the caller: what key paths of relationships lead to from objects.
  func prefetchedObjects(_ paths: [String], from objects: [ManagedObject]) throws -> [ManagedObject] {
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
      let found = try prefetch(String(name), of: objects)
      all += found
      try prefetch(rest, from: found, into: &all)
    }
  }

  /// Holds what was prefetched no longer.
  func letGoOfPrefetched() {
    if prefetched.isEmpty { return }
    // What ends now may come back here.
    let old = prefetched
    prefetched = []
    withExtendedLifetime(old) {}
  }

  /// The destinations of a relationship of objects, with the rows of the commit that the fetch reads, as if they had been fetched.
  private func prefetch(_ name: String, of objects: [ManagedObject]) throws -> [ManagedObject] {
    var wanted: [(space: StoreSpace, references: [ObjectReference])] = []
    var new: Set<ManagedObject> = []
    var last: (info: EntityInfo, relationship: RelationshipInfo?)?
    for object in objects where !object.isDeleted && object.isOfContext(self) {
      let info = object.info
      if last?.info !== info { last = (info, info.properties[name]?.relationship) }
      guard let r = last?.relationship, !r.isTransient else { continue }
      try object.forEachDestinationWithoutFiring(r) { id in
        if id.isTemporaryID {
          if let object = registered(id) { new.insert(object) }
          return
        }
        let place = wanted.firstIndex { $0.space === id.space } ?? wanted.count
        if place == wanted.count { wanted.append((id.space, [])) }
        wanted[place].references.append(id.reference)
      }
    }
    var result = Array(new)
    for (space, references) in wanted { result += try self.objects(of: references, in: space) }
    return result
  }
}

extension ManagedObject {
  /// Where a relationship leads, as far as that is known without the object being shown: nowhere for a to-one relationship of an object whose
  /// row has not been read.
  @inline(__always)
  fileprivate func forEachDestinationWithoutFiring(
    _ r: RelationshipInfo, _ body: (ManagedObjectID) throws -> Void
  ) throws {
    if r.isToMany {
      for id in try currentToMany(r) { try body(id) }
      return
    }
    if let heldOverlay, let changed = heldOverlay._withUnsafeGuaranteedRef({ $0.toOneChanges[r.place] }) {
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
