import CambiumEngine

/// What sets the properties of a batch insert request's objects.
struct BatchObjectHandler {
  /// The class of the objects that it takes.
  let wanted: ManagedObject.Type
  /// Whether it takes objects of a class.
  let takes: (ManagedObject.Type) -> Bool
  /// Sets the properties of an object; true if there are no more objects.
  let fill: (ManagedObject) throws -> Bool

  init<Object: ManagedObject>(_ handler: @escaping (Object) throws -> Bool) {
    wanted = Object.self
    takes = { $0 is Object.Type }
    fill = { object in
      // ``BatchObjects`` makes none of another class.
      guard let object = object as? Object else { return true }
      return try handler(object)
    }
  }
}

/// The objects that a batch insert request has a handler fill in. Each is an object without a context, of which only
/// the values are kept.
struct BatchObjects {
  private let info: EntityInfo
  private let objectClass: ManagedObject.Type
  private let handler: BatchObjectHandler
  /// What the objects are made with.
  private let twin: EntityDescription

  /// - Throws: ``CambiumError/Code/invalidArgument`` if the handler does not take objects of the entity's class.
  init(
    _ info: EntityInfo, _ space: StoreSpace, _ handler: BatchObjectHandler, _ coordinator: PersistentStoreCoordinator
  ) throws {
    self.info = info
    self.handler = handler
    objectClass = try coordinator.use(handler.wanted, for: info)
    guard handler.takes(objectClass) else { throw coordinator.mismatch(handler.wanted, info, objectClass) }
    let home = ObjectHome.batch(info, space)
    twin = EntityDescription(twinOf: info.description, cradle: home, home: home)
  }

  /// Has the handler set the properties of one object after the other, until it answers true.
  ///
  /// - Throws: what the handler throws; the first error of a property that could not be set.
  func values() throws -> [ObjectOverlay] {
    var result: [ObjectOverlay] = []
    let room = info.attributeKeys.count
    while true {
      let object = objectClass.init(entity: twin, insertInto: nil)
      // An initializer of the application's may have set properties.
      let overlay = object.overlay ?? ObjectOverlay.make(room: room)
      object.overlay = overlay
      if !info.withDefaults.isEmpty { object.setDefaults(info) }
      let isDone = try handler.fill(object)
      object.overlay = nil
      if isDone { return result }
      if let error = overlay.earlyError { throw error }
      overlay.dropSeldom()
      result.append(overlay)
    }
  }

  /// An object's values as a row of values by name.
  func row(_ overlay: ObjectOverlay) -> BatchRow {
    var row = RowValues()
    var names: [String] = []
    for property in info.ordered where !property.isTransient && !property.isDerived {
      if property.isAttribute {
        row.set(property.name, overlay.changedAttribute(at: property.place) ?? .null)
        names.append(property.name)
      } else if let id = overlay.toOneChanges[property.place] {
        row.set(toOne: property.name, id?.reference)
        names.append(property.name)
      }
    }
    return BatchRow(row, names: names)
  }

  /// So many rows are encoded at a time, by several threads. Fewer objects than ``leastAhead`` are faster without
  /// threads.
  private static var sizeOfRun: Int { 128 }
  private static var leastAhead: Int { 2048 }

  /// Inserts objects, and answers their references in order.
  static func insert(
    _ objects: [ObjectOverlay], _ info: EntityInfo, _ t: EntityTransaction
  ) throws(EngineError) -> [ObjectReference] {
    var references: [ObjectReference] = []
    references.reserveCapacity(objects.count)
    for _ in objects { references.append(try t.reserveReference(info.schema)) }
    let sizeOfRun = objects.count < leastAhead ? max(1, objects.count) : sizeOfRun
    let keys = OverlayKeys(info)
    let rows = try t.writer(info.schema)
    // Several threads look at the values, and none changes them.
    nonisolated(unsafe) let values = objects.map { Unmanaged.passUnretained($0) }
    nonisolated(unsafe) let transaction = t
    try withExtendedLifetime(objects) { () throws(EngineError) in
      try t.encodeAhead(
        (objects.count + sizeOfRun - 1) / sizeOfRun,
        encode: { (number, spare: EncodedRun?) throws(EngineError) in
          let run: EncodedRun
          if let spare { run = spare } else { run = EncodedRun(try transaction.encoder(info.schema)) }
          run.rows.removeAll()
          run.first = number * sizeOfRun
          for place in run.first..<min(run.first + sizeOfRun, values.count) {
            try keys.encode(values[place], run.rows) { $0.reference }
          }
          return run
        },
        write: { (run) throws(EngineError) in
          for number in 0..<run.rows.count {
            try rows.save(run.rows, number, as: references[run.first + number])
          }
        })
    }
    return references
  }
}

/// Encoded rows of some objects that follow one another.
private final class EncodedRun: @unchecked Sendable {
  // `@unchecked`: one thread at a time has it.
  let rows: RowEncoder
  /// The place of the first object.
  var first = 0

  init(_ rows: RowEncoder) { self.rows = rows }
}
