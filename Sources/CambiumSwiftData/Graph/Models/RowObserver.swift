import Cambium

/// Tells those who observe models of changes that come by other means than the models' accessors.
final class RowObserver: ObjectObserver {
  static let shared = RowObserver()

  /// The other side of a relationship that is set, and what delete rules do.
  func relationshipWillChange(_ name: String, of object: AnyObject) {
    guard let row = object as? ModelRow, row.observed != nil, let property = row.modelClass?.byName[name] else {
      return
    }
    row.observed?._withUnsafeGuaranteedRef { $0.letGo(of: name) }
    row.tell(of: property)
  }

  /// A fetch or a merge that has found another row.
  func rowWillChange(of object: AnyObject) { (object as? ModelRow)?.tellOfAll() }

  /// Has a model that an upsert has joined with another one show the row that stays.
  func object(_ object: AnyObject, became other: AnyObject) {
    guard let row = object as? ModelRow, let stays = other as? ModelRow, let owner = row.owner, let model = row.model,
      let modelClass = row.modelClass
    else { return }
    row.owner = nil
    stays.modelClass = stays.modelClass ?? modelClass
    if stays.owner == nil { stays.owner = owner }
    modelClass.show(stays, model)
  }

  /// What others have saved may be new destinations of relationships that are not in the rows of the models that have
  /// them. So these are told of, if they lead to a class of which anything was saved.
  func didMerge(_ changes: ObjectIDNotification, in context: ManagedObjectContext) {
    guard let models = context.face as? ModelContext, models.isObserved else { return }
    var entities = Set<String>()
    for ids in [changes.insertedObjectIDs, changes.updatedObjectIDs, changes.deletedObjectIDs] {
      for id in ids { entities.insert(id.entityName) }
    }
    for case let row as ModelRow in context.registeredObjects where row.observed != nil {
      for property in row.modelClass?.properties ?? [] {
        guard case .toMany(let type) = property.kind,
          entities.contains(where: { models.stores.classes[$0]?.lineage.contains(ObjectIdentifier(type)) ?? false })
        else { continue }
        row.tell(of: property)
      }
    }
  }
}
