/// The row for which a context makes a model.
///
/// An initializer gives properties their initial values before its body runs. It must not give them to the row of the
/// store, and no new row is needed. So the storage that the initializer begins with looks here.
final class ModelMaking: @unchecked Sendable {
  // `@unchecked`: only the thread that makes the model sees it.

  // The task-local value is seen on the thread that sets it, and only while `make` runs.
  @TaskLocal static var current: ModelMaking?

  private let made: ModelRow

  private init(_ row: ModelRow) { made = row }

  /// The row, if it is for a class or one that inherits from it.
  func row(for type: any PersistentModel.Type) -> ModelRow? {
    guard let modelClass = made.modelClass else { return nil }
    let wanted = ObjectIdentifier(type)
    return modelClass.typeID == wanted || modelClass.lineage.contains(wanted) ? made : nil
  }

  /// Makes the model of a row by an initializer.
  static func make<M>(_ row: ModelRow, _ modelClass: ModelClass, _ initializer: (ModelRow) -> M) -> M {
    row.modelClass = modelClass
    row.isBeingMade = true
    defer { row.isBeingMade = false }
    return $current.withValue(ModelMaking(row)) { initializer(row) }
  }
}
