import CambiumEngine
import CambiumTesting

// Every kind of change that random models go through.

extension RandomModel {
  /// A kind of change: how it is called, how often it is tried, and how it is made, of the entity at a place if it is
  /// one of an entity. It answers whether there was anything to change.
  struct Operation: Sendable {
    let name: String
    /// Changes that seldom find what they need are tried more often.
    let weight: Int
    let make: @Sendable (inout RandomModel, Int) -> Bool

    init(_ name: String, _ weight: Int = 1, _ make: @escaping @Sendable (inout RandomModel, Int) -> Bool) {
      (self.name, self.weight, self.make) = (name, weight, make)
    }
  }

  static let operations: [Operation] =
    attributeOperations + relationshipOperations + destinationOperations + entityOperations + compositeOperations

  /// The operations by their places, each as often as it weighs.
  static let draws: [Int] = operations.indices.flatMap { [Int](repeating: $0, count: operations[$0].weight) }

  static let numericTypes: [AttributeType] = [
    .integer16, .integer32, .integer64, .double, .float, .decimal, .boolean,
  ]

  /// Another numeric type; the narrowest more often, so that some values do not fit.
  static func otherNumber(than type: AttributeType, _ random: inout SplitMix64) -> AttributeType {
    if type != .integer16, random.oneIn(2) { return .integer16 }
    return random.pick(numericTypes.filter { $0 != type })
  }

  // MARK: Attributes

  private static let attributeOperations: [Operation] = [
    Operation("attribute added") { model, place in model.addAttribute(place) { $0 } },
    Operation("attribute added with default") { model, place in
      var random = model.random
      defer { model.random = random }
      return model.addAttribute(place) { attribute in
        var result = attribute
        result.isOptional = false
        result.defaultValue = value(attribute.type, &random)
        return result
      }
    },
    Operation("required attribute added") { model, place in
      model.addAttribute(place) {
        var attribute = $0
        attribute.isOptional = false
        return attribute
      }
    },
    Operation("attribute removed") { model, place in model.removeAttribute(place, isComposite: false) },
    Operation("attribute renamed") { model, place in
      model.onAttribute(place) { attribute, new in
        attribute.renamingIdentifier = attribute.canonicalName
        attribute.name = new
      }
    },
    Operation("attribute made optional", 3) { model, place in
      model.onAttribute(place, where: { !$0.isOptional }) { attribute, _ in attribute.isOptional = true }
    },
    Operation("attribute made required with default") { model, place in
      var random = model.random
      defer { model.random = random }
      return model.onAttribute(place, where: { $0.isOptional && $0.type != .composite }) { attribute, _ in
        attribute.isOptional = false
        attribute.defaultValue = value(attribute.type, &random)
      }
    },
    Operation("attribute made required") { model, place in
      model.onAttribute(place, where: { $0.isOptional }) { attribute, _ in
        attribute.isOptional = false
        attribute.defaultValue = .null
      }
    },
    Operation("default changed", 5) { model, place in
      var random = model.random
      defer { model.random = random }
      return model.onAttribute(place, where: { !$0.defaultValue.isNull }) { attribute, _ in
        attribute.defaultValue = value(attribute.type, &random)
      }
    },
    Operation("numeric type changed", 3) { model, place in
      var random = model.random
      defer { model.random = random }
      return model.onAttribute(place, where: { $0.type.isNumeric && $0.defaultValue.isNull }) { attribute, _ in
        attribute.type = otherNumber(than: attribute.type, &random)
      }
    },
    Operation("numeric type of a key changed", 3) { model, _ in model.changeTypeOfKey() },
    Operation("type changed", 2) { model, place in
      model.onAttribute(
        place, where: { !$0.type.isNumeric && $0.type != .composite && $0.defaultValue.isNull }
      ) { attribute, _ in attribute.type = .integer64 }
    },
    Operation("attribute moved up", 4) { model, place in model.moveUp(place) },
    Operation("attribute moved down", 4) { model, place in model.moveDown(place) },
    Operation("attribute made relationship") { model, place in model.makeRelationship(place) },
    Operation("index added") { model, place in model.addKey(place, isUnique: false) },
    Operation("constraint added", 2) { model, place in model.addKey(place, isUnique: true) },
    Operation("constraint removed", 4) { model, _ in
      let has = model.definition.entities.firstIndex { !$0.uniquenessConstraints.isEmpty }
      if let has { model.definition.entities[has].uniquenessConstraints = [] }
      return has != nil
    },
  ]

  // MARK: Relationships

  private static let relationshipOperations: [Operation] = [
    Operation("relationship added", 2) { model, _ in model.addRelationship() },
    Operation("required relationship added") { model, _ in model.addRequiredRelationship() },
    Operation("required inverse added", 4) { model, _ in model.addInverse(isRequired: true) },
    Operation("relationship removed") { model, _ in model.removeRelationship() },
    Operation("relationship renamed", 2) { model, _ in model.renameRelationship() },
    Operation("relationship made required", 2) { model, _ in
      var random = model.random
      defer { model.random = random }
      return model.onRelationship({ $0.isOptional }) {
        $0.isOptional = false
        RandomModel.needSome(&$0, &random)
      }
    },
    Operation("relationship made optional", 4) { model, _ in
      model.onRelationship({ !$0.isOptional }) { $0.isOptional = true }
    },
    Operation("relationship made attribute", 2) { model, _ in model.makeAttribute() },
    Operation("to-one made to-many", 2) { model, _ in
      model.onRelationship({ !$0.isToMany }) {
        $0.isToMany = true
        $0.maximumCount = 0
      }
    },
    Operation("to-many made to-one", 2) { model, _ in
      model.onRelationship({ $0.isToMany }) {
        $0.isToMany = false
        $0.isOrdered = false
        $0.maximumCount = 1
      }
    },
    Operation("to-many made ordered", 2) { model, _ in
      model.onRelationship({ $0.isToMany && !$0.isOrdered }) { $0.isOrdered = true }
    },
    Operation("ordered made unordered", 2) { model, _ in
      model.onRelationship({ $0.isOrdered }) { $0.isOrdered = false }
    },
  ]

  private static let destinationOperations: [Operation] = [
    Operation("relationship moved up", 4) { model, _ in model.moveRelationshipUp() },
    Operation("relationship moved down", 4) { model, _ in model.moveRelationshipDown() },
    Operation("destination widened", 6) { model, _ in model.changeDestination(toAncestor: true) },
    Operation("destination changed", 3) { model, _ in model.changeDestination(toAncestor: false) },
    Operation("inverse added", 3) { model, _ in model.addInverse(isRequired: false) },
    Operation("made its own inverse", 3) { model, _ in model.makeOwnInverse() },
    Operation("made inverses", 5) { model, _ in model.makeInverses() },
    Operation("inverses parted", 2) { model, _ in model.partInverses() },
  ]

  // MARK: Entities

  private static let entityOperations: [Operation] = [
    Operation("entity added") { model, _ in
      model.definition.entities.append(EntitySchema(model.name("E"), attributes: [model.newAttribute()]))
      return true
    },
    Operation("entity removed", 2) { model, place in model.removeEntity(place) },
    Operation("entity renamed") { model, place in model.renameEntity(place) },
    Operation("entity made abstract", 2) { model, place in
      defer { model.definition.entities[place].isAbstract = true }
      return !model.definition.entities[place].isAbstract
    },
    Operation("entity made concrete", 3) { model, _ in
      let abstract = model.definition.entities.indices.filter { model.definition.entities[$0].isAbstract }
      if abstract.isEmpty { return false }
      model.definition.entities[model.random.pick(abstract)].isAbstract = false
      return true
    },
    Operation("parent added") { model, place in model.addParent(place) },
    Operation("child added") { model, place in
      let parent = model.definition.entities[place].name
      model.definition.entities.append(
        EntitySchema(model.name("E"), parent: parent, attributes: [model.newAttribute()]))
      return true
    },
    Operation("entity moved", 2) { model, place in model.moveEntity(place) },
    Operation("entity moved under a new one") { model, place in model.moveUnderNewEntity(place) },
  ]

  // MARK: Composites

  private static let compositeOperations: [Operation] = [
    Operation("composite added") { model, place in
      model.definition.entities[place].attributes.append(model.newComposite())
      return true
    },
    Operation("composite removed", 3) { model, place in model.removeAttribute(place, isComposite: true) },
    Operation("composite extended", 2) { model, place in
      let element = model.newAttribute()
      return model.onAttribute(place, where: { $0.type == .composite }) { attribute, _ in
        attribute.elements.append(element)
      }
    },
    Operation("element renamed", 3) { model, place in
      model.onAttribute(
        place, where: { $0.type == .composite && $0.elements.contains { $0.type != .composite } }
      ) { attribute, new in
        guard let index = attribute.elements.firstIndex(where: { $0.type != .composite }) else { return }
        attribute.elements[index].renamingIdentifier = attribute.elements[index].canonicalName
        attribute.elements[index].name = new
      }
    },
    Operation("element removed", 4) { model, place in
      model.onAttribute(place, where: { $0.type == .composite && $0.elements.count > 1 }) { attribute, _ in
        attribute.elements.removeLast()
      }
    },
    Operation("attributes gathered") { model, place in model.gather(place) },
    Operation("composite spread", 3) { model, place in model.spread(place) },
    Operation("element made required", 3) { model, place in
      let withDefault = model.random.oneIn(3)
      return model.requireElement(place, withDefault: withDefault)
    },
    Operation("required element added", 3) { model, place in
      let withDefault = model.random.oneIn(3)
      return model.addRequiredElement(place, withDefault: withDefault)
    },
    Operation("attribute moved into a composite", 3) { model, place in model.moveIntoComposite(place) },
    Operation("element moved out of its composite", 4) { model, place in model.moveOutOfComposite(place) },
    Operation("composite moved into another", 4) { model, place in model.moveCompositeIntoComposite(place) },
  ]
}
