import CambiumEngine

extension FetchPredicate {
  /// The predicate checked against an entity, its constants in the form that its attributes store. Objects of other
  /// stores are equal to none.
  func checked(for info: EntityInfo, inMemory: Bool) throws -> CambiumEngine.Predicate {
    if let failure { throw failure }
    let predicate = inMemory ? self.inMemory : inStore
    guard let schema = info.storeSchema else { return predicate }
    do throws(CambiumEngine.PredicateError) {
      let strangers = homes.strangers(in: info.storeIdentifier)
      let known = strangers.isEmpty ? predicate : try predicate.withoutReferences { strangers.contains($0) }
      return try known.check(against: schema, entity: info.schema.id)
    } catch {
      throw CambiumError(
        .invalidPredicate, "for entity '\(info.name)': \(error)", entityName: info.name, underlying: [error])
    }
  }
}
