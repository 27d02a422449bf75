import CambiumEngine

// The rows of objects that relationships of fetched objects lead to, read with the fetch.
extension ManagedObjectContext {
  /// Reads the rows that key paths of relationships lead to from objects, each once and in the order in which rows lie, and holds the objects,
  /// which stay faults, as ``FetchRequest/relationshipKeyPathsForPrefetching`` says. A child reads what its parent has: nothing is read for it.
  ///
  /// - Throws: what reading throws.
  func prefetch(_ paths: [String], from objects: [ManagedObject]) throws {
    if parent != nil { return }
    if lock.isOutermost { prefetched = [] }
    try prefetch(paths.map { $0.split(separator: ".")[...] }, from: objects)
  }

  private func prefetch(_ paths: [ArraySlice<Substring>], from objects: [ManagedObject]) throws {
    var rests: [Substring: [ArraySlice<Substring>]] = [:]
    for path in paths {
      guard let first = path.first else { continue }
      rests[first, default: []].append(path.dropFirst())
    }
    if objects.isEmpty { return }
    for (name, rest) in rests {
      let found = try prefetch(String(name), of: objects)
      prefetched += found
      try prefetch(rest, from: found)
    }
  }

  /// The destinations of a relationship of objects, with their rows.
  private func prefetch(_ name: String, of objects: [ManagedObject]) throws -> [ManagedObject] {
    var wanted: [ObjectIdentifier: (space: StoreSpace, references: [ObjectReference])] = [:]
    var result: [ManagedObject] = []
    var known: Set<ManagedObjectID> = []
    for object in objects where !object.isDeleted && object.managedObjectContext === self {
      guard let r = object.info.properties[name]?.relationship, !r.isTransient else { continue }
      for id in try object.destinationsWithoutFiring(r) where known.insert(id).inserted {
        if let present = registry.peek(id), present.heldRow != nil || id.isTemporaryID {
          result.append(present)
        } else if !id.isTemporaryID {
          wanted[ObjectIdentifier(id.space), default: (id.space, [])].references.append(id.reference)
        }
      }
    }
    for (space, references) in wanted.values {
      let view = try view(of: space)
      let rows = try mappingFetch { () throws(EngineError) in try view.findRows(of: references) }
      result += self.objects(of: rows, in: space).objects
    }
    return result
  }
}

extension ManagedObject {
  /// Where a relationship leads, as far as that is known without the object being shown: none for a to-one relationship of an object whose row
  /// has not been read.
  fileprivate func destinationsWithoutFiring(_ r: RelationshipInfo) throws -> [ManagedObjectID] {
    if r.isToMany { return try currentToMany(r) }
    if let changed = toOneChanges[r.place] { return changed.map { [$0] } ?? [] }
    guard let heldRow else { return [] }
    defer { withExtendedLifetime(self) {} }
    do throws(EngineError) {
      return try heldRow.reference(r.key).map { [ManagedObjectID(space: space, reference: $0)] } ?? []
    } catch { throw CambiumError(error) }
  }
}
