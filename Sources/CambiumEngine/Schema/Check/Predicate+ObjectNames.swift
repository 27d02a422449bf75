extension Predicate {
  /// Returns the predicate with objects in place of their names, such as `Aircraft/12`: the entity and the row, as
  /// tools print them.
  ///
  /// A name is a division of a single name by a whole number. If the entity that the predicate is about has a property
  /// of that name, it stays a division.
  ///
  /// - Parameter entity: The identifier of the entity that the predicate is about.
  /// - Throws: an error of kind `tooDeep` for trees deeper than ``depthLimit``.
  public func namingObjects(of schema: Schema, entity: UInt32) throws(PredicateError) -> Predicate {
    let owner = schema.entity(id: entity)
    return try replacing { expression in
      guard case .arithmetic(.divide, .keyPath(let name), .constant(.integer(let row))) = expression,
        let row = UInt64(exactly: row), let named = schema.entity(named: name),
        owner?.attribute(named: name) == nil, owner?.relationship(named: name) == nil
      else { return nil }
      return .constant(.reference(ObjectReference(entity: named.id, row: row)))
    }
  }
}
