import CambiumEngine

// What an object is given before it is inserted: attributes are what they are later, by the entity's model. Relationships are held as
// they were set, since they keep no inverses without a context, and are set anew when the object is inserted.
extension ManagedObject {
  /// What an object was given before it was inserted.
  struct EarlyValues {
    fileprivate var attributes: [(name: String, value: Value)] = []
    /// Transient attributes, and relationships of all kinds.
    fileprivate var others: [String: Any] = [:]
  }

  /// Whether the object has never been in a context.
  var isEarly: Bool { state == .detached && managedObjectContext == nil && space === StoreSpace.none }

  /// Takes out what the object was given, if it has never been in a context.
  func takeEarlyValues() -> EarlyValues? {
    guard isEarly else { return nil }
    var result = EarlyValues(others: transients)
    for property in info.ordered where property.isAttribute && !property.isTransient {
      if let value = changedAttribute(at: property.place) { result.attributes.append((property.name, value)) }
    }
    overlay = nil
    return result
  }

  /// Gives a new object what it had before it was one of the context.
  func set(_ early: EarlyValues) {
    for (name, value) in early.attributes {
      if let property = info.properties[name], property.isDerived { continue }
      guard let property = info.properties[name], !property.isTransient, let attribute = property.attribute,
        let coerced = attribute.coerce(value)
      else {
        note(misfit(value, name, "no value of another version of the model"), losesChange: true)
        continue
      }
      overlay(coerced, at: property.place)
    }
    for (name, value) in early.others.sorted(by: { $0.key < $1.key }) {
      if let property = info.properties[name], property.isTransient, property.isAttribute {
        transients[name] = value
      } else {
        setValue(value, forKey: name)
      }
    }
  }

  /// Gives a new object the values that its entity says.
  func setDefaults(_ info: EntityInfo) {
    for property in info.withDefaults {
      guard case .attribute(let attribute, let rules) = property.kind else { continue }
      if rules.isTransient {
        transients[attribute.name] = rules.defaultValue.foundation(type: attribute.type, objects: space)
      } else {
        overlay(rules.defaultValue, at: property.place)
      }
    }
  }
}

extension ManagedObjectModel {
  /// What objects without a context know of their entities.
  ///
  /// - Parameter definition: Of the model, which is in use.
  static func earlySpace(_ definition: SchemaDefinition, _ descriptions: [String: EntityDescription]) -> StoreSpace? {
    var definition = definition
    definition.fetchTemplates = []
    for place in definition.entities.indices {
      definition.entities[place].indexes = []
      definition.entities[place].uniquenessConstraints = []
      for number in definition.entities[place].relationships.indices {
        definition.entities[place].relationships[number].isTransient = true
      }
    }
    guard let schema = try? compile(definition) else { return nil }
    return StoreSpace(identifier: "", stored: schema, model: schema, descriptions: descriptions)
  }
}
