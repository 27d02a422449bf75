import Cambium

/// Whether fetches find by the values, elements and links of a store's objects what has them, and nothing else.
struct FetchAgreement {
  /// How many values of one property are asked for.
  private static let limit = 4

  private let context: ManagedObjectContext
  private var entity = EntityDescription()
  private var objects: [ManagedObject] = []
  /// What was found and should not have been, or the other way round, in words.
  private(set) var disagreements: [String] = []
  /// How many fetches were compared.
  private(set) var count = 0

  init(_ context: ManagedObjectContext, _ model: ManagedObjectModel) throws {
    self.context = context
    for entity in model.entities where !entity.isAbstract {
      self.entity = entity
      let request = FetchRequest<ManagedObject>(entityName: entity.name)
      request.includesSubentities = false
      objects = try context.fetch(request)
      for (key, attribute) in entity.attributesByName { try compareValues(key, attribute) }
      for (key, relationship) in entity.relationshipsByName { try compareLinks(key, relationship) }
    }
  }

  private mutating func compareValues(_ path: String, _ attribute: AttributeDescription) throws {
    if let composite = attribute as? CompositeAttributeDescription {
      try compare("\(path) == nil", []) { $0.value(forKeyPath: path) == nil }
      for element in composite.elements { try compareValues("\(path).\(element.name)", element) }
      return
    }
    var seen: Set<String> = []
    for object in objects {
      let value = object.value(forKeyPath: path)
      let text = value.map { "\($0)" }
      guard seen.count < Self.limit, seen.insert(text ?? "nil").inserted else { continue }
      let format = value == nil ? "\(path) == nil" : "\(path) == %@"
      try compare(format, value.map { [$0] } ?? []) { $0.value(forKeyPath: path).map { "\($0)" } == text }
    }
  }

  private mutating func compareLinks(_ key: String, _ relationship: RelationshipDescription) throws {
    func names(_ object: ManagedObject) -> [String] {
      let value = object.value(forKey: key)
      let linked =
        (value as? Set<ManagedObject>).map { Array($0) } ?? value as? [ManagedObject]
        ?? (value as? ManagedObject).map { [$0] } ?? []
      return linked.compactMap { $0.value(forKey: "name") as? String }
    }
    for name in Set(objects.flatMap(names)).sorted().prefix(Self.limit) {
      let format = relationship.isToMany ? "ANY \(key).name == %@" : "\(key).name == %@"
      try compare(format, [name]) { names($0).contains(name) }
    }
    for number in Set(objects.map { names($0).count }) {
      if relationship.isToMany {
        try compare("\(key).@count == %@", [number]) { names($0).count == number }
      } else {
        try compare(number == 0 ? "\(key) == nil" : "\(key) != nil", []) { names($0).count == number }
      }
    }
  }

  private mutating func compare(
    _ format: String, _ arguments: [Any?], _ isMeant: (ManagedObject) -> Bool
  ) throws {
    let request = FetchRequest<ManagedObject>(entityName: entity.name)
    request.includesSubentities = false
    request.predicate = try FetchPredicate(format: format, argumentArray: arguments)
    let found = Set(try context.fetch(request))
    let meant = Set(objects.filter(isMeant))
    count += 1
    if found != meant {
      disagreements.append("\(entity.name), \(format) \(arguments): \(found.count) found, \(meant.count) meant")
    }
  }
}
