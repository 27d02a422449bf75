extension SchemaDecoder {
  /// Checks that identifiers are given, different, and below the next ones, and that the elements of attributes are those
  /// that `expanded`, the same entities with their composites expanded anew, has.
  func checkIdentifiers(against expanded: [EntitySchema]) throws(SchemaError) {
    var entityIDs: Set<UInt32> = []
    var propertyIDs: Set<UInt32> = []
    var indexIDs: Set<UInt32> = []
    for place in definition.entities.indices {
      let entity = definition.entities[place]
      try check(entity.id, below: next.entity, &entityIDs)
      guard expanded.indices.contains(place), expanded[place].attributes.count == entity.attributes.count else {
        throw malformed("elements differ from their composite type")
      }
      for index in entity.attributes.indices {
        try check(entity.attributes[index], against: expanded[place].attributes[index], &propertyIDs)
      }
      for relationship in entity.relationships { try check(relationship.id, below: next.property, &propertyIDs) }
      for index in entity.indexes { try check(index.id, below: next.index, &indexIDs) }
      for constraint in entity.uniquenessConstraints { try check(constraint.id, below: next.index, &indexIDs) }
    }
  }

  /// The depth is bounded by the decoder's.
  private func check(
    _ attribute: AttributeSchema, against expanded: AttributeSchema, _ taken: inout Set<UInt32>
  ) throws(SchemaError) {
    try check(attribute.id, below: next.property, &taken)
    guard attribute.elements.count == expanded.elements.count else {
      throw malformed("elements differ from their composite type")
    }
    for index in attribute.elements.indices {
      guard attribute.elements[index].name == expanded.elements[index].name,
        attribute.elements[index].type == expanded.elements[index].type
      else { throw malformed("elements differ from their composite type") }
      try check(attribute.elements[index], against: expanded.elements[index], &taken)
    }
  }

  private func check(_ id: UInt32, below next: UInt32, _ taken: inout Set<UInt32>) throws(SchemaError) {
    guard id > 0, id < next else { throw malformed("an identifier was never given out") }
    guard taken.insert(id).inserted else { throw malformed("an identifier is used twice") }
  }

  private func malformed(_ detail: String) -> SchemaError { .malformed(offset: 0, detail: detail) }
}
