import CambiumEngine

extension StoreSpace {
  /// The delete rule of a relationship by the model in use, which the stored model need not have.
  func deleteRule(of relationship: RelationshipSchema) -> DeleteRule {
    deleteRules[relationship.id] ?? relationship.deleteRule
  }
}

extension EntityTransaction {
  /// Deletes objects by the delete rules of the model in use, as the transaction sees the links: what others have saved
  /// counts.
  ///
  /// - Parameter areThere: Whether the caller knows that the objects exist.
  /// - Returns: The given objects that existed, and the objects that the delete rules deleted with them.
  func deleteByRules(
    _ asked: [ObjectReference], areThere: Bool = false, in space: StoreSpace, _ history: HistoryRecorder?
  ) throws(BatchError) -> (found: ArraySlice<ObjectReference>, others: ArraySlice<ObjectReference>) {
    let rule = { space.deleteRule(of: $0) }
    let deletion = try engine { () throws(EngineError) -> Deletion<ObjectReference, RelationshipReader> in
      try delete(asked, areThere: areThere, rule: rule) { (deletion) throws(EngineError) in
        if !deletion.denials.isEmpty { return false }
        guard let history else { return true }
        for reference in deletion.objects {
          if let info = space.info(reference.entity) { try history.deleted(reference, info, self) }
        }
        return true
      }
    }
    if let denial = deletion.denials.first {
      let id = ManagedObjectID(space: space, reference: denial.object)
      var check = ValueCheck(id.entityName, id)
      check.denied(denial.relationship.relationship.name)
      throw .refused(check.errors[0])
    }
    return (deletion.objects.prefix(deletion.askedCount), deletion.objects.dropFirst(deletion.askedCount))
  }
}
