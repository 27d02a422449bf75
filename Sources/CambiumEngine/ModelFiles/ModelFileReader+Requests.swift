extension ModelFileReader {
  // MARK: Fetch requests

  @_optimize(none)
  mutating func fetchedProperty(_ element: XMLElement) throws(ModelFileError) -> FetchedPropertySchema? {
    let name = try required("name", of: element)
    var result: FetchedPropertySchema?
    var entries: [UserInfoEntry] = []
    for child in element.children {
      switch child.name {
      case "fetchRequest":
        result = try template(child).map { FetchedPropertySchema(name, request: $0) }
      case "userInfo": entries = try userInfo(child)
      default: passOver(child, in: name)
      }
    }
    result?.userInfo = entries
    if result == nil {
      warn(element.offset, "fetched property \(name) has no request that can be used; it is left out")
    }
    return result
  }

  /// A stored request; `nil`, with a warning, if it names no entity: nothing stored depends on it. A predicate that cannot
  /// be read is kept, and throws when the request is made.
  @_optimize(none)
  mutating func template(_ element: XMLElement) throws(ModelFileError) -> FetchTemplate? {
    guard let entity = text("entity", of: element) else {
      warn(element.offset, "fetch request '\(element["name"] ?? "")' names no entity; it is left out")
      return nil
    }
    var result = FetchTemplate(entity: entity, predicate: text("predicateString", of: element))
    if let predicate = result.predicate, let problem = problem(ofPredicate: predicate) {
      warn(
        element.offset(of: "predicateString"),
        "the predicate of fetch request '\(element["name"] ?? "")' cannot be read: \(problem)")
    }
    result.fetchLimit = try count("fetchLimit", of: element) ?? 0
    // What the layer above understands of it.
    for attribute in element.attributes
    where !["name", "entity", "predicateString", "fetchLimit"].contains(attribute.name) {
      result.userInfo.append(UserInfoEntry(key: attribute.name, value: attribute.value))
    }
    for child in element.children { passOver(child, in: "fetch request '\(element["name"] ?? "")'") }
    return result
  }

  private func problem(ofPredicate text: String) -> String? {
    do throws(PredicateError) { _ = try Predicate(format: text) } catch { return error.description }
    return nil
  }

  // MARK: Indexes

  /// A fetch index; `nil`, with a warning, for one over an expression: nothing stored depends on indexes.
  @_optimize(none)
  mutating func fetchIndex(_ element: XMLElement, entity: String) throws(ModelFileError) -> IndexSchema? {
    let name = try required("name", of: element)
    var elements: [IndexElement] = []
    for child in element.children {
      guard child.name == "fetchIndexElement" else {
        passOver(child, in: name)
        continue
      }
      guard let path = text("property", of: child) ?? text("expression", of: child).flatMap({ keyPath($0) }) else {
        warn(child.offset, "index \(name) of \(entity) is over an expression, not a key path; it is left out")
        return nil
      }
      var part = IndexElement(path)
      switch child["type"] ?? "Binary" {
      case "Binary", "binary": part.kind = .binary
      case "RTree", "rTree": part.kind = .rTree
      case let other: throw document.unusable(child.offset(of: "type"), "'\(other)' is no kind of index")
      }
      switch child["order"] ?? "ascending" {
      case "ascending": part.isAscending = true
      case "descending": part.isAscending = false
      case let other:
        throw document.unusable(child.offset(of: "order"), "'\(other)' is no order; write ascending or descending")
      }
      elements.append(part)
    }
    if elements.isEmpty {
      warn(element.offset, "index \(name) of \(entity) has no elements; it is left out")
      return nil
    }
    var result = IndexSchema(name, elements)
    result.partialPredicate = text("partialIndexPredicate", of: element)
    if let predicate = result.partialPredicate, let problem = problem(ofPredicate: predicate) {
      warn(element.offset, "index \(name) of \(entity) is left out, since its predicate cannot be read: \(problem)")
      return nil
    }
    offsets[entity + ".index." + name] = element.offset
    return result
  }

  /// The key path that an expression is, if it is nothing more.
  private func keyPath(_ text: String) -> String? {
    guard let predicate = try? Predicate(format: "\(text) == 0"),
      case .comparison(let comparison) = predicate, case .keyPath(let path) = comparison.left
    else { return nil }
    return path
  }

  /// Leaves out indexes that a model cannot have, with a warning: over a transformable attribute, a transient one, more
  /// than one of a name. `schema` is the model without any index.
  @_optimize(none)
  mutating func leaveOutUnusableIndexes(_ schema: Schema) {
    for place in definition.entities.indices {
      let entity = definition.entities[place].name
      guard let built = schema.entity(named: entity) else { continue }
      var kept: [IndexSchema] = []
      for index in definition.entities[place].indexes {
        let problem =
          kept.contains { $0.name == index.name }
          ? SchemaError.duplicateName(index.name, place: entity)
          : SchemaBuilder.problem(of: index, entity: built, in: schema)
        guard let problem else {
          kept.append(index)
          continue
        }
        warn(
          offsets[entity + ".index." + index.name] ?? 0,
          "index \(index.name) of \(entity) is left out: \(problem.description)")
      }
      definition.entities[place].indexes = kept
    }
  }
}
