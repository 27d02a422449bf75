import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An object of an entity, in a context. Core Data: `NSManagedObject`.
///
/// Use an object where its context is used: on the main thread for a main-queue context, else within
/// ``ManagedObjectContext/perform(_:)->_`` or ``ManagedObjectContext/performAndWait(_:)``. Two objects are equal if
/// they are the same instance; a context has one instance for each row. An object does not keep its context, as in Core
/// Data: once that is gone (it was made for one fetch only, say), the object reads as if it had no values.
///
/// A **fault** is an object that nobody has looked at. Its row is read at the first access to a property, unless it
/// came with the fetch, and kept as the bytes that it is; values are decoded when they are asked for. Changes lie over
/// it until they are saved.
///
/// Where Core Data raises an exception (an unknown key, a value of the wrong type), the methods called as in Core Data
/// answer `nil` or leave the object as it is, and note the error in ``ManagedObjectContext/recordedErrors``; the next
/// save throws it if a change was lost. ``get(_:)`` and ``set(_:forKey:)`` throw at once.
open class ManagedObject {
  enum State {
    /// Not in the store yet.
    case inserted
    /// The row has not been shown to the application yet; it may have been read.
    case fault
    /// The row is there.
    case loaded
    /// The object was just saved, and its new row will be read when it is needed.
    case stale
    /// The object belongs to no context.
    case detached
  }

  /// The context; `nil` for an object that was not inserted into one, or whose context is gone or was reset.
  public var managedObjectContext: ManagedObjectContext? {
    withHome { $0.link?.context }
  }

  /// Whether there is a context. To ask for it takes longer.
  var hasContext: Bool {
    withHome { $0.link?.isThere ?? false } ?? false
  }

  /// Whether the object belongs to a context.
  func isOfContext(_ context: ManagedObjectContext) -> Bool {
    withHome { $0.link === context.link } ?? false
  }

  /// Whether both objects belong to one context, which is there.
  func isOfSameContext(as other: ManagedObject) -> Bool {
    withHome { home in
      guard let link = home.link else { return false }
      return other.withHome { $0.link === link } == true && link.isThere
    } ?? false
  }

  /// The entity.
  public var entity: EntityDescription {
    withHome { $0.entity } ?? EntityInfo.unknown.description
  }
  /// See ``home``, which is held while it is this. Looked at without counting references: nothing that is done
  /// meanwhile puts another in its place.
  @exclusivity(unchecked) private(set) var heldHome: Unmanaged<ObjectHome>?
  /// What keeps the home: itself, or the twin that the object was made with. An initializer has that as its own, so
  /// that to keep it counts no reference, nor does it later to come from the cradle to the home, both of which the twin
  /// holds.
  @exclusivity(unchecked) private var homeKeeper: AnyObject?
  /// What it has in common with other objects of its entity and context; nil only while the object is being made.
  private(set) var home: ObjectHome? {
    @inline(__always) get { heldHome?.takeUnretainedValue() }
    set {
      let old = homeKeeper
      heldHome = newValue.map { .passUnretained($0) }
      homeKeeper = newValue
      withExtendedLifetime(old) {}
    }
  }

  /// The names of the properties that ``ManagedPaths()`` declares, of the class and its superclasses, by their key
  /// paths from the class. The macro overrides it.
  open class var managedKeyPaths: [AnyKeyPath: String] { [:] }

  deinit {
    heldRow?.release()
    heldOverlay?.release()
  }

  /// The row's number in the store, or a temporary one.
  @exclusivity(unchecked) private var number: UInt64
  /// The identifier: temporary until the object is saved.
  public internal(set) var objectID: ManagedObjectID {
    @inline(__always) get { ManagedObjectID(space: space, reference: reference) }
    set {
      home = (home ?? .nowhere(entity)).changed(to: newValue)
      number = newValue.reference.row
    }
  }
  /// What the identifier names the row by in its store.
  var reference: ObjectReference {
    @inline(__always) get {
      ObjectReference(entity: withHome { $0.entityID } ?? 0, row: number)
    }
  }
  var storeIdentifier: String { space.identifier }
  /// The store of the identifier.
  var space: StoreSpace {
    @inline(__always) get { withHome { $0.space } ?? .none }
  }
  var info: EntityInfo {
    @inline(__always) get { withHome { $0.info } ?? .unknown }
  }

  /// Whether the object will be deleted by the next save, or was.
  @exclusivity(unchecked) public internal(set) var isDeleted = false
  @exclusivity(unchecked) var state: State
  /// In which of its context's lists it is of what the next save does, and where: kept by ``PendingObjects`` alone.
  @exclusivity(unchecked) var pending = PendingKind.none
  @exclusivity(unchecked) var pendingPlace: UInt32 = 0
  /// See ``row``, which is held while it is this.
  @exclusivity(unchecked) private(set) var heldRow: BorrowedRow?
  /// The row as it was read; nil for a fault, and for an object that has none yet.
  var row: Row? {
    get { heldRow?.row }
    set {
      let old = heldRow
      heldRow = newValue.map { row in withExtendedLifetime(row) { BorrowedRow(row).retained() } }
      old?.release()
    }
  }

  /// The version of ``row``.
  var rowVersion: UInt32? {
    guard let heldRow else { return nil }
    defer { withExtendedLifetime(self) {} }
    return heldRow.version
  }

  /// The same as to set ``row`` to one that is kept for this object.
  @inline(__always)
  func take(retained row: BorrowedRow) {
    let old = heldRow
    heldRow = row
    old?.release()
  }
  /// See ``overlay``, which is held while it is this: looked at without counting references where nothing else of the
  /// object is done meanwhile.
  @exclusivity(unchecked) private(set) var heldOverlay: Unmanaged<ObjectOverlay>?
  /// What it has besides; nil for an object that is only read.
  var overlay: ObjectOverlay? {
    @inline(__always) get { heldOverlay?.takeUnretainedValue() }
    set {
      let old = heldOverlay
      heldOverlay = newValue.map { .passRetained($0) }
      old?.release()
    }
  }

  /// Gives a new object a temporary number of its own.
  func becomeNumbered() { number = ManagedObjectID.nextTemporaryRow() }

  /// Has the object of a temporary identifier be the same by its permanent one, which is of the same entity and store.
  func become(permanent reference: ObjectReference) {
    guard reference.entity == self.reference.entity else {
      objectID = ManagedObjectID(space: space, reference: reference)
      return
    }
    number = reference.row
  }

  /// Makes an object and, if there is a context, inserts it.
  ///
  /// An entity that is not of the context's stores, or whose objects are of another class than this
  /// (``EntityDescription/managedObjectClass``), makes an object that is of no use; the context notes
  /// ``CambiumError/Code/invalidArgument``, and its next save throws it.
  ///
  /// A class that overrides this has it called for objects of rows as well, without a context and before the object is
  /// that of its row: then the initializer cannot set values, except for objects that the handler of a batch insert
  /// request fills in. The entity that such a class is handed describes that of the object, but may be another
  /// instance: ask ``entity`` after `super.init`. Set initial values of the model's
  /// properties in ``awakeFromInsert()``, and those of other Swift properties here.
  public required init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
    number = ObjectReference.firstTemporaryRow
    state = .detached
    if let cradle = entity.cradle {
      // Only an ``ObjectHome`` is ever a cradle.
      heldHome = .passUnretained(unsafeDowncast(cradle, to: ObjectHome.self))
      // The initializer's own reference, moved where nothing else asks for it.
      if let context {
        homeKeeper = entity
        context.insertNew(self, entity)
      } else {
        homeKeeper = entity
      }
      return
    }
    context?.insertNew(self, entity)
    if heldHome == nil { beEarly(entity) }
  }

  /// Belongs to no context yet: see ``ManagedObjectContext/insert(_:)``.
  private func beEarly(_ entity: EntityDescription) {
    let made = ObjectHome.early(entity)
    home = made
    number = ManagedObjectID.nextTemporaryRow()
    if !made.info.withDefaults.isEmpty { setDefaults(made.info) }
  }

  /// Inserts a new object of the entity of this class: the one that names the class, or is called like it.
  public convenience init(context: ManagedObjectContext) {
    self.init(entity: context.birthEntity(for: Self.self), insertInto: context)
  }

  /// Makes this the object of an identifier, which leads to a row unless it is temporary.
  func become(_ id: ManagedObjectID, _ info: EntityInfo, in context: ManagedObjectContext) {
    become(id, context.home(of: id, info, entity))
  }

  /// Makes this the object of an identifier that has its home there.
  func become(_ id: ManagedObjectID, _ home: ObjectHome) {
    self.home = home
    number = id.reference.row
    state = .fault
  }

  /// Makes this new object, which belongs to no context yet, that of a row.
  ///
  /// - Parameters:
  ///   - birth: An object that was made with its twin holds that already.
  ///   - row: Kept for this object.
  @inline(__always)
  func become(_ number: UInt64, _ birth: ObjectBirth, _ row: BorrowedRow?) {
    heldHome = birth.home
    if homeKeeper.map({ Unmanaged.passUnretained($0).toOpaque() }) != birth.twin.toOpaque() { keep(birth.twin) }
    self.number = number
    state = .fault
    if let row { take(retained: row) }
  }

  @inline(never)
  private func keep(_ twin: Unmanaged<EntityDescription>) { homeKeeper = twin.takeUnretainedValue() }

  /// Has the object belong to no context.
  func leaveContext() { home = home?.withoutContext }

  // MARK: State

  /// Whether the object will be put into the store by the next save.
  public var isInserted: Bool { state == .inserted && !isDeleted }

  /// Whether the object is in the store and has unsaved changes.
  public var isUpdated: Bool {
    state != .inserted && state != .detached && !isDeleted && hasValueChanges
  }

  /// Whether the next save would insert, update or delete the object.
  public var hasChanges: Bool {
    guard managedObjectContext != nil else { return false }
    return isInserted || isUpdated || pending == .deleted
  }

  /// Whether nobody has looked at the object yet; its row may have come with the fetch. Asking does not read it.
  public var isFault: Bool { state == .fault }

  // MARK: Hooks

  /// Called once, when the object was inserted into a context. Set initial values here.
  open func awakeFromInsert() {}

  /// Called when the object's row was read.
  open func awakeFromFetch() {}

  /// Called when the object shows other values by other means than setting its properties: changes were undone, redone
  /// or rolled back, it was refreshed, or what others have saved was merged, by a merge policy as well.
  /// ``awakeFromInsert()`` is not called when an insertion is redone.
  open func awake(fromSnapshotEvents flags: SnapshotEventType) {}

  /// Called before the object becomes a fault, its values still there.
  open func willTurnIntoFault() {}

  /// Called when the object became a fault.
  open func didTurnIntoFault() {}

  /// Called before a save that concerns the object, and again when it, or another such method, changes the object
  /// meanwhile, or brings others into the save, until nothing changes any more. So compare before setting, or use
  /// ``setPrimitiveValue(_:forKey:)``, which does not count: what is set anew each time ends with an error of the save
  /// after 100 rounds. (Setting what is there already is no change.)
  open func willSave() {}

  /// Called after a save that concerned the object.
  open func didSave() {}

  /// Called when the object is about to be deleted, its relationships still there.
  open func prepareForDeletion() {}

  /// Checks a new object before it is saved. Overriding methods call this one.
  ///
  /// - Throws: the validation error, or ``CambiumError/Code/validationMultipleErrors``.
  open func validateForInsert() throws { try validate(all: true) }

  /// Checks a changed object before it is saved: the properties that changed. Overriding methods call this one.
  ///
  /// - Throws: as ``validateForInsert()``.
  open func validateForUpdate() throws { try validate(all: false) }

  // MARK: Entity and text

  /// The entity of this class, in the model that stores were opened with last of those that have one; without, an
  /// entity of the class's name that no store has. Core Data: `entity`.
  ///
  /// Where several models have the class, a context is better asked: ``EntityDescription/entity(forEntityName:in:)``.
  open class func entity() -> EntityDescription { ModelsInUse.entity(for: self) ?? EntityDescription("\(self)") }

  /// The entity, the identifier and the changed properties; reads nothing from the store.
  open var description: String {
    let changes = changedKeys.isEmpty ? "" : ", changed: " + changedKeys.joined(separator: " ")
    return "<\(entity.name) \(objectID)\(isFault ? ", fault" : "")\(changes)>"
  }

  /// The ``description``.
  open var debugDescription: String { description }

  // MARK: Single values

  /// Checks an object of Foundation's that a property is to have, such as an `NSString` or an `NSNumber`. An overriding
  /// method may put another object in its place, and calls this one, which checks as
  /// ``validateValue(_:forKey:)-(Any?,_)`` does. Saves do not call this method; the module `CambiumCoreData` has
  /// methods that do for a whole object.
  ///
  /// - Throws: as ``validateValue(_:forKey:)-(Any?,_)``.
  open func validateValue(_ value: ValuePointer, forKey key: String) throws {
    try validateValue(value.pointee as Any?, forKey: key)
  }

  #if canImport(ObjectiveC)
    /// A place with a value that a validation method checks, and may put another one into.
    public typealias ValuePointer = AutoreleasingUnsafeMutablePointer<AnyObject?>
  #else
    /// A place with a value that a validation method checks, and may put another one into.
    public typealias ValuePointer = UnsafeMutablePointer<AnyObject?>
  #endif

  /// Checks that an object may be deleted. Overriding methods call this one.
  ///
  /// When a context saves into a store, this method does not ask for `deny` rules: the transaction does, by what all
  /// contexts have saved, after all objects were validated.
  ///
  /// - Throws: ``CambiumError/Code/validationRelationshipDeniedDelete``.
  open func validateForDelete() throws { try validateDeletion() }
}

/// Why an object's unsaved changes are others than before, with Core Data's raw values.
public struct SnapshotEventType: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt

  /// Of bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Its insertion was undone; it is deleted.
  public static let undoInsertion = SnapshotEventType(rawValue: 1 << 1)
  /// Its deletion was undone; it is back. Also the redoing of an insertion.
  public static let undoDeletion = SnapshotEventType(rawValue: 1 << 2)
  /// Values of it have been put back.
  public static let undoUpdate = SnapshotEventType(rawValue: 1 << 3)
  /// Its changes were rolled back.
  public static let rollback = SnapshotEventType(rawValue: 1 << 4)
  /// It was brought up to date with the store.
  public static let refresh = SnapshotEventType(rawValue: 1 << 5)
  /// A merge policy decided what its values are.
  public static let mergePolicy = SnapshotEventType(rawValue: 1 << 6)
}

extension ManagedObject: Hashable {
  /// Whether both are the same instance.
  public static func == (a: ManagedObject, b: ManagedObject) -> Bool { a === b }

  /// Hashes the instance.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ManagedObject: CustomStringConvertible, CustomDebugStringConvertible {}
