extension DocumentReader {
  // MARK: Fetch requests

  @_optimize(none)
  mutating func fetchedProperty(
    _ element: XMLElement
  ) throws(ModelDocumentError) -> ModelDocument.FetchedProperty? {
    let name = try required("name", of: element)
    var result: ModelDocument.FetchedProperty?
    var entries: [ModelDocument.UserInfo] = []
    for child in element.children {
      switch child.name {
      case "fetchRequest": result = try request(child).map { ModelDocument.FetchedProperty(name, $0) }
      case "userInfo": entries = try userInfo(child)
      default: passOver(child, in: name)
      }
    }
    result?.userInfo = entries
    result?.line = document.line(element.offset)
    if result == nil {
      warn(element.offset, "fetched property \(name) has no request that can be used; it is left out")
    }
    return result
  }

  /// A stored request; `nil`, with a warning, if it names no entity: nothing stored depends on it.
  @_optimize(none)
  mutating func request(_ element: XMLElement) throws(ModelDocumentError) -> ModelDocument.Request? {
    guard let entity = text("entity", of: element) else {
      warn(element.offset, "fetch request '\(element["name"] ?? "")' names no entity; it is left out")
      return nil
    }
    var result = ModelDocument.Request(entity: entity)
    result.name = element["name"] ?? ""
    result.predicate = placedText("predicateString", of: element)
    result.fetchLimit = try count("fetchLimit", of: element) ?? 0
    // The parts of the document that the layer above uses.
    for attribute in element.attributes
    where !["name", "entity", "predicateString", "fetchLimit"].contains(attribute.name) {
      result.userInfo.append(ModelDocument.UserInfo(key: attribute.name, value: attribute.value))
    }
    for child in element.children { passOver(child, in: "fetch request '\(element["name"] ?? "")'") }
    return result
  }

  // MARK: Indexes

  /// A fetch index; `nil`, with a warning, for one over an expression: nothing stored depends on indexes.
  @_optimize(none)
  mutating func fetchIndex(
    _ element: XMLElement, entity: String
  ) throws(ModelDocumentError) -> ModelDocument.Index? {
    let name = try required("name", of: element)
    var result = ModelDocument.Index(name)
    result.line = document.line(element.offset)
    for child in element.children {
      guard child.name == "fetchIndexElement" else {
        passOver(child, in: name)
        continue
      }
      guard let path = text("property", of: child) ?? text("expression", of: child).flatMap({ keyPath($0) }) else {
        warn(child.offset, "index \(name) of \(entity) is over an expression, not a key path; it is left out")
        return nil
      }
      var part = ModelDocument.Index.Element(path)
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
      result.elements.append(part)
    }
    if result.elements.isEmpty {
      warn(element.offset, "index \(name) of \(entity) has no elements; it is left out")
      return nil
    }
    result.partialPredicate = placedText("partialIndexPredicate", of: element)
    return result
  }

  /// The key path that an expression is, if it is nothing more: names with points between them.
  private func keyPath(_ text: String) -> String? {
    let names = text.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false)
    for (place, name) in names.enumerated() {
      guard let first = name.first, !("0"..."9").contains(first) else { return nil }
      for scalar in name {
        let isLetter = ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || scalar.value >= 0x80
        guard isLetter || ("0"..."9").contains(scalar) || scalar == "_" else { return nil }
      }
      // Predicates mean values by these, and the object itself.
      if place == 0, ["nil", "null", "true", "false", "yes", "no", "self"].contains(String(name).lowercased()) {
        return nil
      }
    }
    return text
  }
}
