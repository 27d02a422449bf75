import CambiumEngine
import CambiumKernel

// What an object is given before it is inserted: attributes are what they are later, by the entity's model.
// Relationships are held as they were set, since they keep no inverses without a context, and are set anew when the
// object is inserted.
extension ManagedObject {
  /// What an object was given before it was inserted.
  struct EarlyValues {
    fileprivate var attributes: [(name: String, value: Value)] = []
    fileprivate var transients: [(name: String, value: Any)] = []
    /// Of all kinds, in the order of their names.
    fileprivate(set) var relationships: [(name: String, value: Any)] = []
    /// The first error by which a value was lost.
    fileprivate(set) var error: (any Error)?
  }

  /// Whether the object has never been in a context.
  var isEarly: Bool { state == .detached && managedObjectContext == nil && space === StoreSpace.none }

  /// Takes out what the object was given, if it has never been in a context.
  func takeEarlyValues() -> EarlyValues? {
    guard isEarly else { return nil }
    var result = EarlyValues()
    result.error = overlay?.earlyError
    for (name, value) in transients.ordered(by: { $0.key < $1.key }) {
      if info.properties[name]?.isAttribute == true {
        result.transients.append((name, value))
      } else {
        result.relationships.append((name, value))
      }
    }
    for property in info.ordered where property.isAttribute && !property.isTransient {
      if let value = changedAttribute(at: property.place) { result.attributes.append((property.name, value)) }
    }
    overlay = nil
    return result
  }

  /// Takes out the relationships that the object was given, and leaves the attributes where they are. Nil if that
  /// cannot be, because the object has been in a context, or has values of transient attributes.
  func takeEarlyRelationships() -> EarlyValues? {
    guard isEarly, let overlay else { return nil }
    var result = EarlyValues()
    result.error = overlay.earlyError
    let transients = overlay.transients
    if !transients.isEmpty {
      for (name, value) in transients.ordered(by: { $0.key < $1.key }) {
        if info.properties[name]?.isAttribute == true { return nil }
        result.relationships.append((name, value))
      }
    }
    overlay.dropSeldom()
    overlay.fields.pointee.isChangeNoticed = false
    return result
  }

  /// Gives a new object the attributes that it had before it was one of the context.
  func setAttributes(_ early: EarlyValues) {
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
    for (name, value) in early.transients {
      if let property = info.properties[name], property.isTransient, property.isAttribute {
        transients[name] = value
      } else {
        setValue(value, forKey: name)
      }
    }
  }

  /// Sets a relationship that the object was given before it was inserted. A to-many relationship keeps the
  /// destinations that other objects have added from their side: both sides may have been set before.
  func setEarlyRelationship(_ value: Any, forKey name: String) {
    var value = value
    if let given = value as? [ManagedObject], let managedObjectContext,
      let present = try? objectIDs(forRelationshipNamed: name), !present.isEmpty
    {
      let known = Set(given.map { ObjectIdentifier($0) })
      value = given + present.map(managedObjectContext.object(with:)).filter { !known.contains(ObjectIdentifier($0)) }
    }
    setValue(value, forKey: name)
  }

  /// Lets go of what the object was given, if it has never been in a context and nobody else has it: of a chain of such
  /// objects each would end within the one before, however many they are.
  static func letGo(of transients: inout [String: Any]) {
    func objects(_ transients: [String: Any]) -> [ManagedObject] {
      transients.values.flatMap { value -> [ManagedObject] in
        switch value {
        case let object as ManagedObject: [object]
        case let list as [ManagedObject]: list
        case let set as Set<ManagedObject>: Array(set)
        default: []
        }
      }
    }
    var ending = objects(transients)
    transients = [:]
    while var object = ending.popLast() {
      guard isKnownUniquelyReferenced(&object), object.isEarly else { continue }
      ending += objects(object.transients)
      object.transients = [:]
    }
  }

  /// Gives a new object the values that its entity says, of attributes that it has no value of.
  func setDefaults(_ info: EntityInfo) {
    for property in info.withDefaults {
      if !property.isTransient, changesAttribute(at: property.place) { continue }
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
  /// What objects without a context know of their entities; nil if the model is not in use.
  var earlySpace: StoreSpace? { keptPart { Self.earlySpace($0, $1) } as? StoreSpace }

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
