import Cambium
import Synchronization

@_spi(Reflection) import Swift

/// What a model's class says of itself, found out once.
public final class ModelClass: @unchecked Sendable {
  // `@unchecked`: nothing changes after it was made, but for `early`, which `lock` guards.
  let type: any PersistentModel.Type
  let typeID: ObjectIdentifier
  /// The class and those that it inherits from.
  let lineage: Set<ObjectIdentifier>
  let entityName: String
  /// What the model was called in earlier versions; nil if it was not renamed.
  let originalName: String?
  let superclass: ModelClass?
  /// All properties, those of the superclass first.
  let properties: [ModelProperty]
  let byName: [String: ModelProperty]
  /// Properties by key paths that begin at this class, or at the one that declares them.
  let byKeyPath: [AnyKeyPath: ModelProperty]
  /// The groups of key paths that `#Unique` and `#Index` name, those of superclasses left out.
  let constraints: [any PathGroups]
  private let maker: (ModelRow) -> AnyObject
  /// What new rows are made with; see ``newRow()``.
  private let early = Mutex<EarlyEntity?>(nil)

  private static let known = Mutex<[ObjectIdentifier: ModelClass]>([:])

  /// What a class says of itself. O(1) after the first time.
  static func of(_ type: any PersistentModel.Type) -> ModelClass {
    let id = ObjectIdentifier(type)
    if let found = known.withLock({ $0[id] }) { return found }
    // Asking the class may come back here for others.
    let made = make(type)
    return known.withLock { classes in
      if let other = classes[id] { return other }
      classes[id] = made
      return made
    }
  }

  private static func make<M: PersistentModel>(_ type: M.Type) -> ModelClass { ModelClass(type) }

  private init<M: PersistentModel>(_ type: M.Type) {
    self.type = type
    typeID = ObjectIdentifier(type)
    superclass = (_getSuperclass(type) as? any PersistentModel.Type).map { ModelClass.of($0) }
    lineage = (superclass?.lineage ?? []).union([ObjectIdentifier(type)])
    entityName = Schema.entityName(for: type)
    var properties: [ModelProperty] = []
    var constraints: [any PathGroups] = []
    var originalName: String?
    var byKeyPath: [AnyKeyPath: ModelProperty] = [:]
    for metadata in type.schemaMetadata {
      switch metadata.role {
      case .property:
        let property = ModelProperty(metadata)
        properties.append(property)
        byKeyPath[metadata.keypath] = property
        byKeyPath[metadata.declaredKeyPath] = property
      case .groups(let groups):
        if groups.modelType == type { constraints.append(groups) }
      case .originalName(let name, let owner):
        if owner == type { originalName = name }
      }
    }
    self.properties = properties
    self.constraints = constraints
    self.originalName = originalName
    self.byKeyPath = byKeyPath
    byName = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
    maker = { row in M(backingData: ModelBackingData<M>(row: row)) }
  }

  /// The properties that the class itself declares.
  var ownProperties: [ModelProperty] {
    guard let superclass else { return properties }
    return properties.filter { superclass.byName[$0.name] == nil }
  }

  /// Makes the model of a row; see ``ModelMaking``.
  func make(_ row: ModelRow) -> AnyObject { maker(row) }

  /// A new model without values.
  func makeNew<M: PersistentModel>(as type: M.Type) -> M {
    let row = newRow()
    guard let made = ModelMaking.make(row, self) as? M else { fatalError("\(self.type) is no \(M.self)") }
    made._$attach(nil)
    return made
  }

  /// The name of a property by its key path. For one that is not stored, a name that no property has, so that using it is an
  /// error of the context's.
  func storedName(of keyPath: AnyKeyPath) -> String { byKeyPath[keyPath]?.name ?? "\(keyPath)" }

  /// The model classes that the class leads to, by inheritance or relationships, itself included, in a fixed order.
  var reachable: [ModelClass] { ModelClass.reachable(from: [self]) }

  /// The model classes that classes lead to, themselves included.
  static func reachable(from classes: [ModelClass]) -> [ModelClass] {
    var result: [ModelClass] = []
    var seen = Set<ObjectIdentifier>()
    var waiting = Array(classes.reversed())
    while let next = waiting.popLast() {
      guard seen.insert(next.typeID).inserted else { continue }
      result.append(next)
      if let superclass = next.superclass { waiting.append(superclass) }
      for property in next.properties.reversed() {
        switch property.kind {
        case .attribute: continue
        case .toOne(let type), .toMany(let type): waiting.append(.of(type))
        }
      }
    }
    return result
  }

  // MARK: New rows

  /// A row for a new model, which belongs to no context.
  func newRow() -> ModelRow {
    let row = ModelRow(entity: earlyEntity.twin, insertInto: nil)
    row.modelClass = self
    return row
  }

  /// The entity of the class in a model of its own, so that it can be used before there is a container.
  private var earlyEntity: EarlyEntity {
    if let known = early.withLock({ $0 }) { return known }
    let classes = reachable
    let made = EarlyModel.entities(of: classes)
    for modelClass in classes {
      guard let entity = made[modelClass.entityName] else { continue }
      modelClass.early.withLock { if $0 == nil { $0 = entity } }
    }
    return early.withLock { $0 } ?? EarlyEntity(EntityDescription(entityName))
  }
}

/// The models that new rows are made with.
private enum EarlyModel {
  /// Keeps the models as long as the process runs.
  private static let models = Mutex<[ManagedObjectModel]>([])

  /// The entities of classes, by their names. Nothing if the classes make no model; the container says why.
  static func entities(of classes: [ModelClass]) -> [String: EarlyEntity] {
    guard let model = try? SchemaCompiler.model(of: classes, isEarly: true), (try? model.takeIntoUse()) != nil else { return [:] }
    models.withLock { $0.append(model) }
    return model.entitiesByName.mapValues { EarlyEntity($0) }
  }
}
