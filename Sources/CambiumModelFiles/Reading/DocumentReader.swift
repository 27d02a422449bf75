/// Makes a model document of the elements of an XML document.
struct DocumentReader {
  let document: XMLDocument
  var model = ModelDocument()

  init(document: XMLDocument) { self.document = document }

  @_optimize(none)
  mutating func read() throws(ModelDocumentError) {
    let root = document.root
    guard root.name == "model" else {
      throw document.unusable(root.offset, "this is a '\(root.name)', not the 'model' of a data model's contents file")
    }
    if let type = root["type"], type != "com.apple.IDECoreDataModeler.DataModel" {
      throw document.unusable(root.offset(of: "type"), "'\(type)' is no type of model that is known")
    }
    if let identifier = root["userDefinedModelVersionIdentifier"], !identifier.isEmpty {
      model.versionIdentifier = identifier
    }
    for element in root.children {
      switch element.name {
      case "entity": model.entities.append(try entity(element))
      case "composite": model.composites.append(try composite(element))
      case "configuration": model.configurations.append(try configuration(element))
      case "fetchRequest":
        _ = try required("name", of: element)
        if let request = try request(element) { model.fetchRequests.append(request) }
      // The places of boxes in the editor's diagram.
      case "elements": break
      default: passOver(element, in: "the model")
      }
    }
  }

  // MARK: Entities

  @_optimize(none)
  private mutating func entity(_ element: XMLElement) throws(ModelDocumentError) -> ModelDocument.Entity {
    var result = ModelDocument.Entity(try required("name", of: element))
    let name = result.name
    result.line = document.line(element.offset)
    result.parent = text("parentEntity", of: element)
    result.isAbstract = try flag("isAbstract", of: element)
    if let className = text("representedClassName", of: element), className != "NSManagedObject" {
      // A leading point stands for the application's own module.
      result.className = className.utf8.first == UInt8(ascii: ".") ? String(className.dropFirst()) : className
    }
    result.codeGeneration = text("codeGenerationType", of: element).flatMap {
      ModelDocument.CodeGeneration(rawValue: $0)
    }
    result.renamingIdentifier = text("elementID", of: element)
    result.versionHashModifier = text("versionHashModifier", of: element)
    noteUnknown(
      element,
      known: [
        "name", "parentEntity", "isAbstract", "representedClassName", "elementID", "versionHashModifier", "syncable",
        "codeGenerationType",
      ], unused: ["coreSpotlightDisplayNameExpression": "there is no search index"])
    for child in element.children {
      switch child.name {
      case "attribute":
        let attribute = try attribute(child, isElement: false)
        result.attributes.append(attribute)
        if try flag("indexed", of: child), !attribute.isTransient {
          result.legacyIndexes.append(legacyIndex([attribute.name], child))
        }
      case "relationship": result.relationships.append(try relationship(child))
      case "fetchedProperty":
        if let property = try fetchedProperty(child) { result.fetchedProperties.append(property) }
      case "fetchIndex":
        if let index = try fetchIndex(child, entity: name) { result.indexes.append(index) }
      case "compoundIndexes":
        for part in child.children {
          let paths = part.children.compactMap { $0["value"] }
          if !paths.isEmpty { result.legacyIndexes.append(legacyIndex(paths, part)) }
        }
      case "uniquenessConstraints":
        for part in child.children {
          let paths = part.children.compactMap { $0["value"] }
          if paths.isEmpty {
            warn(part.offset, "\(name) has a uniqueness constraint of no attributes, which is left out")
          } else {
            result.uniquenessConstraints.append(paths)
          }
        }
      case "userInfo": result.userInfo = try userInfo(child)
      default: passOver(child, in: name)
      }
    }
    return result
  }

  private func legacyIndex(_ paths: [String], _ element: XMLElement) -> ModelDocument.Index {
    var name = "by"
    for path in paths {
      name += path.prefix(1).uppercased()
      name += path.dropFirst()
    }
    var result = ModelDocument.Index(name + "Index")
    result.elements = paths.map { ModelDocument.Index.Element($0) }
    result.line = document.line(element.offset)
    return result
  }

  @_optimize(none)
  private mutating func composite(_ element: XMLElement) throws(ModelDocumentError) -> ModelDocument.Composite {
    let name = try required("name", of: element)
    var result = ModelDocument.Composite(name)
    result.line = document.line(element.offset)
    for child in element.children {
      if child.name == "attribute" {
        result.elements.append(try attribute(child, isElement: true))
      } else if child.name != "userInfo" {
        passOver(child, in: name)
      }
    }
    return result
  }

  @_optimize(none)
  private mutating func configuration(_ element: XMLElement) throws(ModelDocumentError) -> ModelDocument.Configuration {
    var result = ModelDocument.Configuration(try required("name", of: element))
    for child in element.children {
      switch child.name {
      case "memberEntity": result.entities.append(try required("name", of: child))
      case "userInfo": result.userInfo = try userInfo(child)
      default: passOver(child, in: result.name)
      }
    }
    if try flag("usedWithCloudKit", of: element) {
      warn(element.offset, "configuration \(result.name) is used with CloudKit, which Cambium has nothing to do with")
    }
    return result
  }

  func userInfo(_ element: XMLElement) throws(ModelDocumentError) -> [ModelDocument.UserInfo] {
    var result: [ModelDocument.UserInfo] = []
    for child in element.children where child.name == "entry" {
      result.append(ModelDocument.UserInfo(key: try required("key", of: child), value: child["value"] ?? ""))
    }
    return result
  }

  // MARK: Attributes of elements

  /// The value of an attribute that must be there.
  func required(_ name: String, of element: XMLElement) throws(ModelDocumentError) -> String {
    guard let value = element[name], !value.isEmpty else {
      throw document.unusable(element.offset, "this '\(element.name)' has no \(name)")
    }
    return value
  }

  /// The value of an attribute, unless it is empty.
  func text(_ name: String, of element: XMLElement) -> String? {
    guard let value = element[name], !value.isEmpty else { return nil }
    return value
  }

  /// The value of an attribute with its line, unless it is empty.
  func placedText(_ name: String, of element: XMLElement) -> ModelDocument.Text? {
    text(name, of: element).map { ModelDocument.Text($0, line: document.line(element.offset(of: name))) }
  }

  /// Whether an attribute says YES.
  @_optimize(none)
  func flag(_ name: String, of element: XMLElement) throws(ModelDocumentError) -> Bool {
    guard let value = element[name] else { return false }
    switch value {
    case "YES", "yes", "true", "1": return true
    case "NO", "no", "false", "0", "": return false
    default: throw document.unusable(element.offset(of: name), "\(name) is '\(value)'; write YES or NO")
    }
  }

  /// A count; `nil` if the attribute is missing.
  @_optimize(none)
  func count(_ name: String, of element: XMLElement) throws(ModelDocumentError) -> UInt32? {
    guard let value = text(name, of: element) else { return nil }
    guard let count = UInt32(value) else {
      throw document.unusable(element.offset(of: name), "\(name) is '\(value)'; write a number from 0 to \(UInt32.max)")
    }
    return count
  }

  // MARK: Warnings

  mutating func warn(_ offset: Int, _ text: String) {
    model.warnings.append(ModelFileWarning(document.line(offset), text))
  }

  mutating func passOver(_ element: XMLElement, in place: String) {
    warn(element.offset, "'\(element.name)' in \(place) is not known and is left out")
  }

  /// Warns of attributes that are not known, and of `unused` ones that ask for something.
  @_optimize(none)
  mutating func noteUnknown(_ element: XMLElement, known: Set<String>, unused: [String: String]) {
    let name = element["name"] ?? element.name
    for attribute in element.attributes where !known.contains(attribute.name) {
      if let reason = unused[attribute.name] {
        if attribute.value == "NO" || attribute.value.isEmpty { continue }
        warn(attribute.offset, "\(name): \(attribute.name) is left out: \(reason)")
      } else {
        warn(attribute.offset, "\(name): \(attribute.name) is not known and is left out")
      }
    }
  }
}
