extension ModelDocument {
  /// Returns the document as the bytes of a `contents` file, which Xcode and ``init(contents:)`` read.
  ///
  /// - Throws: `unusable` for a text with a character that XML cannot have, such as U+0000.
  @_optimize(none)
  public func contents() throws(ModelDocumentError) -> [UInt8] {
    var writer = XMLWriter()
    writer.element(
      "model",
      [
        ("type", "com.apple.IDECoreDataModeler.DataModel"), ("documentVersion", "1.0"),
        ("lastSavedToolsVersion", "22522"), ("systemVersion", "23A344"), ("minimumToolsVersion", "Automatic"),
        ("sourceLanguage", "Swift"), ("userDefinedModelVersionIdentifier", versionIdentifier ?? ""),
      ]
    ) { writer in
      for entity in entities { write(entity, to: &writer) }
      for type in composites {
        writer.element("composite", [("name", type.name)]) { writer in
          for element in type.elements { write(element, to: &writer) }
        }
      }
      for request in fetchRequests { write(request, to: &writer) }
      for configuration in configurations {
        writer.element("configuration", [("name", configuration.name)]) { writer in
          for name in configuration.entities { writer.element("memberEntity", [("name", name)]) }
          write(configuration.userInfo, to: &writer)
        }
      }
    }
    if let problem = writer.problem { throw .unusable(line: 1, column: 1, detail: problem) }
    return Array(writer.text.utf8)
  }

  private func flag(_ value: Bool) -> String? { value ? "YES" : nil }

  @_optimize(none)
  private func write(_ entity: Entity, to writer: inout XMLWriter) {
    writer.element(
      "entity",
      [
        ("name", entity.name), ("representedClassName", entity.className ?? "NSManagedObject"),
        ("isAbstract", flag(entity.isAbstract)), ("parentEntity", entity.parent),
        ("elementID", entity.renamingIdentifier), ("versionHashModifier", entity.versionHashModifier),
        ("syncable", "YES"), ("codeGenerationType", entity.codeGeneration?.rawValue),
      ]
    ) { writer in
      for attribute in entity.attributes { write(attribute, to: &writer) }
      for relationship in entity.relationships { write(relationship, to: &writer) }
      for property in entity.fetchedProperties {
        writer.element("fetchedProperty", [("name", property.name), ("optional", "YES")]) { writer in
          write(property.request, to: &writer)
          write(property.userInfo, to: &writer)
        }
      }
      for index in entity.allIndexes() { write(index, to: &writer) }
      if !entity.uniquenessConstraints.isEmpty {
        writer.element("uniquenessConstraints", []) { writer in
          for paths in entity.uniquenessConstraints {
            writer.element("uniquenessConstraint", []) { writer in
              for path in paths { writer.element("constraint", [("value", path)]) }
            }
          }
        }
      }
      write(entity.userInfo, to: &writer)
    }
  }

  @_optimize(none)
  private func write(_ attribute: Attribute, to writer: inout XMLWriter) {
    let ending = attribute.type == .date ? "DateTimeInterval" : "ValueString"
    writer.element(
      "attribute",
      [
        ("name", attribute.name), ("optional", flag(attribute.isOptional)), ("transient", flag(attribute.isTransient)),
        ("usesScalarValueType", attribute.usesScalarValueType.map { $0 ? "YES" : "NO" }),
        ("attributeType", attribute.type == .undefined ? nil : attribute.type.rawValue),
        ("composite", attribute.compositeName), ("valueTransformerName", attribute.valueTransformerName),
        ("customClassName", attribute.customClassName), ("min" + ending, attribute.minimum?.value),
        ("max" + ending, attribute.maximum?.value), ("defaultValueString", attribute.defaultValue?.value),
        ("defaultDateTimeInterval", attribute.defaultInterval?.value),
        ("regularExpressionString", attribute.regularExpression?.value),
        ("derived", flag(attribute.derivation != nil)), ("derivationExpression", attribute.derivation),
        ("allowsExternalBinaryDataStorage", flag(attribute.allowsExternalBinaryDataStorage)),
        ("preserveAfterDeletion", flag(attribute.preservesValueInHistoryOnDeletion)),
        ("elementID", attribute.renamingIdentifier), ("versionHashModifier", attribute.versionHashModifier),
      ]
    ) { writer in write(attribute.userInfo, to: &writer) }
  }

  @_optimize(none)
  private func write(_ relationship: Relationship, to writer: inout XMLWriter) {
    let inverse = relationship.inverse
    writer.element(
      "relationship",
      [
        ("name", relationship.name), ("optional", flag(relationship.isOptional)),
        ("transient", flag(relationship.isTransient)), ("toMany", flag(relationship.isToMany)),
        ("minCount", relationship.minimumCount > 0 ? "\(relationship.minimumCount)" : nil),
        ("maxCount", relationship.maximumCount > 0 ? "\(relationship.maximumCount)" : nil),
        ("ordered", flag(relationship.isOrdered)), ("deletionRule", relationship.deleteRule.rawValue),
        ("destinationEntity", relationship.destination), ("inverseName", inverse),
        ("inverseEntity", inverse == nil ? nil : relationship.destination),
        ("elementID", relationship.renamingIdentifier), ("versionHashModifier", relationship.versionHashModifier),
      ]
    ) { writer in write(relationship.userInfo, to: &writer) }
  }

  @_optimize(none)
  private func write(_ request: Request, to writer: inout XMLWriter) {
    var attributes: [(name: String, value: String?)] = [
      ("name", request.name), ("entity", request.entity), ("predicateString", request.predicate?.value),
      ("fetchLimit", request.fetchLimit > 0 ? "\(request.fetchLimit)" : nil),
    ]
    // Each name once, and only those that can be names of attributes.
    for entry in request.userInfo
    where isAttributeName(entry.key) && !attributes.contains(where: { $0.name == entry.key }) {
      attributes.append((entry.key, entry.value))
    }
    writer.element("fetchRequest", attributes)
  }

  @_optimize(none)
  private func write(_ index: Index, to writer: inout XMLWriter) {
    writer.element(
      "fetchIndex", [("name", index.name), ("partialIndexPredicate", index.partialPredicate?.value)]
    ) { writer in
      for element in index.elements {
        writer.element(
          "fetchIndexElement",
          [
            ("property", element.path), ("type", element.kind.rawValue),
            ("order", element.isAscending ? "ascending" : "descending"),
          ])
      }
    }
  }

  private func write(_ entries: [UserInfo], to writer: inout XMLWriter) {
    if entries.isEmpty { return }
    writer.element("userInfo", []) { writer in
      for entry in entries { writer.element("entry", [("key", entry.key), ("value", entry.value)]) }
    }
  }
}

/// Whether a text can be the name of an attribute in XML.
private func isAttributeName(_ text: String) -> Bool {
  guard let first = text.unicodeScalars.first, first == "_" || isLetter(first) else { return false }
  return text.unicodeScalars.allSatisfy {
    isLetter($0) || ("0"..."9").contains($0) || $0 == "_" || $0 == "-" || $0 == "."
  }
}

private func isLetter(_ scalar: Unicode.Scalar) -> Bool {
  ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || scalar.value >= 0x80
}
