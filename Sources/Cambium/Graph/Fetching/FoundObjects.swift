import CambiumEngine

/// The objects of a context that a fetch found.
struct FoundObjects {
  var objects: [ManagedObject]
  /// The class of all objects. `nil` if there are several classes, or if the class is not known. The fetch notes the
  /// class because a second pass over many objects takes longer.
  var onlyClass: ManagedObject.Type?
}

extension FoundObjects {
  /// Reads the rows that a fetch finds in a store, in the commit that the context reads. If there are very many rows,
  /// other threads copy them while the objects of earlier rows are made.
  init(_ fetch: EngineFetch, in store: PersistentStore, for context: ManagedObjectContext) throws {
    let view = try context.view(of: store.space)
    let maker = ObjectMaker(context, store.space)
    // An initializer of the application may remove the store. The store must stay open until its view is done.
    defer { withExtendedLifetime(store) {} }
    do {
      try mappingFetch { () throws(EngineError) in
        try view.forEachFound(fetch) { rows, toCome in maker.take(rows, toCome: toCome) }
      }
    } catch {
      maker.giveUp()
      throw error
    }
    self = maker.found
  }

  /// Reads the rows of references in the commit that the context reads. References without a row are left out.
  init(of references: [ObjectReference], in space: StoreSpace, for context: ManagedObjectContext) throws {
    let view = try context.view(of: space)
    let rows = try mappingFetch { () throws(EngineError) in try view.findRows(of: references) }
    self.init(of: rows, in: space, for: context)
  }

  /// Takes rows that were read. Unchanged objects of the context show them from now on.
  init(of rows: FoundRows, in space: StoreSpace, for context: ManagedObjectContext) {
    let maker = ObjectMaker(context, space)
    maker.take(rows, toCome: 0)
    self = maker.found
  }
}
