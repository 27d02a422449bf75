/// Undoes and redoes what was changed in contexts. Core Data: `UndoManager`, which Foundation has not got everywhere.
///
///     context.undoManager = ContextUndoManager()
///     aircraft.tailNumber = "N5DD"
///     context.processPendingChanges()
///     context.undo()
///
/// An event ends with ``ManagedObjectContext/processPendingChanges()``. The manager undoes all changes of an event, or
/// of a group of events, at once. Undoing an insertion deletes the object. Undoing a deletion brings the object back
/// with its relationships. Undoing a change of a relationship reverts both sides.
///
/// A save keeps what can be undone. Undoing a saved change makes a new change, which the application saves. An object
/// whose deletion was saved comes back as a new object: the same instance with another identifier.
///
/// The manager forgets changes in three cases:
///
/// - ``ManagedObjectContext/rollback()`` and ``ManagedObjectContext/reset()`` forget everything.
/// - A merge of what others saved (``ManagedObjectContext/mergeChanges(fromContextDidSave:)-(ObjectIDNotification)``)
///   forgets changes of relationships of the merged objects, and all changes before them.
/// - ``undo()`` forgets a change of a relationship, and all changes before it, if the relationship has changed since in
///   another way: a fetch or a refresh showed what others saved, or a merge policy kept their value.
///
/// Use the manager only where you use its context.
public final class ContextUndoManager {
  /// One thing that a group undoes.
  enum Action {
    /// Reverts the changes of an event in a context.
    case changes(WeakContext, ChangeList)
    /// Calls a closure of the application.
    case call(() -> Void)
    /// Calls a closure of the application with an object, if the object still exists.
    case callWith(WeakTarget, (AnyObject) -> Void)
  }

  /// What an action of the application's own is about. The manager does not keep it.
  struct WeakTarget { weak var object: AnyObject? }

  private struct Group {
    var actions: [Action] = []
    var name = ""
  }

  /// The context holds the manager.
  struct WeakContext { weak var context: ManagedObjectContext? }

  private var undoStack: [Group] = []
  private var redoStack: [Group] = []
  private var open: Group?
  private var nextName = ""
  private var disabledCount = 0
  private var contexts: [WeakContext] = []

  /// How many groups there are to undo at most; the oldest are forgotten. 0, the default, for any number.
  public var levelsOfUndo = 0 {
    didSet { trim() }
  }
  /// Whether the manager makes a group of each event whose changes no open group takes.
  ///
  /// The value makes no difference here: with `false`, the manager makes such groups as well. Core Data raises an
  /// exception instead if something changes outside of a group. The property exists for code that sets it.
  public var groupsByEvent = true
  /// How deep the groups are that have begun and not ended.
  public private(set) var groupingLevel = 0
  /// Whether something is being undone at the moment.
  public private(set) var isUndoing = false
  /// Whether something is being redone at the moment.
  public private(set) var isRedoing = false

  /// A manager with nothing to undo.
  public init() {}

  // MARK: Groups

  /// Begins a group: what is changed until ``endUndoGrouping()`` is undone as one. Groups may be in groups; the
  /// outermost one counts.
  public func beginUndoGrouping() {
    endEvents()
    if groupingLevel == 0 {
      open = Group(name: nextName)
      nextName = ""
    }
    groupingLevel += 1
  }

  /// Ends a group. Does nothing if none has begun.
  public func endUndoGrouping() {
    guard groupingLevel > 0 else { return }
    endEvents()
    groupingLevel -= 1
    guard groupingLevel == 0, let group = open else { return }
    open = nil
    push(group)
  }

  /// Names the open group, or else the one to come: "Move Flight", for a menu.
  public func setActionName(_ name: String) { if open == nil { nextName = name } else { open?.name = name } }

  /// The name of what would be undone next; empty if it has none.
  public var undoActionName: String { undoStack.last?.name ?? "" }
  /// The name of what would be redone next; empty if it has none.
  public var redoActionName: String { redoStack.last?.name ?? "" }

  // MARK: Registration

  /// Whether changes are registered.
  public var isUndoRegistrationEnabled: Bool { disabledCount == 0 }

  /// What is changed from now on cannot be undone, until ``enableUndoRegistration()`` is called as often.
  public func disableUndoRegistration() {
    endEvents()
    disabledCount += 1
  }

  /// Ends what ``disableUndoRegistration()`` began. Does nothing if that was not called.
  public func enableUndoRegistration() {
    guard disabledCount > 0 else { return }
    endEvents()
    disabledCount -= 1
  }

  /// Registers something of the application's own, as part of the open group, or as a group. What `handler` registers
  /// in turn is how it is redone.
  public func registerUndo(_ handler: @escaping () -> Void) {
    guard isUndoRegistrationEnabled else { return }
    if !isUndoing, !isRedoing { endEvents() }
    register(.call(handler))
  }

  /// Registers something of the application's own, as ``registerUndo(_:)`` does, that is about an object. The manager
  /// does not keep the object: once it is gone, the action does nothing.
  public func registerUndo<Target: AnyObject>(withTarget target: Target, handler: @escaping (Target) -> Void) {
    guard isUndoRegistrationEnabled else { return }
    if !isUndoing, !isRedoing { endEvents() }
    register(
      .callWith(WeakTarget(object: target)) { object in
        if let object = object as? Target { handler(object) }
      })
  }

  func register(_ action: Action) {
    if open != nil {
      open?.actions.append(action)
    } else {
      push(Group(actions: [action], name: nextName))
      nextName = ""
    }
  }

  private func push(_ group: Group) {
    if group.actions.isEmpty { return }
    redoStack = []
    undoStack.append(group)
    trim()
  }

  private func trim() {
    guard levelsOfUndo > 0 else { return }
    if undoStack.count > levelsOfUndo { undoStack.removeFirst(undoStack.count - levelsOfUndo) }
    if redoStack.count > levelsOfUndo { redoStack.removeFirst(redoStack.count - levelsOfUndo) }
  }

  // MARK: Undoing

  /// Whether there is something to undo. Changes whose event has not ended yet count.
  public var canUndo: Bool {
    !undoStack.isEmpty || open?.actions.isEmpty == false
      || isUndoRegistrationEnabled && living.contains { !$0.events.objects.isEmpty }
  }
  /// Whether there is something to redo.
  public var canRedo: Bool { !redoStack.isEmpty }

  /// Undoes the last group; a group that has begun is ended. Errors are noted in
  /// ``ManagedObjectContext/recordedErrors``.
  public func undo() {
    guard !isUndoing, !isRedoing else { return }
    while groupingLevel > 0 { endUndoGrouping() }
    endEvents()
    guard let group = undoStack.popLast() else { return }
    isUndoing = true
    let opposite = takeBack(group)
    isUndoing = false
    if !opposite.actions.isEmpty { redoStack.append(opposite) }
  }

  /// Redoes what was undone last, if nothing was changed since; a group that has begun is ended.
  public func redo() {
    guard !isUndoing, !isRedoing else { return }
    while groupingLevel > 0 { endUndoGrouping() }
    endEvents()
    guard let group = redoStack.popLast() else { return }
    isRedoing = true
    let opposite = takeBack(group)
    isRedoing = false
    if !opposite.actions.isEmpty { undoStack.append(opposite) }
    trim()
  }

  /// Takes back what a group did, and answers what that changed.
  private func takeBack(_ group: Group) -> Group {
    open = Group(name: group.name)
    groupingLevel = 1
    let disabled = disabledCount
    disabledCount = 0
    actions: for action in group.actions.reversed() {
      switch action {
      case .call(let handler): handler()
      case .callWith(let target, let handler): if let object = target.object { handler(object) }
      case .changes(let weak, let list):
        guard let context = weak.context else { continue }
        let isReverted = context.lock.run {
          defer { context.processEvent() }
          // Each event is taken back as one, so that redoing them comes by the same states.
          return context.revert(list)
        }
        if isReverted { continue }
        // What came before it cannot be taken back either.
        if isUndoing { undoStack = [] } else { redoStack = [] }
        break actions
      }
    }
    endEvents()
    disabledCount = disabled
    groupingLevel = 0
    defer { open = nil }
    return open ?? Group()
  }

  /// Forgets everything that could be undone or redone.
  public func removeAllActions() {
    undoStack = []
    redoStack = []
    if open != nil { open?.actions = [] }
  }

  /// Forgets the actions that ``registerUndo(withTarget:handler:)`` registered for an object. A group without other
  /// actions goes with them.
  public func removeAllActions(withTarget target: AnyObject) {
    func isOther(_ action: Action) -> Bool {
      if case .callWith(let registered, _) = action { return registered.object !== target }
      return true
    }
    func without(_ groups: [Group]) -> [Group] {
      groups.compactMap { group in
        var group = group
        group.actions = group.actions.filter(isOther)
        return group.actions.isEmpty ? nil : group
      }
    }
    undoStack = without(undoStack)
    redoStack = without(redoStack)
    open?.actions.removeAll { !isOther($0) }
  }

  /// Keeps what objects have whose deletion is saved, as long as there is an event that could bring them back.
  func keep(_ remains: [ObjectIdentifier: ObjectRemains?]) {
    if remains.isEmpty { return }
    for group in undoStack + redoStack + (open.map { [$0] } ?? []) {
      for case .changes(_, let list) in group.actions {
        for change in list.changes {
          let id = ObjectIdentifier(change.object)
          if let remains = remains[id] { list.remains[id] = remains }
        }
      }
    }
  }

  /// Forgets the changes of objects whose relationships others have changed, and what cannot be undone without them.
  func forget(relationshipsOf objects: Set<ManagedObject>) {
    if objects.isEmpty || undoStack.isEmpty && redoStack.isEmpty && open == nil { return }
    func concerns(_ group: Group) -> Bool {
      group.actions.contains { action in
        guard case .changes(_, let list) = action else { return false }
        return list.changes.contains { $0.concernsRelationships && objects.contains($0.object) }
      }
    }
    if let last = undoStack.lastIndex(where: concerns) { undoStack.removeFirst(last + 1) }
    if let last = redoStack.lastIndex(where: concerns) { redoStack.removeFirst(last + 1) }
    if let group = open, concerns(group) {
      open?.actions = []
      undoStack = []
    }
  }

  // MARK: Contexts

  func attach(_ context: ManagedObjectContext) {
    contexts.removeAll { $0.context == nil || $0.context === context }
    contexts.append(WeakContext(context: context))
  }

  func detach(_ context: ManagedObjectContext) { contexts.removeAll { $0.context == nil || $0.context === context } }

  private var living: [ManagedObjectContext] { contexts.compactMap { $0.context } }

  private func endEvents() { for context in living { context.processPendingChanges() } }
}

extension ManagedObjectContext {
  /// Ends the event, and undoes what the undo manager has as last; see ``ContextUndoManager``. Does nothing without
  /// one.
  public func undo() {
    lock.run {
      processPendingChanges()
      undoManager?.undo()
    }
  }

  /// Redoes what was undone last, if nothing was changed since.
  public func redo() {
    lock.run {
      processPendingChanges()
      undoManager?.redo()
    }
  }
}
