extension PredicateChecker {
  /// `castObject:toEntity:(object, "name")`: gives it, as a third argument, the identifiers of the entity and its
  /// descendants, because the evaluator knows no model.
  @inline(never)
  func castToEntity(_ arguments: [Expression], depth: Int) throws(PredicateError) -> (Expression, Side) {
    guard arguments.count >= 2 else { return (.constant(.null), Side(nil)) }
    let (object, known) = try side(arguments[0], depth: depth + 1)
    let written = Expression.function(PredicateFunction.castToEntity.name, [object, arguments[1]])
    try requireSingle(known, object, PredicateFunction.castToEntity.name)
    if let type = known.type, type != .objectID, type != .undefined {
      throw mismatch(written, "only an object has an entity, and this is a \(type.name)")
    }
    let wanted = try entity(named: arguments[1], in: written)
    var side = Side(.objectID)
    side.entity = wanted.id
    let kinds = kinds(of: wanted)
    if let entity = known.entity, kinds.contains(entity), known.constant == nil { return (object, known) }
    let identifiers = kinds.map { Value.integer(Int64($0)) }
    let result = Expression.function(
      PredicateFunction.castToEntity.name, [object, arguments[1], .constant(.list(identifiers))])
    return folded(result, side)
  }

  private func entity(named name: Expression, in written: Expression) throws(PredicateError) -> EntitySchema {
    guard case .constant(.string(let name)) = name else {
      throw mismatch(written, "the second argument is the name of an entity as a literal")
    }
    guard let schema else {
      throw PredicateError(.unsupported, written.description, "a condition on values looks at no objects")
    }
    guard let entity = schema.entity(named: name) else {
      throw PredicateError(.typeMismatch, written.description, "the model has no entity '\(name)'")
    }
    return entity
  }

  /// The identifiers of an entity and its descendants.
  private func kinds(of entity: EntitySchema) -> [UInt32] {
    var found = [entity.id]
    var next = 0
    while next < found.count {
      if let children = schema?.entity(id: found[next])?.childIDs { found += children }
      next += 1
    }
    return found
  }
}
