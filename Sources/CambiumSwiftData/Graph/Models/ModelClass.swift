import Cambium
@_spi(Reflection) import Swift
import Synchronization

/// What a model's class says of itself, found out once.
public final class ModelClass: @unchecked Sendable {
  // `@unchecked`: nothing changes after it was made, but for `early`, which is set once.
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
  /// The properties whose values are structures that are stored field by field. Few, so that they are found one by one.
  private let composites: [ModelProperty]
  /// Whether an initializer gives values before its body runs, or each class has storage of its own; see
  /// ``ModelMaking``.
  let beginsWithValues: Bool
  /// Properties by key paths that begin at this class, or at the one that declares them.
  let byKeyPath: [AnyKeyPath: ModelProperty]
  /// The groups of key paths that `#Unique` and `#Index` name, those of superclasses left out.
  let constraints: [any PathGroups]
  private let initializer: () -> (ModelRow, ModelContext?) -> AnyObject
  private let attacher: (AnyObject, ModelContext) -> Void
  private let shower: (ModelRow, AnyObject) -> Void
  /// What new rows are made with; see ``newRow()``.
  ///
  /// Kept as long as the process. An `AtomicLazyReference` would look up a type for each row.
  private let early = Atomic<UnsafeMutableRawPointer?>(nil)

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
    composites = properties.filter { $0.shape != nil }
    self.originalName = originalName
    self.byKeyPath = byKeyPath
    beginsWithValues = superclass != nil || properties.contains { $0.metadata.makeDefault != nil }
    byName = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
    initializer = { MakingBackingData<M>.initializer() }
    // A subclass without `@Model` has the rows of its superclass.
    attacher = { model, context in (model as? M)?._$attach(context) }
    shower = { row, model in (model as? M)?.persistentBackingData = ModelBackingData<M>(row: row) }
  }

  /// The fields of a property whose values are structures of a type, or optional ones, and are stored field by field.
  func shape(_ name: String, of type: Any.Type) -> CompositeShape? {
    for property in composites where property.name == name { return property.plainType == type ? property.shape : nil }
    return nil
  }

  /// The properties that the class itself declares.
  var ownProperties: [ModelProperty] {
    guard let superclass else { return properties }
    return properties.filter { superclass.byName[$0.name] == nil }
  }

  /// What makes models of the class, in one place at a time.
  func maker() -> ModelMaker { ModelMaker(self, initializer()) }

  /// Makes a model of the class one of a context.
  func attach(_ model: AnyObject, _ context: ModelContext) { attacher(model, context) }

  /// Has a model of the class show another row.
  func show(_ row: ModelRow, _ model: AnyObject) { shower(row, model) }

  /// A new model without values.
  func makeNew<M: PersistentModel>(as type: M.Type) -> M {
    ModelMaker.make(newRow(), self, as: type)
  }

  /// The name of a property by its key path. For one that is not stored, a name that no property has, so that using it
  /// is an error of the context's.
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
    let row = ModelRow(entity: earlyEntity ?? makeEarly(), insertInto: nil)
    row.modelClass = self
    return row
  }

  private var earlyEntity: EntityDescription? {
    early.load(ordering: .acquiring).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
  }

  /// Sets ``early``, unless it is set.
  private func keep(_ entity: EntityDescription) {
    let made = Unmanaged.passRetained(entity)
    if !early.compareExchange(expected: nil, desired: made.toOpaque(), ordering: .acquiringAndReleasing).exchanged {
      made.release()
    }
  }

  /// The entity of the class in a model of its own, so that it can be used before there is a container.
  @inline(never)
  private func makeEarly() -> EntityDescription {
    let classes = reachable
    let made = EarlyModel.entities(of: classes)
    for modelClass in classes {
      guard let entity = made[modelClass.entityName] else { continue }
      modelClass.keep(entity.twin)
    }
    return earlyEntity ?? EarlyEntity(EntityDescription(entityName)).twin
  }
}

/// The models that new rows are made with.
private enum EarlyModel {
  /// Keeps the models as long as the process runs.
  private static let models = Mutex<[ManagedObjectModel]>([])

  /// The entities of classes, by their names. Nothing if the classes make no model; the container says why.
  static func entities(of classes: [ModelClass]) -> [String: EarlyEntity] {
    guard let model = try? SchemaCompiler.model(of: classes, isEarly: true), (try? model.takeIntoUse()) != nil else {
      return [:]
    }
    models.withLock { $0.append(model) }
    return model.entitiesByName.mapValues { EarlyEntity($0) }
  }
}
