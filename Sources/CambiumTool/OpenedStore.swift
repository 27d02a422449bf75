import CambiumEngine
import CambiumKernel
import CambiumSystem

/// A store that the tool has open.
struct OpenedStore {
  /// Where it is, as it was given.
  let path: String
  /// The pages, log and trees.
  let kernel: Store

  /// Opens the file at `path`. Opened for reading, nothing is written, recovery included: what the log holds is
  /// taken in in memory.
  ///
  /// - Throws: ``ToolError/damaged(_:)`` or ``ToolError/failed(_:)``.
  init(path: String, forWriting: Bool = false) throws(ToolError) {
    self.path = path
    var options = StoreOptions()
    options.isReadOnly = !forWriting
    do throws(StoreError) {
      // Applications may go on using it meanwhile.
      let device = try FileDevice(
        path: path, access: forWriting ? .readWrite : .readOnly, sharing: FileDevice.canShare ? .shared : .exclusive)
      kernel = try Store.open(on: device, environment: SystemEnvironment(), options: options)
    } catch { throw ForeignFile(path)?.error(path) ?? ToolError(error, path: path) }
  }

  /// The entities in it, by the model that the file keeps; nil if nobody has put any there yet.
  func entities() throws(ToolError) -> EntityStore? {
    do throws(EngineError) {
      guard try EntityStore.storedSchema(in: kernel) != nil else { return nil }
      return try EntityStore.open(kernel)
    } catch { throw ToolError(error, path: path) }
  }

  /// The entities in it, and the one of a name.
  ///
  /// - Throws: ``ToolError/usage(_:)`` with the names that there are.
  func entity(named name: String) throws(ToolError) -> (EntityStore, EntitySchema) {
    guard let store = try entities() else { throw .usage("\(path) has no model yet, so no '\(name)'") }
    guard let entity = store.schema.entity(named: name) else {
      throw .usage("\(path) has no entity '\(name)'" + alternatives(to: name, store.schema.entities.map(\.name)))
    }
    return (store, entity)
  }

  /// Figures about the file.
  func statistics() throws(ToolError) -> StoreStatistics {
    do throws(StoreError) { return try kernel.statistics() } catch { throw ToolError(error, path: path) }
  }

  /// Closes it.
  func close() throws(ToolError) {
    do throws(StoreError) { try kernel.close() } catch { throw ToolError(error, path: path) }
  }

  /// The store's UUID in its usual form.
  var uuidText: String { UUIDBytes(high: kernel.uuid.0, low: kernel.uuid.1).text }
}

/// The names that there are, as the end of a message about one that is not there: first the one that was probably
/// meant.
func alternatives(to name: String, _ names: [String]) -> String {
  let guess = suggestion(for: name, among: names)
  return (guess.isEmpty ? ", but " : guess + " There are ") + names.joined(separator: ", ")
}

/// Runs a call of the engine, giving its errors the tool's type.
func attempting<R>(_ path: String, _ body: () throws(EngineError) -> R) throws(ToolError) -> R {
  do throws(EngineError) { return try body() } catch { throw ToolError(error, path: path) }
}
