import CambiumEngine

/// The stage of a migration that is under way in a store, because a handler of the application's has not returned.
struct StageText {
  private let record: StageRecord
  /// Whether the store has the model that the stage leads to.
  let isMigrated: Bool

  /// Reads the record of a store; nil if no stage is under way.
  init?(_ store: EntityStore, path: String) throws(ToolError) {
    let found = try attempting(path) { () throws(EngineError) in try store.view().stageRecord() }
    guard let found else { return nil }
    record = found
    isMigrated = found.isPending(in: store.schema)
  }

  private var handler: String {
    switch record.phase {
    case .willMigrate: return "willMigrateHandler"
    case .didMigrate: return "didMigrateHandler"
    case .migrate: return "migrateHandler"
    }
  }

  /// The stage, and what to do.
  var text: String {
    "a migration stage is under way, from model \(record.current.base64) to \(record.next.base64): its \(handler) has not "
      + "returned. The store has the \(isMigrated ? "next" : "former") model. An application whose staged migration manager "
      + "has the stage goes on with it"
  }

  var json: JSON {
    .object([
      ("handler", .string(handler)), ("from", .string(record.current.base64)), ("to", .string(record.next.base64)),
      ("isMigrated", .boolean(isMigrated)),
    ])
  }
}
