import CambiumKernel

/// What becomes of the rows of an entity.
final class EntityMigration {
  let destination: EntitySchema
  let match: MappingInference.EntityMatch
  /// Identifiers of properties and elements in the source, and in the destination.
  var remap: [UInt32: UInt32] = [:]
  /// Values of properties that are new, or may no longer be null.
  var values: [UInt32: Value] = [:]
  /// Properties whose null becomes their value.
  var required: [UInt32] = []
  /// Attributes that are converted value by value.
  var converted: [Int] = []
  /// Relationships in the row that are written anew from links.
  var fills: [Int] = []
  /// Relationships in the row that may lead to objects which go, or leave the hierarchy.
  var cleans: [Int] = []
  /// Attributes and relationships that need a value which they may lack.
  var neededAttributes: [Int] = []
  var neededRelationships: [Int] = []
  /// Elements of composites that need a value which they may lack, and the attributes that these are in.
  private(set) var neededElements: Set<UInt32> = []
  private(set) var neededComposites: [Int] = []
  /// Whether the rows go to another tree.
  var changesTree = false
  /// Whether every row is written anew.
  var isRewritten = false
  /// Whether rows stay for now that hold values which go, or values and links elsewhere than they are to be.
  var defersRewriting = false
  /// Whether rows stay as they are, and new ones are written alike.
  var keepsLayout = false

  var source: EntitySchema { match.source }

  init(_ destination: EntitySchema, _ match: MappingInference.EntityMatch) {
    self.destination = destination
    self.match = match
  }

  /// Whether objects may stand in the way.
  var needsCheck: Bool { !converted.isEmpty || needsCheckBesideConversions }

  /// Whether objects may stand in the way for other reasons than that a value cannot be converted.
  var needsCheckBesideConversions: Bool {
    !neededAttributes.isEmpty || !neededRelationships.isEmpty || !neededComposites.isEmpty
      || (destination.isAbstract && !source.isAbstract)
  }

  /// - Parameters:
  ///   - layouts: All that rows of the source may have.
  ///   - defers: Whether values may change their level when rows are read.
  @_optimize(none)
  func compareAttributes(layouts: [LayoutDescriptor], defers: Bool) {
    for (place, attribute) in destination.allAttributes.enumerated() where !attribute.isTransient {
      let moves = match.moves.contains { $0.destinationPath.first == attribute.name }
      if moves || match.attributes[place] != nil {
        let needed = attribute.neededElements(from: match.attributes[place])
        if !needed.isEmpty { neededComposites.append(place) }
        neededElements.formUnion(needed)
      }
      guard let from = match.attributes[place] else {
        if moves {
          if !(defers && readsMoved(attribute, layouts)) { converted.append(place) }
        } else if !attribute.defaultValue.isNull {
          values[attribute.id] = attribute.defaultValue
        }
        if !attribute.isOptional, attribute.defaultValue.isNull { neededAttributes.append(place) }
        continue
      }
      if moves || !isRead(attribute, from) || losesGathered(attribute, from, layouts) {
        converted.append(place)
      } else {
        carry(attribute, from)
      }
      guard !attribute.isOptional, from.isOptional else { continue }
      if attribute.defaultValue.isNull {
        neededAttributes.append(place)
      } else if !converted.contains(place) {
        require(attribute)
      }
    }
    for (place, relationship) in destination.allRelationships.enumerated()
    where !relationship.isTransient && relationship.needsDestination {
      if !(match.relationships[place]?.needsDestination ?? false) { neededRelationships.append(place) }
    }
  }

  /// Whether a composite loses elements that rows still have beside it, so that they could not tell any more whether it
  /// is there.
  private func losesGathered(_ to: AttributeSchema, _ from: AttributeSchema, _ layouts: [LayoutDescriptor]) -> Bool {
    guard from.type == .composite, to.type == .composite else { return false }
    let kept = Set(matchedElements(to, from).compactMap { $0?.id })
    let lost = Set(from.elements.map { $0.id }).subtracting(kept)
    return !lost.isEmpty && layouts.contains { layout in layout.fields.contains { lost.contains($0.property) } }
  }

  /// Lets values that change their level be read where they are, if they can be; answers whether they can.
  @_optimize(none)
  private func readsMoved(_ attribute: AttributeSchema, _ layouts: [LayoutDescriptor]) -> Bool {
    guard attribute.isOptional, attribute.storedDefault.isNull else { return false }
    let isComposite = attribute.type == .composite
    for element in attribute.elements where element.type == .composite || !element.storedDefault.isNull { return false }
    var moved: [(from: UInt32, to: UInt32)] = []
    for move in match.moves where move.destinationPath.first == attribute.name {
      guard move.sourcePath.count == (isComposite ? 1 : 2), move.destinationPath.count == (isComposite ? 2 : 1),
        let name = move.sourcePath.first, let outer = source.attribute(named: name), !goesOn(outer, move.source),
        NumericConversion.isWidening(move.source.type, move.destination.type), remap[move.source.id] == nil,
        layouts.allSatisfy({ layout in
          layout.values[outer.id] == nil && !layout.required.contains(outer.id)
            && Self.isWithinReach(move.source.id, layout, isGathered: isComposite)
        }),
        !moved.contains(where: { $0.from == move.source.id })
      else { return false }
      moved.append((move.source.id, move.destination.id))
    }
    for (from, to) in moved { remap[from] = to }
    return true
  }

  /// Whether rows of a layout have a value where the other level is looked for: values change their level once only
  /// until rows are written again, and what a layout lacks is null only if it has no value for it.
  private static func isWithinReach(_ id: UInt32, _ layout: LayoutDescriptor, isGathered: Bool) -> Bool {
    if layout.values[id] != nil || layout.required.contains(id) { return false }
    // An element that is gathered anew would be two levels away.
    return depth(of: id, in: layout.fields).map { $0 <= (isGathered ? 0 : 1) } ?? true
  }

  /// How many composites a property is in; nil if the fields lack it.
  private static func depth(of id: UInt32, in fields: [RecordField]) -> Int? {
    for field in fields {
      if field.property == id { return 0 }
      // The depth is bounded by the layout.
      if case .nested(let inner) = field.kind, let depth = depth(of: id, in: inner.fields) { return depth + 1 }
    }
    return nil
  }

  /// Whether an attribute of the source, or an element of it, is one of the destination at the same level.
  private func goesOn(_ outer: AttributeSchema, _ attribute: AttributeSchema) -> Bool {
    for (place, from) in match.attributes.enumerated() where from?.id == outer.id {
      if outer.id == attribute.id { return true }
      if matchedElements(destination.allAttributes[place], outer).contains(where: { $0?.id == attribute.id }) {
        return true
      }
    }
    return false
  }

  private func require(_ attribute: AttributeSchema) {
    if !isPlanted(.nullStaysInRequired) { required.append(attribute.id) }
    values[attribute.id] = attribute.defaultValue
  }

  /// Whether stored values can be read as they are.
  private func isRead(_ to: AttributeSchema, _ from: AttributeSchema) -> Bool {
    guard to.type == .composite, from.type == .composite else {
      return NumericConversion.isWidening(from.type, to.type)
    }
    for (place, element) in matchedElements(to, from).enumerated() {
      if let element, !isRead(to.elements[place], element) { return false }
    }
    return true
  }

  @_optimize(none)
  private func carry(_ to: AttributeSchema, _ from: AttributeSchema) {
    remap[from.id] = to.id
    guard to.type == .composite else { return }
    for (place, element) in matchedElements(to, from).enumerated() {
      let new = to.elements[place]
      if let element {
        carry(new, element)
        if !new.isOptional, element.isOptional, !new.defaultValue.isNull { require(new) }
      } else if !new.defaultValue.isNull {
        values[new.id] = new.defaultValue
      }
    }
  }

  /// A layout of the source as rows of it are read in the destination.
  func migrated(_ descriptor: LayoutDescriptor) -> LayoutDescriptor {
    var result = LayoutDescriptor(entity: destination.id, isCurrent: false, fields: [])
    var dropped = LayoutDescriptor.firstDropped
    result.fields = migrated(descriptor.fields, &dropped)
    for (id, value) in descriptor.values where !isPlanted(.earlierDefaultForgotten) {
      if let id = remap[id] { result.values[id] = value }
    }
    for id in descriptor.required where !isPlanted(.earlierRequirementForgotten) {
      if let id = remap[id] { result.required.append(id) }
    }
    // What a property is that the layout lacks was settled when it was added.
    for (id, value) in values where result.values[id] == nil || isPlanted(.laterDefaultOverEarlier) {
      result.values[id] = value
    }
    for id in required where !result.required.contains(id) { result.required.append(id) }
    return result
  }

  private func migrated(_ fields: [RecordField], _ dropped: inout UInt32) -> [RecordField] {
    var result: [RecordField] = []
    for field in fields {
      var kind = field.kind
      if case .nested(let inner) = kind, let layout = try? RecordLayout(nested: migrated(inner.fields, &dropped)) {
        kind = .nested(layout)
      }
      if let id = remap[field.property] {
        result.append(RecordField(property: id, kind: kind))
      } else {
        result.append(RecordField(property: dropped, kind: kind))
        dropped &+= 1
      }
    }
    return result
  }
}
