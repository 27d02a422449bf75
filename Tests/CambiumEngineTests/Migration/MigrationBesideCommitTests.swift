import CambiumEngine
import CambiumKernel
import CambiumTesting
import Foundation
import Testing

/// A migration right after a commit that is in the log, but not durable yet, and so in no view of its own yet: it must
/// take that commit over, and not what views show.
@Suite struct MigrationBesideCommitTests {
  /// A device whose next sync waits until it is told to go on.
  private final class GateDevice: StorageDevice, @unchecked Sendable {
    // `@unchecked`: `isClosed` is touched before there are other threads.
    let base = MemoryDevice(lock: ThreadLock())
    let reached = DispatchSemaphore(value: 0)
    let gate = DispatchSemaphore(value: 0)
    private let lock = NSLock()
    private var isClosed = false

    func closeGate() { lock.withLock { isClosed = true } }

    func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
      try base.read(at: offset, into: buffer)
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
      try base.write(bytes, at: offset)
    }
    func sync() throws(StoreError) {
      let waits = lock.withLock {
        defer { isClosed = false }
        return isClosed
      }
      if waits {
        reached.signal()
        gate.wait()
      }
      try base.sync()
    }
    func size() throws(StoreError) -> UInt64 { try base.size() }
    func resize(to size: UInt64) throws(StoreError) { try base.resize(to: size) }
    func close() { base.close() }
  }

  @Test func aCommitThatIsNotDurableYetIsMigrated() throws {
    let device = GateDevice()
    let first = EntitySchema(
      "Note", attributes: [AttributeSchema("text", .string), AttributeSchema("number", .integer64)])
    // Every row is rewritten, from what it was.
    let second = EntitySchema(
      "Note", attributes: [AttributeSchema("text", .string), AttributeSchema("number", .double)])
    let store = try EntityStore.create(
      in: try Store.create(on: device, environment: TestEnvironment(seed: 4)),
      schema: try Schema(SchemaDefinition([first])))
    let entity = try #require(store.schema.entity(named: "Note"))
    @Sendable func row(_ text: String) -> RowValues {
      var row = RowValues()
      row.set("text", .string(text))
      row.set("number", .integer(1))
      return row
    }
    let reference = try store.write { (t) throws(EngineError) in
      let reference = try t.reserveReference(entity)
      try t.insert(reference, row("before"))
      return reference
    }
    device.closeGate()
    let isCommitted = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do throws(EngineError) {
        try store.write { (t) throws(EngineError) in
          try t.update(reference, row("after"))
          try t.insert(try t.reserveReference(entity), row("new"))
        }
      } catch { Issue.record("\(error.description)") }
      isCommitted.signal()
    }
    device.reached.wait()
    // Told of its steps, the migration has looked at what there is.
    let migrated = try store.migrate(to: SchemaDefinition([second])) { step in
      if step.kind == .writeModel { device.gate.signal() }
    }
    isCommitted.wait()
    let found = try NaiveStore(migrated)
    #expect(found.objects.values.compactMap { $0.attributes["text"] }.count == 2)
    #expect(found.objects[reference.row]?.attributes["text"] == .string("after"))
    #expect(found.objects.values.allSatisfy { $0.attributes["number"] == .double(1) })
  }
}
