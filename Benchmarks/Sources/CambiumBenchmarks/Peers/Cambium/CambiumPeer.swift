import CambiumEngine
import CambiumKernel
import CambiumSystem
import Foundation

/// Cambium's engine: entities with an index, a uniqueness constraint, a composite and a relationship.
final class CambiumPeer: Peer {
  let name = "cambium"
  let path: String
  private let environment = SystemEnvironment()
  private var open: (store: EntityStore, model: CambiumModel, rows: CambiumRows)?
  /// Which rows the peers' ids mean, while the file stays the same: an application keeps the references that it has to
  /// objects, and need not find them out again.
  private var numbers: CambiumNumbers?

  init(directory: String) { path = directory + "/cambium.store" }

  func opened() throws -> (store: EntityStore, model: CambiumModel, rows: CambiumRows) {
    guard let open else { throw NotSupported() }
    return open
  }

  private func options(_ durability: CommitDurability) -> StoreOptions {
    var options = StoreOptions()
    options.cacheBytes = Tuning.cacheBytes
    options.logBytes = Tuning.logBytes
    options.durability = durability == .synced ? .full : .normal
    return options
  }

  func create(_ durability: CommitDurability) throws {
    try close()
    numbers = nil
    try? FileManager.default.removeItem(atPath: path)
    let options = options(durability)
    let environment = environment
    let device = try FileDevice.create(at: path) { (device) throws(StoreError) in
      try Store.format(device, environment: environment, options: options)
    }
    device.close()
    let kernel = try Store.open(on: FileDevice(path: path), environment: environment, options: options)
    let store = try EntityStore.create(in: kernel, schema: CambiumModel().schema)
    try adopt(store)
  }

  func open(_ durability: CommitDurability) throws {
    let kernel = try Store.open(on: FileDevice(path: path), environment: environment, options: options(durability))
    try adopt(EntityStore.open(kernel))
  }

  private func adopt(_ store: EntityStore) throws {
    let model = try CambiumModel(store.schema)
    let rows = try CambiumRows(store, model, numbers)
    numbers = rows.numbers
    open = (store, model, rows)
  }

  func close() throws {
    try open?.store.close()
    open = nil
  }

  // MARK: Adding

  func load(_ rows: ArraySlice<Aircraft>) throws {
    let (store, model, codec) = try opened()
    try store.write { (t) throws(EngineError) in
      let writer = try t.writer(model.aircraft)
      for row in rows { try codec.add(row, to: writer) }
    }
  }

  func load(_ rows: ArraySlice<LogEntry>) throws {
    let (store, model, codec) = try opened()
    try store.write { (t) throws(EngineError) in
      let writer = try t.writer(model.entry)
      for row in rows {
        try codec.add(row, of: ObjectReference(entity: model.aircraft.id, row: UInt64(row.aircraft)), to: writer)
      }
    }
    try codec.numbers.look(store, model)
  }

  func insert(_ row: Aircraft) throws {
    let (store, model, codec) = try opened()
    try store.write { (t) throws(EngineError) in try codec.add(row, to: try t.writer(model.aircraft)) }
  }

  // MARK: Changing

  private func each(
    _ ids: [Int], oneByOne: Bool, _ body: (RowWriter, ObjectReference) throws(EngineError) -> Void
  ) throws {
    let (store, model, codec) = try opened()
    let entity = model.aircraft
    if oneByOne {
      for id in ids {
        try store.write { (t) throws(EngineError) in
          try body(try t.writer(entity), ObjectReference(entity: entity.id, row: codec.numbers.aircraft(id)))
        }
      }
    } else {
      try store.write { (t) throws(EngineError) in
        let writer = try t.writer(entity)
        for id in ids { try body(writer, ObjectReference(entity: entity.id, row: codec.numbers.aircraft(id))) }
      }
    }
  }

  func setHours(ids: [Int], _ hours: Double, oneByOne: Bool) throws {
    let codec = try opened().rows
    try each(ids, oneByOne: oneByOne) { (rows, r) throws(EngineError) in
      try rows.begin(changing: r)
      try rows.set(codec.hours, hours)
      try rows.save()
    }
  }

  func setPrimary(ids: [Int], _ colour: String) throws {
    let codec = try opened().rows
    try each(ids, oneByOne: false) { (rows, r) throws(EngineError) in
      try rows.begin(changing: r)
      try rows.set(codec.primary, colour)
      try rows.save()
    }
  }

  func delete(ids: [Int], oneByOne: Bool) throws {
    try each(ids, oneByOne: oneByOne) { (rows, r) throws(EngineError) in try rows.delete(r) }
  }

  // MARK: Migration

  /// Every change is a new version of the model that the store has.
  func change(_ change: SchemaChange) throws {
    let (store, model, rows) = try opened()
    var definition = model.schema.definition
    guard let place = definition.entities.firstIndex(where: { $0.name == "Aircraft" }) else { throw NotSupported() }
    try change.apply(to: &definition.entities[place])
    let changed = try store.migrate(to: definition, defers: change.mayBeLeft)
    let changedModel = try CambiumModel(changed.schema)
    // Aircraft without all of their columns are not written any more.
    open = (changed, changedModel, (try? CambiumRows(changed, changedModel, numbers)) ?? rows)
  }

  var putsOffChanges: Bool { true }

  func finishChanges() throws {
    let store = try opened().store
    let clock = ContinuousClock()
    var size = DeferredPartSize()
    while true {
      var began = clock.now
      let limit = DeferredPartLimit(rows: size.rows, rowsBesideOthers: size.rowsBesideOthers)
      let part = try store.runDeferredPart(within: limit, durably: size.isDurable) { began = clock.now }
      size.note(clock.now - began, part)
      if !part.isLeft { return }
    }
  }

  // MARK: Files

  func compact() throws { try opened().store.kernel.compact() }

  func fileBytes() throws -> UInt64 {
    try opened().store.kernel.checkpoint()
    return fileSize(path)
  }

  func logBytes() throws -> UInt64 { try opened().store.kernel.statistics().logBytes }
}
