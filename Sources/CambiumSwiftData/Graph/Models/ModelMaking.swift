import Cambium
import Synchronization

/// The row for which a context makes a model.
///
/// An initializer gives properties their initial values before its body runs. It must not give them to the row of the
/// store, and no new row is needed. So the storage that the initializer begins with looks here.
final class ModelMaking: @unchecked Sendable {
  // `@unchecked`: only the thread that makes the model sees it.

  // Seen on the thread that sets it, and only while models are made.
  @TaskLocal private static var ofTask: ModelMaking?
  private static let place = MakingPlace()

  /// The making of a model that is under way on this thread.
  static var current: ModelMaking? { place.isHeldHere ? place.making : ofTask }

  fileprivate var made: ModelRow?

  /// The row, if it is for a class or one that inherits from it.
  func row(for type: any PersistentModel.Type) -> ModelRow? {
    guard let made, let modelClass = made.modelClass else { return nil }
    let wanted = ObjectIdentifier(type)
    return modelClass.typeID == wanted || modelClass.lineage.contains(wanted) ? made : nil
  }

  /// Runs a block, for whose thread this is ``current`` meanwhile.
  func asCurrent<R>(_ block: () throws -> R) rethrows -> R {
    guard Self.place.take() else { return try Self.$ofTask.withValue(self) { try block() } }
    let outer = Self.place.making
    Self.place.making = self
    defer {
      Self.place.making = outer
      if outer == nil { Self.place.giveBack() }
    }
    return try block()
  }
}

/// Where one thread keeps the making that is under way. To set a task-local value takes longer than to make a model, so
/// that a thread uses this place unless another thread has it.
private final class MakingPlace: @unchecked Sendable {
  // `@unchecked`: `making` is touched by the thread alone that `owner` names.

  /// The thread that has the place; 0 for none. A thread finds its own number here only if it wrote it.
  private let owner = Atomic<UInt>(0)
  @exclusivity(unchecked) var making: ModelMaking?

  var isHeldHere: Bool { owner.load(ordering: .relaxed) == CallingThread.number }

  /// Takes the place for this thread, or finds that this thread has it; false if another one does.
  func take() -> Bool {
    let thread = CallingThread.number
    let found = owner.load(ordering: .relaxed)
    if found == thread { return true }
    return found == 0 && owner.compareExchange(expected: 0, desired: thread, ordering: .acquiring).exchanged
  }

  func giveBack() { owner.store(0, ordering: .releasing) }
}

/// Makes the models of one class for one context, one after the other.
final class ModelMaker {
  let modelClass: ModelClass
  private let making = ModelMaking()
  private let initialize: (ModelRow, ModelContext?) -> AnyObject

  /// - Parameter initialize: Calls the initializer of the class.
  init(_ modelClass: ModelClass, _ initialize: @escaping (ModelRow, ModelContext?) -> AnyObject) {
    (self.modelClass, self.initialize) = (modelClass, initialize)
  }

  /// Makes one model of a row, which belongs to no context.
  static func make<M: PersistentModel>(_ row: ModelRow, _ modelClass: ModelClass, as type: M.Type) -> M {
    let making = ModelMaking()
    making.made = row
    row.modelClass = modelClass
    row.isBeingMade = true
    defer { row.isBeingMade = false }
    return making.asCurrent {
      let model = M(backingData: ModelBackingData<M>(row: row))
      model._$attach(nil)
      return model
    }
  }

  /// Makes the model of a row.
  func make(_ row: ModelRow, _ context: ModelContext?) -> AnyObject {
    row.modelClass = modelClass
    guard modelClass.beginsWithValues else { return initialize(row, context) }
    return making.asCurrent { passingOverValues(row) { initialize(row, context) } }
  }

  /// Makes the model of a row, which has to be of a class.
  ///
  /// - Parameter type: The class.
  @inline(__always)
  func make<M: PersistentModel>(_ row: ModelRow, _ context: ModelContext?, as type: M.Type) -> M {
    guard modelClass.beginsWithValues else { return makeHere(row, context, as: type) }
    return making.asCurrent { makeHere(row, context, as: type) }
  }

  /// Runs a block that makes models by ``makeHere(_:_:as:)``.
  func makeSeveral<R>(_ block: () throws -> R) rethrows -> R {
    guard modelClass.beginsWithValues else { return try block() }
    return try making.asCurrent(block)
  }

  /// Makes the model of a row, within ``makeSeveral(_:)``.
  ///
  /// - Parameter type: The class.
  @inline(__always)
  func makeHere<M: PersistentModel>(_ row: ModelRow, _ context: ModelContext?, as type: M.Type) -> M {
    row.modelClass = modelClass
    // Not by the closure alone, which would be counted.
    guard modelClass.beginsWithValues else {
      return unsafeDowncast(M._$make(row, context) ?? initialize(row, context), to: M.self)
    }
    return passingOverValues(row) {
      unsafeDowncast(M._$make(row, context) ?? initialize(row, context), to: M.self)
    }
  }

  /// Runs a block that makes the model of a row by an initializer that gives values.
  @inline(__always)
  private func passingOverValues<R>(_ row: ModelRow, _ block: () -> R) -> R {
    row.isBeingMade = true
    let outer = making.made
    making.made = row
    defer {
      making.made = outer
      row.isBeingMade = false
    }
    return block()
  }
}

/// Hands the rows of the models that are made to initializers: one object for all of them.
final class MakingBackingData<Model: PersistentModel>: BackingData {
  private var current: ModelRow?

  init() {}
  init(for modelType: Model.Type) {}

  var persistentModelID: PersistentIdentifier? { current.map { PersistentIdentifier(of: $0) } }
  var row: ModelRow { current ?? ModelClass.of(Model.self).newRow() }

  /// What calls the initializer of the class.
  static func initializer() -> (ModelRow, ModelContext?) -> AnyObject {
    let own = MakingBackingData()
    let backing: any BackingData<Model> = own
    return { row, context in
      if let model = Model._$make(row, context) { return model }
      let outer = own.current
      own.current = row
      defer { own.current = outer }
      let model = Model(backingData: backing)
      model._$attach(context)
      return model
    }
  }
}
