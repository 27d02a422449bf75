import CambiumEngine

extension StoreMigration {
  /// Throws if the store has another model: another stack of this process has the store open, and could no longer save
  /// if the store were migrated.
  ///
  /// - Throws: ``CambiumError/Code/persistentStoreIncompatibleVersionHash`` with all that differs.
  func requireSameModel(_ shared: SharedStore) throws {
    let store = try mapping(.persistentStoreOpen) { () throws(EngineError) in try shared.current() }
    let model = try ManagedObjectModel.compile(try definition(for: store), basedOn: store.schema)
    let differing = model.differingEntities(from: store.schema)
    if differing.isEmpty { return }
    let entities = SchemaDifference(from: store.schema, to: model).entities.filter { $0.isStored }
    let lines = entities.map { entity in
      let changes = entity.changes.filter { $0.isStored }.map { change in
        (change.property.map { "\($0): " } ?? "") + change.text
      }
      return "\(entity.name): " + (entity.kind == .changed ? changes.joined(separator: "; ") : entity.kind.rawValue)
    }
    throw mismatch(
      differing,
      "another stack of this process has the store open with another model; give both stacks the same model, or close the "
        + "other stack first, so that this one may migrate the store. Against the open model, this one has these changes: "
        + lines.joined(separator: ". "))
  }
}
