/// Makes a definition of a document's elements.
struct ModelFileReader {
  let document: XMLDocument
  var definition = SchemaDefinition()
  var warnings: [ModelFileWarning] = []
  /// Where relationships and indexes begin, by entity and name, for warnings that come after all has been read.
  var offsets: [String: Int] = [:]

  init(document: XMLDocument) { self.document = document }

  @_optimize(none)
  mutating func read() throws(ModelFileError) {
    let root = document.root
    guard root.name == "model" else {
      throw document.unusable(root.offset, "this is a '\(root.name)', not the 'model' of a data model's contents file")
    }
    if let type = root["type"], type != "com.apple.IDECoreDataModeler.DataModel" {
      throw document.unusable(root.offset(of: "type"), "'\(type)' is no type of model that is known")
    }
    if let identifier = root["userDefinedModelVersionIdentifier"], !identifier.isEmpty {
      definition.versionIdentifiers = [identifier]
    }
    for element in root.children {
      switch element.name {
      case "entity": definition.entities.append(try entity(element))
      case "composite": definition.composites.append(try composite(element))
      case "configuration": definition.configurations.append(try configuration(element))
      case "fetchRequest":
        let name = try required("name", of: element)
        if let template = try template(element) {
          definition.fetchTemplates.append(NamedFetchTemplate(name, template))
        }
      // The places of boxes in the editor's diagram.
      case "elements": break
      default: passOver(element, in: "the model")
      }
    }
  }

  // MARK: Entities

  @_optimize(none)
  private mutating func entity(_ element: XMLElement) throws(ModelFileError) -> EntitySchema {
    let name = try required("name", of: element)
    var result = EntitySchema(name, parent: text("parentEntity", of: element))
    result.isAbstract = try flag("isAbstract", of: element)
    if let className = text("representedClassName", of: element), className != "NSManagedObject" {
      // A leading point stands for the application's own module.
      result.className = className.utf8.first == UInt8(ascii: ".") ? String(className.dropFirst()) : className
    }
    result.renamingIdentifier = text("elementID", of: element)
    result.versionHashModifier = text("versionHashModifier", of: element)
    noteUnknown(
      element,
      known: [
        "name", "parentEntity", "isAbstract", "representedClassName", "elementID", "versionHashModifier", "syncable",
        "codeGenerationType",
      ], unused: ["coreSpotlightDisplayNameExpression": "there is no search index"])
    var legacyIndexes: [IndexSchema] = []
    for child in element.children {
      switch child.name {
      case "attribute":
        let attribute = try attribute(child, isElement: false)
        result.attributes.append(attribute)
        if try flag("indexed", of: child), !attribute.isTransient {
          legacyIndexes.append(IndexSchema(legacyIndexName([attribute.name]), [IndexElement(attribute.name)]))
          offsets[name + ".index." + legacyIndexName([attribute.name])] = child.offset
        }
      case "relationship":
        let relationship = try relationship(child)
        result.relationships.append(relationship)
        offsets[name + "." + relationship.name] = child.offset
      case "fetchedProperty":
        if let property = try fetchedProperty(child) { result.fetchedProperties.append(property) }
      case "fetchIndex":
        if let index = try fetchIndex(child, entity: name) { result.indexes.append(index) }
      case "compoundIndexes":
        for part in child.children {
          let paths = part.children.compactMap { $0["value"] }
          if paths.isEmpty { continue }
          legacyIndexes.append(IndexSchema(legacyIndexName(paths), paths.map { IndexElement($0) }))
          offsets[name + ".index." + legacyIndexName(paths)] = part.offset
        }
      case "uniquenessConstraints":
        for part in child.children {
          let paths = part.children.compactMap { $0["value"] }
          if paths.isEmpty {
            warn(part.offset, "\(name) has a uniqueness constraint of no attributes, which is left out")
          } else {
            result.uniquenessConstraints.append(UniquenessConstraint(paths))
          }
        }
      case "userInfo": result.userInfo = try userInfo(child)
      default: passOver(child, in: name)
      }
    }
    // The editor keeps both forms side by side in models that it converted.
    for index in legacyIndexes where !result.indexes.contains(where: { isSame($0, index) }) {
      result.indexes.append(index)
    }
    return result
  }

  private func legacyIndexName(_ paths: [String]) -> String {
    var name = "by"
    for path in paths {
      name += path.prefix(1).uppercased()
      name += path.dropFirst()
    }
    return name + "Index"
  }

  private func isSame(_ a: IndexSchema, _ b: IndexSchema) -> Bool {
    a.name == b.name || (a.elements == b.elements && a.partialPredicate == nil)
  }

  @_optimize(none)
  private mutating func composite(_ element: XMLElement) throws(ModelFileError) -> CompositeSchema {
    let name = try required("name", of: element)
    var result = CompositeSchema(name, elements: [])
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
  private mutating func configuration(_ element: XMLElement) throws(ModelFileError) -> ConfigurationSchema {
    var result = ConfigurationSchema(try required("name", of: element), entities: [])
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

  func userInfo(_ element: XMLElement) throws(ModelFileError) -> [UserInfoEntry] {
    var result: [UserInfoEntry] = []
    for child in element.children where child.name == "entry" {
      result.append(UserInfoEntry(key: try required("key", of: child), value: child["value"] ?? ""))
    }
    return result
  }

  // MARK: Attributes of elements

  /// The value of an attribute that must be there.
  func required(_ name: String, of element: XMLElement) throws(ModelFileError) -> String {
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

  /// Whether an attribute says YES.
  @_optimize(none)
  func flag(_ name: String, of element: XMLElement) throws(ModelFileError) -> Bool {
    guard let value = element[name] else { return false }
    switch value {
    case "YES", "yes", "true", "1": return true
    case "NO", "no", "false", "0", "": return false
    default: throw document.unusable(element.offset(of: name), "\(name) is '\(value)'; write YES or NO")
    }
  }

  /// A count; `nil` if the attribute is missing.
  @_optimize(none)
  func count(_ name: String, of element: XMLElement) throws(ModelFileError) -> UInt32? {
    guard let value = text(name, of: element) else { return nil }
    guard let count = UInt32(value) else {
      throw document.unusable(element.offset(of: name), "\(name) is '\(value)'; write a number from 0 to \(UInt32.max)")
    }
    return count
  }

  // MARK: Warnings

  mutating func warn(_ offset: Int, _ text: String) {
    warnings.append(ModelFileWarning(document.line(offset), text))
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
