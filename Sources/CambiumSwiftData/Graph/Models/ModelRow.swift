import Cambium
import Observation

/// The row of a model: an object of the object graph, which has the model's values.
///
/// Application code has no use for it, but for `managedObject` calls of `Cambium` beside this API.
public final class ModelRow: ManagedObject {
  /// The model; nil if there is none at the moment. ``ModelStorage`` sets and clears it, so that it is valid whenever
  /// it is set.
  @exclusivity(unchecked) @usableFromInline var owner: UnsafeMutableRawPointer?
  /// What the model's class says of itself. Nil before there was a model.
  var modelClass: ModelClass? {
    get { heldClass?.takeUnretainedValue() }
    set { heldClass = newValue.map { .passUnretained($0) } }
  }
  /// Not counted, because the process keeps what classes say of themselves.
  @exclusivity(unchecked) private var heldClass: Unmanaged<ModelClass>?
  /// Has the registrar of the model, once a property was read; see ``ModelObservation``. Kept by this.
  @exclusivity(unchecked) @usableFromInline private(set) var observed: Unmanaged<ObservedRow>?
  /// Whether the model is being made, so that the initial values of its properties are to be passed over.
  @exclusivity(unchecked) @usableFromInline var isBeingMade = false
  /// Is told the name of each property that is read; for finding out what a key path leads through.
  @exclusivity(unchecked) @usableFromInline var probe: PathProbe?

  /// See the superclass.
  public required init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
  }

  deinit { observed?.release() }

  /// The model, if there is one.
  var model: AnyObject? { owner.map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() } }

  /// Whether the model was deleted before it was ever saved, so that no save has anything to do with it.
  var isDeletedUnsaved: Bool { isDeleted && objectID.isTemporaryID }

  /// The context of the model.
  var modelContext: ModelContext? { face as? ModelContext }

  /// The registrar, made when it is first asked for.
  var observedRegistrar: ObservationRegistrar {
    (observed ?? makeObserved())._withUnsafeGuaranteedRef { $0.registrar }
  }

  /// The registrar, if there is one.
  var registrar: ObservationRegistrar? { observed?._withUnsafeGuaranteedRef { $0.registrar } }

  @usableFromInline @inline(never)
  func makeObserved() -> Unmanaged<ObservedRow> {
    let made = Unmanaged.passRetained(ObservedRow())
    observed = made
    modelContext?.isObserved = true
    return made
  }

  /// The one row of a new model of a class that inherits, whose initializers each began with a row of their own.
  ///
  /// - Parameter levels: The rows of the classes, that of the root first.
  public static func joined(_ levels: [ModelRow]) -> ModelRow {
    guard let row = levels.last else { return ModelRow(entity: EntityDescription(), insertInto: nil) }
    for level in levels.dropLast() where level !== row { row.takeOver(level) }
    return row
  }

  // MARK: What others change

  /// Makes the model one of the context that the row is inserted into.
  public override func awakeFromInsert() {
    guard let context = modelContext else { return }
    // The model may have been read before it was inserted.
    if observed != nil { (context.isObserved, context.keepsDestinations) = (true, true) }
    context.noteChange()
    if let error = context.foreignClass(of: self) { context.managedObjectContext.note(error, losesChange: true) }
    if let model { modelClass?.attach(model, context) }
  }

  /// Tells observers that all values may be others.
  public override func awake(fromSnapshotEvents flags: SnapshotEventType) {
    // What was undone is to be saved like any change.
    if hasChanges { modelContext?.noteChange() }
    tellOfAll()
  }

  /// The same where the row is read anew when it is asked for.
  public override func didTurnIntoFault() { tellOfAll() }

  func tellOfAll() {
    guard observed != nil, let modelClass else { return }
    for property in modelClass.properties { tell(of: property) }
  }

  /// Tells observers that a property is about to change, by other means than its accessor.
  func tell(of property: ModelProperty) {
    // Somebody may observe a model that nobody has any more.
    guard let registrar, let model = model ?? makeModel(context: modelContext) else { return }
    property.tell(registrar, model)
  }
}

/// What a row has once a property of its model was read: the registrar, and the destinations that were read.
///
/// Who reads `item.trip?.name` observes a model that nobody has but this. So the rows of destinations are kept until
/// the relationship changes, or the context ends. To take a registrar out of a variable is slow, because its size is
/// not known here.
@usableFromInline final class ObservedRow {
  @usableFromInline let registrar = ObservationRegistrar()
  @exclusivity(unchecked) private var destinations: [(name: String, rows: [ManagedObject])] = []
  /// The destinations of to-one relationships, which are read again and again. Most models have one such relationship.
  @exclusivity(unchecked) private var first: (name: String, row: ModelRow)?
  @exclusivity(unchecked) private var others: [(name: String, row: ModelRow)] = []
  @exclusivity(unchecked) private var hasTold = false

  /// Keeps the destination of a to-one relationship of a model of a context.
  func keep(_ row: ModelRow, of name: String, _ context: ModelContext?) {
    if let first, first.name == name {
      if first.row !== row { self.first = (name, row) }
      return
    }
    tell(context)
    if first == nil { return first = (name, row) }
    guard let place = others.firstIndex(where: { $0.name == name }) else { return others.append((name, row)) }
    if others[place].row !== row { others[place].row = row }
  }

  /// Has the context let go of the destinations at its end.
  private func tell(_ context: ModelContext?) {
    guard !hasTold, let context else { return }
    hasTold = true
    context.keepsDestinations = true
  }

  /// Keeps the destinations of a to-many relationship of a model of a context.
  func keep(_ rows: [ManagedObject], of name: String, _ context: ModelContext?) {
    if !rows.isEmpty { tell(context) }
    if let place = destinations.firstIndex(where: { $0.name == name }) {
      destinations[place].rows = rows
    } else if !rows.isEmpty {
      destinations.append((name, rows))
    }
  }

  func letGo(of name: String) {
    destinations.removeAll { $0.name == name }
    if first?.name == name { first = nil }
    others.removeAll { $0.name == name }
  }

  func letGo() { (destinations, first, others) = ([], nil, []) }
}
