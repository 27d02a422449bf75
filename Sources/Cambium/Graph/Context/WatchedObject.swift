import CambiumEngine
import CambiumKernel

/// An object that must not have been changed by others when its context is saved, with what it was when that was asked
/// for. Reading it again meanwhile does not matter.
struct WatchedObject {
  let object: ManagedObject
  let row: Row?
  private let parentState: ParentState?

  /// An object that was read.
  init(_ object: ManagedObject) {
    self.object = object
    row = object.row
    parentState = object.parentState
  }

  /// Whether it has no changes of its own, which would meet conflicts themselves.
  var isToBeChecked: Bool { object.isPresent && !object.isUpdated }

  /// The version of the row that it had.
  var version: UInt32? { row?.version }

  /// The names of the properties that the object's parent has other values of by now.
  func namesChanged(in target: ManagedObject) throws -> Set<String> {
    let now = (object.row, object.parentState, object.state)
    defer { (object.row, object.parentState, object.state) = now }
    (object.row, object.parentState, object.state) = (row, parentState, .loaded)
    return try object.namesChanged(in: target)
  }
}

extension ManagedObjectContext {
  /// What a save makes sure of besides its changes, in the order of the identifiers.
  var watchedObjects: [WatchedObject] {
    snapshots.watched.isEmpty
      ? [] : snapshots.watched.values.filter { $0.isToBeChecked }.ordered { $0.object.reference < $1.object.reference }
  }
}
