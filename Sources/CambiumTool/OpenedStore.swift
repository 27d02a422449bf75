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
    } catch { throw ToolError(error, path: path) }
  }

  /// The entities in it, by the model that the file keeps; nil if nobody has put any there yet.
  func entities() throws(ToolError) -> EntityStore? {
    do throws(EngineError) {
      guard try EntityStore.storedSchema(in: kernel) != nil else { return nil }
      return try EntityStore.open(kernel)
    } catch { throw ToolError(error, path: path) }
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

/// Runs a call of the engine, giving its errors the tool's type.
func attempting<R>(_ path: String, _ body: () throws(EngineError) -> R) throws(ToolError) -> R {
  do throws(EngineError) { return try body() } catch { throw ToolError(error, path: path) }
}
