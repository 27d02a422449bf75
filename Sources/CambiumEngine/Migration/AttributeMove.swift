/// A value that changes its level: an attribute that becomes an element of a composite, an element that becomes an
/// attribute or goes into another composite. An attribute or element says where it comes from by its renaming
/// identifier: the name of an attribute of the source, or a key path such as `colorScheme.primary`; or, where neither
/// leads to anything, the identifier that one of the source has itself, so that an identifier can stay the same from
/// version to version.
struct AttributeMove: Sendable {
  /// The names on the way, in the source and in the destination.
  var sourcePath: [String]
  var destinationPath: [String]
  var source: AttributeSchema
  var destination: AttributeSchema

  var sourceText: String { keyPath(of: sourcePath) }
  var destinationText: String { keyPath(of: destinationPath) }

  /// The moves into an attribute, or into elements of it, that nothing of their own level matches.
  ///
  /// - Parameter kept: The attributes and elements of the source that go on at their own level.
  @_optimize(none)
  static func find(
    for attribute: AttributeSchema, matching match: AttributeSchema?, in old: EntitySchema, kept: Set<UInt32>
  ) -> [AttributeMove] {
    var found: [AttributeMove] = []
    find(attribute, [attribute.name], match, old, kept, &found)
    return found
  }

  @_optimize(none)
  private static func find(
    _ attribute: AttributeSchema, _ path: [String], _ match: AttributeSchema?, _ old: EntitySchema,
    _ kept: Set<UInt32>, _ found: inout [AttributeMove]
  ) {
    if match == nil, let text = attribute.renamingIdentifier {
      let names = keyPathNames(text).map { String($0) }
      let isElsewhere = path.count > 1 || names.count > 1
      let leads = isElsewhere ? resolve(names, in: old.allAttributes) : nil
      if let (sourcePath, from) = leads ?? identified(text, old, isElement: !isElsewhere, kept),
        (from.type == .composite) == (attribute.type == .composite)
      {
        found.append(
          AttributeMove(sourcePath: sourcePath, destinationPath: path, source: from, destination: attribute))
        return
      }
    }
    guard attribute.type == .composite else { return }
    let matches = match.map { matchedElements(attribute, $0) }
    // The depth is bounded by the schema.
    for (place, element) in attribute.elements.enumerated() {
      find(element, path + [element.name], matches.flatMap { $0[place] }, old, kept, &found)
    }
  }

  /// The attribute or element of the source that has an identifier itself and does not go on where it is; nil if
  /// several do.
  @_optimize(none)
  private static func identified(
    _ text: String, _ old: EntitySchema, isElement: Bool, _ kept: Set<UInt32>
  ) -> (path: [String], attribute: AttributeSchema)? {
    var found: [(path: [String], attribute: AttributeSchema)] = []
    var next: [(path: [String], attribute: AttributeSchema)] = old.allAttributes.map { ([$0.name], $0) }
    while let (path, attribute) = next.popLast() {
      if attribute.isTransient { continue }
      if attribute.renamingIdentifier == text, path.count > 1 || !isElement, !kept.contains(attribute.id) {
        found.append((path, attribute))
      }
      for element in attribute.elements { next.append((path + [element.name], element)) }
    }
    return found.count == 1 ? found[0] : nil
  }

  /// What a path of names leads to, each matched as for renaming; answers also the names as they are.
  @_optimize(none)
  private static func resolve(
    _ names: [String], in attributes: [AttributeSchema]
  ) -> (path: [String], attribute: AttributeSchema)? {
    var candidates = attributes
    var path: [String] = []
    var last: AttributeSchema?
    for name in names {
      // By both, then by the identifier, then by the name.
      guard
        let next = candidates.first(where: { $0.name == name && $0.canonicalName == name })
          ?? candidates.first(where: { $0.canonicalName == name }) ?? candidates.first(where: { $0.name == name })
      else { return nil }
      if next.isTransient { return nil }
      path.append(next.name)
      candidates = next.elements
      last = next
    }
    return last.map { (path, $0) }
  }
}
