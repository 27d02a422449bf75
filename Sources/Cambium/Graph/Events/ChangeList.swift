/// The changes of one event, recorded when the event ends. The undo manager keeps the list and takes it back; children
/// merge its identifiers; observers and results controllers are told of it.
final class ChangeList: @unchecked Sendable {
  // `@unchecked`: its objects are touched on the context's queue.

  /// One object that the event changed, with the change.
  struct Change {
    let object: ManagedObject
    /// The state of the object before the event. In a described list only whether the object existed.
    fileprivate(set) var before: EventState
    let existsAfter: Bool
    /// The changed properties, in a described list.
    fileprivate(set) var properties: [PropertyChange] = []

    var existedBefore: Bool { before.existed }

    var concernsRelationships: Bool {
      existedBefore != existsAfter || properties.contains { $0.relationship != nil }
    }
  }

  /// The changes in the order in which the objects changed first.
  let changes: [Change]
  /// The objects that were refreshed in the event.
  let refreshed: Set<ManagedObject>
  /// The values of objects whose deletion was saved since. They come back with these values.
  var remains: [ObjectIdentifier: ObjectRemains] = [:]

  private lazy var places = Dictionary(
    changes.enumerated().map { (ObjectIdentifier($1.object), $0) }, uniquingKeysWith: { $1 })

  init(_ changes: [Change], refreshed: Set<ManagedObject> = []) {
    self.changes = changes
    self.refreshed = refreshed
  }

  /// The change of an object. The first call costs O(number of changes).
  func change(of object: ManagedObject) -> Change? { places[ObjectIdentifier(object)].map { changes[$0] } }

  /// Returns the changes with their properties, without objects that came and went within the event, or that are as
  /// they were. Call it before the objects change again.
  func described() throws -> ChangeList {
    ChangeList(
      try changes.compactMap { change in
        var change = change
        guard change.existedBefore || change.existsAfter else { return nil }
        change.properties = try PropertyChange.changes(of: change.object, since: change.before)
        // A snapshot would keep all unsaved values in memory.
        change.before = change.existedBefore ? .unchanged : .absent
        return change.existedBefore == change.existsAfter && change.properties.isEmpty ? nil : change
      })
  }

  /// The identifiers for children: to a child, every object that exists counts as updated.
  var forChildren: ObjectIDNotification {
    ObjectIDNotification(
      updated: changes.lazy.filter { $0.existsAfter }.map { $0.object.objectID }
        + refreshed.lazy.filter { $0.isPresent }.map { $0.objectID },
      deleted: changes.lazy.filter { !$0.existsAfter }.map { $0.object.objectID })
  }
}

extension ContextEvents {
  /// Ends the event: what objects change from now on belongs to the next one.
  func end() -> ChangeList {
    defer { (objects, refreshed) = ([], []) }
    return ChangeList(
      objects.compactMap { object in
        guard let before = object.eventState else { return nil }
        object.eventState = nil
        return ChangeList.Change(object: object, before: before, existsAfter: object.isPresent)
      }, refreshed: refreshed)
  }
}
