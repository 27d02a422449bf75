import Cambium

/// The row for which a context makes a model.
///
/// An initializer gives properties their initial values before its body runs. It must not give them to the row of the
/// store, and no new row is needed. So the storage that the initializer begins with looks here.
final class ModelMaking: @unchecked Sendable {
  // `@unchecked`: only the thread that makes the model sees it.

  // The task-local value is seen on the thread that sets it, and only while models are made.
  @TaskLocal static var current: ModelMaking?

  fileprivate var made: ModelRow?

  /// The row, if it is for a class or one that inherits from it.
  func row(for type: any PersistentModel.Type) -> ModelRow? {
    guard let made, let modelClass = made.modelClass else { return nil }
    let wanted = ObjectIdentifier(type)
    return modelClass.typeID == wanted || modelClass.lineage.contains(wanted) ? made : nil
  }
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
    return ModelMaking.$current.withValue(making) {
      let model = M(backingData: ModelBackingData<M>(row: row))
      model._$attach(nil)
      return model
    }
  }

  /// Makes the model of a row.
  func make(_ row: ModelRow, _ context: ModelContext?) -> AnyObject {
    guard modelClass.beginsWithValues else { return makePlainly(row, context) }
    return ModelMaking.$current.withValue(making) { makeWithValues(row, context) }
  }

  /// Makes the model of a row, which has to be of a class.
  ///
  /// - Parameter type: The class.
  @inline(__always)
  func make<M: PersistentModel>(_ row: ModelRow, _ context: ModelContext?, as type: M.Type) -> M {
    if modelClass.beginsWithValues { return unsafeDowncast(make(row, context), to: M.self) }
    return makeHere(row, context, as: type)
  }

  /// Runs a block that makes models by ``makeHere(_:_:as:)``. Setting the task-local value takes longer than making a
  /// model.
  ///
  /// - Parameter block: Must not call code of the application.
  func makeSeveral<R>(_ block: () throws -> R) rethrows -> R {
    guard modelClass.beginsWithValues else { return try block() }
    return try ModelMaking.$current.withValue(making) { try block() }
  }

  /// Makes the model of a row, within ``makeSeveral(_:)``.
  ///
  /// - Parameter type: The class.
  @inline(__always)
  func makeHere<M: PersistentModel>(_ row: ModelRow, _ context: ModelContext?, as type: M.Type) -> M {
    if modelClass.beginsWithValues { return unsafeDowncast(makeWithValues(row, context), to: M.self) }
    row.modelClass = modelClass
    // Not by the closure, which would be counted.
    return unsafeDowncast(M._$make(row, context) ?? initialize(row, context), to: M.self)
  }

  /// Makes a model whose initializer gives no values.
  private func makePlainly(_ row: ModelRow, _ context: ModelContext?) -> AnyObject {
    row.modelClass = modelClass
    return initialize(row, context)
  }

  /// Makes a model whose initializer gives values that are to be passed over.
  private func makeWithValues(_ row: ModelRow, _ context: ModelContext?) -> AnyObject {
    row.modelClass = modelClass
    row.isBeingMade = true
    let outer = making.made
    making.made = row
    let model = initialize(row, context)
    making.made = outer
    row.isBeingMade = false
    return model
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
