import CambiumEngine

/// The changes of one store that a save writes.
struct SaveBatch {
  let space: StoreSpace
  let deletions: [ManagedObject]
  let insertions: [ManagedObject]
  let updates: [ManagedObject]
  let policy: MergePolicy
  /// Unchanged objects that others must not have changed either.
  var watched: [WatchedObject] = []
}

/// What a written batch leaves to do in memory.
struct SaveOutcome {
  let batch: SaveBatch
  /// The permanent references of the inserted objects, in their order.
  var permanent: [ObjectReference] = []
  /// Objects that the save does not write, and whose rows the transaction has written or deleted: the other ends of
  /// links, what delete rules say of them, and what is derived.
  var changedByRules: [ManagedObjectID] = []
  var deletedByRules: [ManagedObjectID] = []
  /// The rows as they were written: of some of the updates, and behind them of the insertions, in their order. None if
  /// a migration saves, which reads them again if it needs them.
  var rows: FoundRows?
  /// Objects of the batch whose rows were written once more behind that, and the rows as they are.
  var rewritten: [ObjectReference: Row] = [:]
}

/// What a save writes of the to-many relationships of an object, which has changes of such.
final class PendingLinks {
  /// The lists of ordered relationships, which are written whole.
  let lists: [(r: RelationshipInfo, ids: [ManagedObjectID])]
  /// What came and went of unordered ones.
  let edits: [(r: RelationshipInfo, added: [ManagedObjectID], removed: [ManagedObjectID])]

  init(
    _ lists: [(r: RelationshipInfo, ids: [ManagedObjectID])],
    _ edits: [(r: RelationshipInfo, added: [ManagedObjectID], removed: [ManagedObjectID])]
  ) { (self.lists, self.edits) = (lists, edits) }
}

/// What an update is going to write.
struct PendingUpdate {
  let object: ManagedObject
  let links: PendingLinks?
  /// The version of the row that the changes are based on; `nil` if the row itself is not written.
  let version: UInt32?
}

extension ManagedObject {
  /// Whether a save writes the row of the object, so that it finds out what others have done to it.
  var isWrittenBySave: Bool {
    hasRowChanges
      || overlay?.toManyChanges.containsKey { info.relationships[$0].relationship?.isOrdered == true } == true
  }

  /// Refuses to save identifiers that objects have until they are saved only: an attribute holds them as they are.
  @inline(__always)
  func requirePermanentIdentifiers() throws {
    // Without counting a reference to what the home holds.
    let hasNone = withHome { $0.info.identifierPlaces.isEmpty }
    if hasNone == false { try requirePermanent(info.identifierPlaces) }
  }

  private func requirePermanent(_ places: [Int]) throws {
    for place in places {
      guard case .reference(let reference)? = changedAttribute(at: place) else { continue }
      let id = ManagedObjectID(space: space, reference: reference)
      if !id.isTemporaryID { continue }
      let name = info.ordered[place].name
      throw CambiumError(
        .managedObjectReferentialIntegrity,
        "'\(name)' of '\(entity.name)' holds \(id), which is the identifier of an object until it is saved: save that before, or "
          + "give it another by obtainPermanentIDs(for:)", entityName: entity.name, key: name, objectID: objectID)
    }
  }

  /// Whether a save writes attributes or to-one relationships of the object.
  fileprivate var hasRowChanges: Bool {
    if changesAttributes { return true }
    guard let overlay else { return false }
    return overlay.toOneChanges.containsKey { !info.relationships[$0].isTransient }
  }

  /// What a save writes of the to-many relationships of the object; nil if that is nothing.
  @inline(__always)
  func pendingLinks() -> PendingLinks? {
    let isWritten = withOverlay({ !$0.toManyChanges.isEmpty }) == true && withHome({ $0.info.hasWrittenToMany }) == true
    return isWritten ? gatheredLinks() : nil
  }

  private func gatheredLinks() -> PendingLinks? {
    guard let overlay else { return nil }
    var lists: [(r: RelationshipInfo, ids: [ManagedObjectID])] = []
    var edits: [(r: RelationshipInfo, added: [ManagedObjectID], removed: [ManagedObjectID])] = []
    for place in overlay.toManyChanges.keys {
      guard let r = info.relationships[place].relationship, !r.isDerived, !r.isTransient,
        let change = overlay.toManyChanges[place]
      else { continue }
      if let list = change.list {
        lists.append((r, list))
      } else {
        let (added, removed) = change.difference(from: ToManyChange())
        edits.append((r, added, removed))
      }
    }
    return lists.isEmpty && edits.isEmpty ? nil : PendingLinks(lists, edits)
  }
}
