import CambiumKernel

/// What is needed to read and write a property of rows.
struct Column {
  /// The property's identifier.
  let id: UInt32
  /// The field; -1 for what is not kept in rows.
  let field: Int
  /// ``AttributeType/objectID`` for relationships.
  let type: AttributeType
  /// Whether it is a composite all of whose elements are strings.
  let isOfTexts: Bool
  /// Whether it is a relationship that leads to several objects.
  let isToMany: Bool
  /// Where the names of a composite's elements are among ``ColumnTable/elements``.
  let elements: Range<Int>
}

/// The columns of a layout, by the places of properties among all attributes and the relationships behind them.
///
/// It is plain memory, so that nothing is counted for what is looked at. The ``EntityLayout`` that made it frees it.
struct ColumnTable: @unchecked Sendable {
  // `@unchecked`: nothing changes the memory between the layout's `init` and `deinit`.
  private let columns: UnsafeMutablePointer<Column>
  private let elements: UnsafeMutablePointer<NameBits>
  private let elementCount: Int
  let attributeCount: Int
  private let count: Int
  let record: BorrowedLayout

  /// - Parameters:
  ///   - fields: the fields of properties, by name.
  ///   - record: kept as long as the table.
  init(of entity: EntitySchema, _ fields: NameIndex, _ record: RecordLayout) {
    attributeCount = entity.allAttributes.count
    count = attributeCount + entity.allRelationships.count
    self.record = BorrowedLayout(record)
    elementCount = entity.allAttributes.reduce(0) { $0 + $1.elements.count }
    columns = .allocate(capacity: count)
    elements = .allocate(capacity: elementCount)
    var next = 0
    for (place, attribute) in entity.allAttributes.enumerated() {
      let first = next
      for element in attribute.elements {
        (elements + next).initialize(to: NameBits(element.name))
        next += 1
      }
      (columns + place).initialize(
        to: Column(
          id: attribute.id, field: fields[attribute.name] ?? -1, type: attribute.type,
          isOfTexts: attribute.type == .composite && attribute.elements.allSatisfy { $0.type == .string },
          isToMany: false, elements: first..<next))
    }
    for (place, relationship) in entity.allRelationships.enumerated() {
      (columns + (attributeCount + place)).initialize(
        to: Column(
          id: relationship.id, field: fields[relationship.name] ?? -1, type: .objectID, isOfTexts: false,
          isToMany: relationship.isToMany, elements: next..<next))
    }
  }

  func deallocate() {
    elements.deinitialize(count: elementCount)
    elements.deallocate()
    columns.deallocate()
  }

  /// The column at a place, which has to be one of the entity's.
  @inline(__always)
  subscript(place: Int) -> Column { columns[place] }

  /// The place of a key's attribute.
  @inline(__always)
  func place(attribute key: PropertyKey) -> Int? {
    if key.place < attributeCount, columns[key.place].id == key.id { return key.place }
    return find(key.id, in: 0..<attributeCount)
  }

  /// The place of a key's relationship, behind the attributes.
  @inline(__always)
  func place(relationship key: PropertyKey) -> Int? {
    let place = attributeCount &+ key.place
    if place < count, columns[place].id == key.id { return place }
    return find(key.id, in: attributeCount..<count)
  }

  @inline(never)
  private func find(_ id: UInt32, in places: Range<Int>) -> Int? { places.first { columns[$0].id == id } }

  /// The place of an element of a composite by a name that has the very bits; nil where it is none, or is written
  /// otherwise.
  @inline(__always)
  func element(_ name: NameBits, of column: Column) -> Int? {
    var place = column.elements.lowerBound
    while place < column.elements.upperBound {
      if elements[place] == name { return place &- column.elements.lowerBound }
      place &+= 1
    }
    return nil
  }
}
