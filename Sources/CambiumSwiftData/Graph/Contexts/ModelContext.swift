import Cambium
import Foundation

/// A working copy of a container's models: finds, inserts, changes and deletes them, and saves. SwiftData:
/// `ModelContext`.
///
/// A context is used from one place at a time: on the main actor, within one ``ModelActor``, or in one function. It is
/// not `Sendable`, and its models aren't either. Hand over a ``PersistentIdentifier``.
///
/// A context shows what others have saved after its next fetch; ``ModelContainer/mainContext`` does so by itself. All
/// work is done by one `ManagedObjectContext` of `Cambium`, with the merge policy `mergeByPropertyObjectTrump`: if
/// others have changed the same model, each property that was changed here wins.
public final class ModelContext: SendableMetatype {
  let stores: ContainerStores
  /// The container, unless this is its main context, which it keeps.
  private let keptContainer: ModelContainer?
  private weak var mainContainer: ModelContainer?
  /// The context of the object graph that does the work, for use with `Cambium`.
  public let managedObjectContext: ManagedObjectContext
  let autosave: Autosave
  /// Whether a property of one of the models was read, so that an observer may want to hear of its changes.
  var isObserved = false
  /// Whether a relationship of an observed model was read, so that its row keeps destinations; see ``ObservedRow``.
  var keepsDestinations = false
  /// The place in the history up to which the saves of other coordinators were merged; nil before there was an
  /// observer.
  var foreignToken: PersistentHistoryToken?
  /// How often the history was deleted before the context had read it.
  var historyGaps = 0
  /// The place that ends the events of the context, because an observer follows unsaved changes.
  private var eventPlace: JobPlace?
  private var isEndingEvent = false
  /// Which part of the code changes models; see ``editingState``.
  private var editingID = UUID()
  /// What made the last models of each class.
  private var makers: [ObjectIdentifier: ModelMaker] = [:]
  /// The last entity that models were made of, and what made them.
  @exclusivity(unchecked) private var lastEntity: EntityDescription?
  @exclusivity(unchecked) private var lastIdentity: ObjectIdentifier?
  @exclusivity(unchecked) private var lastMaker: ModelMaker?
  /// The last class of new models that was found to be the container's.
  @exclusivity(unchecked) private var lastOwnClass: ModelClass?

  /// A context of a container's models.
  public convenience init(_ container: ModelContainer) { self.init(container, .confinement) }

  init(_ container: ModelContainer, _ type: ConcurrencyType) {
    stores = container.stores
    keptContainer = type == .mainQueue ? nil : container
    mainContainer = type == .mainQueue ? container : nil
    let context = ManagedObjectContext(
      concurrencyType: type, persistentStoreCoordinator: container.persistentStoreCoordinator)
    managedObjectContext = context
    autosave = Autosave(type == .mainQueue ? .mainActor : .nobody)
    context.mergePolicy = .mergeByPropertyObjectTrump
    context.automaticallyMergesChangesFromParent = type == .mainQueue
    context.observeObjects(RowObserver.shared)
    context.face = self
    // A weak reference would slow down all others: each model has one.
    context.afterSaving { [unowned context] in (context.face as? ModelContext)?.post($0) }
  }

  /// The container.
  public var container: ModelContainer {
    if let known = keptContainer ?? mainContainer { return known }
    let made = ModelContainer(of: self)
    mainContainer = made
    return made
  }

  deinit {
    // With the lock held, because a merge on another thread may be telling models of this context.
    managedObjectContext.performAndWait {
      managedObjectContext.face = nil
      guard keepsDestinations else { return }
      // Models that were read by each other's relationships would keep each other for ever.
      managedObjectContext.forEachObject { ($0 as? ModelRow)?.observed?._withUnsafeGuaranteedRef { $0.letGo() } }
    }
  }

  // MARK: Settings

  /// Who changes the models, for the history of the stores.
  public var author: String? {
    get { managedObjectContext.transactionAuthor }
    set { managedObjectContext.transactionAuthor = newValue }
  }

  /// Undoes and redoes changes of the models; `nil`, the default, if changes cannot be undone.
  public var undoManager: UndoManager? {
    get { managedObjectContext.undoManager }
    set { managedObjectContext.undoManager = newValue }
  }

  /// Which part of the code changes models, and by whose order.
  public var editingState: EditingState {
    get { EditingState(id: editingID, author: author) }
    set { (editingID, author) = (newValue.id, newValue.author) }
  }

  // MARK: What changed

  /// Whether there is anything to save.
  public var hasChanges: Bool { managedObjectContext.hasChanges }

  /// The models that the next save inserts.
  public var insertedModelsArray: [any PersistentModel] {
    managedObjectContext.pendingObjects.inserted.compactMap(model)
  }

  /// The models that the next save updates.
  public var changedModelsArray: [any PersistentModel] { managedObjectContext.pendingObjects.updated.compactMap(model) }

  /// The models that the next save deletes.
  public var deletedModelsArray: [any PersistentModel] { managedObjectContext.pendingObjects.deleted.compactMap(model) }

  /// The errors of calls that cannot throw, such as setting a property: the oldest first, at most 100. The next save
  /// throws the first one by which a change was lost. SwiftData ends the process instead.
  public var recordedErrors: [any Error] { managedObjectContext.recordedErrors.map { $0.asSwiftDataError } }

  // MARK: Models of rows

  /// What the class of a row's model says of itself; nil if the container's schema has none, as of a subclass that only
  /// others have.
  func modelClass(of row: ModelRow) -> ModelClass? { maker(of: row)?.modelClass }

  /// What makes the models of a row's entity; nil as above.
  func maker(of row: ModelRow) -> ModelMaker? {
    if let lastIdentity, row.entityIdentity == lastIdentity { return lastMaker }
    let entity = row.entity
    guard let modelClass = stores.classes[entity.name] else { return nil }
    let found = maker(of: modelClass)
    (lastEntity, lastIdentity, lastMaker) = (entity, ObjectIdentifier(entity), found)
    return found
  }

  /// What makes the models of a class.
  func maker(of modelClass: ModelClass) -> ModelMaker {
    if let known = makers[modelClass.typeID] { return known }
    let made = modelClass.maker()
    makers[modelClass.typeID] = made
    return made
  }

  /// The error that a new model is of a class that the container has another one for, under the same name; nil if it is
  /// not.
  func foreignClass(of row: ModelRow) -> SwiftDataError? {
    guard let own = row.modelClass, own !== lastOwnClass, let known = stores.classes[row.entity.name] else {
      return nil
    }
    if known === own {
      lastOwnClass = own
      return nil
    }
    return SwiftDataError(
      .unknownSchema,
      "a \(own.type) is not '\(row.entity.name)' of this container, which is another class of that name; make the model of the "
        + "container's class")
  }

  /// The model of an object; nil if the container's schema has no class for it.
  func model(of object: ManagedObject) -> (any PersistentModel)? {
    guard let row = object as? ModelRow else { return nil }
    return (row.model ?? row.makeModel(context: self)) as? any PersistentModel
  }

  /// Notes that a model changes, so that the context saves by itself, or an observer learns of it, where that is
  /// wanted.
  func noteChange() {
    if autosave.isEnabled { autosave.schedule(self) }
    guard let eventPlace, !isEndingEvent else { return }
    isEndingEvent = true
    // `nonisolated(unsafe)`: the block runs where the context is used.
    nonisolated(unsafe) let kept = self
    eventPlace.start {
      kept.isEndingEvent = false
      kept.processPendingChanges()
    }
  }

  /// Has the present event end behind each job of a place that changes models. A place that runs no blocks ends none.
  func endEvents(at place: JobPlace) { if place.runsBlocks { eventPlace = place } }
}

extension ModelContext: Equatable {
  /// Whether both are the same.
  public static func == (a: ModelContext, b: ModelContext) -> Bool { a === b }
}

/// Which part of the code changes models. SwiftData: `EditingState`.
public struct EditingState: Identifiable, Sendable {
  /// Tells parts apart.
  public let id: UUID
  /// Who changes the models.
  public var author: String?

  init(id: UUID, author: String?) { (self.id, self.author) = (id, author) }
}

#if !canImport(ObjectiveC)
  /// Undoes and redoes changes. Foundation has no class of this name here.
  public typealias UndoManager = ContextUndoManager
#else
  /// Undoes and redoes changes. Foundation's class of this name is another one.
  public typealias UndoManager = Cambium.ContextUndoManager
#endif
