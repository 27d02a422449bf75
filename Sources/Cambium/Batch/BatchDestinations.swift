import CambiumEngine

/// Makes sure that what a batch request leads somewhere leads to objects that are there: nothing else would find that out before the
/// store is checked.
struct BatchDestinations {
  private let info: EntityInfo
  private let space: StoreSpace
  private let relationships: [String]
  private var found = Set<ObjectReference>()

  init(_ values: BatchValues) {
    info = values.info
    space = values.space
    relationships = values.info.relationships.compactMap { property in
      guard let r = property.relationship, !r.isToMany, !property.isTransient else { return nil }
      return r.schema.name
    }
  }

  /// Throws if one of the to-one relationships that are set leads to an object that is not there.
  mutating func require(_ row: RowValues, _ t: EntityTransaction) throws(BatchError) {
    for name in relationships {
      guard case .reference(let reference) = row.value(at: name), !found.contains(reference) else { continue }
      let isThere: Bool
      do throws(EngineError) { isThere = try t.contains(reference) } catch { throw .engine(error) }
      guard isThere else {
        let id = ManagedObjectID(space: space, reference: reference)
        throw .refused(
          CambiumError(
            .managedObjectReferentialIntegrity,
            "'\(name)' of '\(info.name)' would lead to \(id), which is not in the store: it was deleted, or never saved",
            entityName: info.name, key: name, objectID: id))
      }
      found.insert(reference)
    }
  }
}
