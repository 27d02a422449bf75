/// A checked request, with the stores that answer it.
struct ContextFetchPlan {
  /// A store, and the requested entity as the store has it.
  typealias Part = (store: PersistentStore, info: EntityInfo)

  var name: String
  var parts: [Part]
  var predicate: FetchPredicate?
  var sort: [FetchSortDescriptor]
  var offset: Int
  var limit: Int?
  var includesSubentities: Bool
  var includesPendingChanges: Bool
  var includesPropertyValues: Bool

  /// Plans a request of a context.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` and ``CambiumError/Code/unknownKey`` for a request that breaks a
  ///   rule.
  init<Result: FetchRequestResult>(_ request: FetchRequest<Result>, in context: ManagedObjectContext) throws {
    context.takeInMail()
    let coordinator = context.persistentStoreCoordinator
    guard let name = request.entityName(in: coordinator) else {
      throw CambiumError(
        .invalidArgument, "the fetch request has no entity; set entityName, or ask for a class of objects that has one")
    }
    var stores = coordinator.persistentStores
    if let affected = request.affectedStores { stores.removeAll { store in !affected.contains { $0 === store } } }
    let parts: [Part] = stores.compactMap { store in store.space.info(named: name).map { (store, $0) } }
    guard !parts.isEmpty else { throw coordinator.noStore(forEntity: name, of: request.affectedStores) }
    guard request.fetchLimit >= 0, request.fetchOffset >= 0 else {
      throw CambiumError(.invalidArgument, "a fetch's limit and offset must not be negative", entityName: name)
    }
    try request.checkProperties(of: parts.map { $0.info })
    for part in parts { try request.checkPrefetching(from: part.info, in: part.store.space) }
    let pinned = try context.snapshots.pinned(of: parts.map { $0.store })
    self.name = name
    self.parts = parts.filter { part in pinned.contains { $0 === part.store } }
    predicate = request.predicate
    sort = request.sortDescriptors ?? []
    offset = request.fetchOffset
    limit = request.fetchLimit == 0 ? nil : request.fetchLimit
    includesSubentities = request.includesSubentities
    includesPendingChanges = request.includesPendingChanges
    includesPropertyValues = request.includesPropertyValues
  }
}
