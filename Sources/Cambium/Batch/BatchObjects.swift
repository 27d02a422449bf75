import CambiumEngine

/// A block of the application's that sets the properties of a batch insert request's objects.
struct BatchObjectHandler {
  /// The class of the block's parameter.
  let wanted: ManagedObject.Type
  /// Tells whether a class is ``wanted``, or inherits from it.
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
  /// Leads new objects to the home of a batch's objects; see ``EntityDescription/init(twinOf:cradle:home:)``.
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

  /// Calls the handler with one object after the other, until it answers true.
  ///
  /// - Throws: what the handler throws; the first error of a property that could not be set, which says the object's
  ///   place in the batch.
  func values() throws -> [ObjectOverlay] {
    var result: [ObjectOverlay] = []
    while true {
      let object = objectClass.init(entity: twin, insertInto: nil)
      guard object.isOfBatch else {
        throw CambiumError(
          .invalidArgument,
          "the initializer of \(objectClass) inserts its object into a context, so a batch request "
            + "cannot make objects of '\(info.name)'; let the caller choose the context", entityName: info.name)
      }
      // An initializer of the application's may have set properties.
      let overlay = object.overlay ?? ObjectOverlay.make(room: info.attributeKeys.count)
      object.overlay = overlay
      if !info.withDefaults.isEmpty { object.setDefaults(info) }
      if try handler.fill(object) { return result }
      do {
        if let error = overlay.earlyError { throw error }
        try object.requirePermanentIdentifiers()
      } catch var error as CambiumError {
        error.message = "object \(result.count + 1) of the batch: \(error.message)"
        throw error
      }
      object.overlay = nil
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
        guard let value = overlay.changedAttribute(at: property.place) else { continue }
        row.set(property.name, value)
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
    let keys = OverlayKeys(info)
    let rows = try t.writer(info.schema)
    let single = EncodedRun(try t.encoder(info.schema))
    // Several threads look at the values, and none changes them.
    nonisolated(unsafe) let values = objects
    nonisolated(unsafe) let transaction = t
    func insertSingly(_ places: Range<Int>) throws(EngineError) {
      for place in places {
        try single.encode(values, place..<place + 1, keys)
        try rows.save(single.rows, 0, as: references[place])
      }
    }
    try withExtendedLifetime(objects) { () throws(EngineError) in
      if objects.count < leastAhead { return try insertSingly(objects.indices) }
      try t.encodeAhead(
        (objects.count + sizeOfRun - 1) / sizeOfRun,
        encode: { (number, spare: EncodedRun?) throws(EngineError) in
          let run: EncodedRun
          if let spare { run = spare } else { run = EncodedRun(try transaction.encoder(info.schema)) }
          let first = number * sizeOfRun
          try run.encode(values, first..<min(first + sizeOfRun, values.count), keys)
          return run
        },
        write: { (run) throws(EngineError) in
          for number in 0..<run.rows.count {
            try rows.save(run.rows, number, as: references[run.places.lowerBound + number])
          }
          try insertSingly(run.places.lowerBound + run.rows.count..<run.places.upperBound)
        })
    }
    return references
  }
}

/// Encoded rows of some objects that follow one another.
private final class EncodedRun: @unchecked Sendable {
  // `@unchecked`: one thread at a time has it.
  let rows: RowEncoder
  private(set) var places = 0..<0
  /// No rows are added to as many bytes, because the runs of several threads would fill the memory.
  private static var mostBytes: Int { 256 << 10 }

  init(_ rows: RowEncoder) { self.rows = rows }

  /// Encodes the rows of the objects at `places`. Rows with large values may be left out at the end.
  func encode(
    _ values: [ObjectOverlay], _ places: Range<Int>, _ keys: OverlayKeys
  ) throws(EngineError) {
    self.places = places
    rows.removeAll()
    for place in places where rows.byteCount < Self.mostBytes {
      try values.lend(place) { (values) throws(EngineError) in try keys.encode(values, rows) { $0.reference } }
    }
  }
}
