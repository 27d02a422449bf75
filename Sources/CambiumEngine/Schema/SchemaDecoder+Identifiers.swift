import CambiumKernel

extension SchemaDecoder {
  /// Checks that identifiers are given, different, and below the next ones, and that the elements of attributes are
  /// those that `expanded`, the same entities with their composites expanded anew, has.
  func checkIdentifiers(against expanded: [EntitySchema]) throws(SchemaError) {
    var entityIDs: [UInt32] = []
    var propertyIDs: [UInt32] = []
    var indexIDs: [UInt32] = []
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
    try requireDifferent(&entityIDs)
    try requireDifferent(&propertyIDs)
    try requireDifferent(&indexIDs)
  }

  /// The depth is bounded by the decoder's.
  private func check(
    _ attribute: AttributeSchema, against expanded: AttributeSchema, _ taken: inout [UInt32]
  ) throws(SchemaError) {
    try check(attribute.id, below: next.property, &taken)
    guard attribute.elements.count == expanded.elements.count else {
      throw malformed("elements differ from their composite type")
    }
    for index in attribute.elements.indices {
      guard Self.isSame(attribute.elements[index], expanded.elements[index]) else {
        throw malformed("elements differ from their composite type")
      }
      try check(attribute.elements[index], against: expanded.elements[index], &taken)
    }
  }

  /// Whether two are the same but for identifiers and elements. In all they are: a model whose attributes keep to other
  /// rules than its composite types would be opened, and could not be built again of what it says.
  private static func isSame(_ a: AttributeSchema, _ b: AttributeSchema) -> Bool { plain(a) == plain(b) }

  private static func plain(_ attribute: AttributeSchema) -> AttributeSchema {
    var result = attribute
    result.id = 0
    result.elements = []
    // In whatever type and order it was written.
    if !attribute.defaultValue.isNull, let coerced = attribute.coerce(attribute.defaultValue) {
      result.defaultValue = coerced
    }
    return result
  }

  private func check(_ id: UInt32, below next: UInt32, _ taken: inout [UInt32]) throws(SchemaError) {
    guard id > 0, id < next else { throw malformed("an identifier was never given out") }
    taken.append(id)
  }

  private func requireDifferent(_ taken: inout [UInt32]) throws(SchemaError) {
    taken.order { $0 < $1 }
    for index in taken.indices.dropFirst() where taken[index] == taken[index - 1] {
      throw malformed("an identifier is used twice")
    }
  }

  private func malformed(_ detail: String) -> SchemaError { .malformed(offset: 0, detail: detail) }
}
