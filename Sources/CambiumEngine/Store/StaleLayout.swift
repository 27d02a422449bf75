import CambiumKernel

/// A layout that rows still have from an earlier model, and how they read as rows of the current one.
final class StaleLayout: Sendable {
  let descriptor: LayoutDescriptor
  /// The layout that the rows read as.
  let current: EntityLayout
  /// The layout as it is.
  let record: RecordLayout
  private let projection: RecordProjection
  /// The entity in the rows' heads.
  private let entity: UInt16
  /// Does the same without taking rows apart, where that can be.
  private let copier: RecordCopier?
  /// The same, for what is done for every row.
  private let borrowedCopier: BorrowedCopier?

  private struct BorrowedCopier: @unchecked Sendable {
    // Unchecked: whoever has the layout has it; it may be used from any number of threads.
    let copier: Unmanaged<RecordCopier>
  }

  init(_ id: UInt16, _ descriptor: LayoutDescriptor, current: EntityLayout) throws(EngineError) {
    self.descriptor = descriptor
    self.current = current
    entity = UInt16(truncatingIfNeeded: current.entityID)
    let defaults = try Self.defaults(descriptor, current)
    do throws(StoreError) {
      record = try RecordLayout(row: id, fields: descriptor.fields)
      projection = try RecordProjection(
        from: record, to: current.record, defaults: defaults, requiredProperties: descriptor.required,
        changesLevels: true)
      copier = RecordCopier(projection)
      borrowedCopier = copier.map { BorrowedCopier(copier: .passUnretained($0)) }
    } catch {
      throw .corrupt("layout \(id) of \(current.entity.name) cannot be read as the current one: \(error.description)")
    }
  }

  /// A record of the current layout with what added properties are in rows of the layout.
  private static func defaults(_ descriptor: LayoutDescriptor, _ current: EntityLayout) throws(EngineError) -> [UInt8]?
  {
    if descriptor.values.isEmpty { return nil }
    let builder = RecordBuilder(current.record)
    let entity = current.entity
    return try storing { () throws(StoreError) in
      for attribute in entity.allAttributes {
        guard let index = current.fieldByName[attribute.name] else { continue }
        try fill(builder, index, attribute, descriptor)
      }
      return try builder.bytes()
    }
  }

  private static func fill(
    _ builder: RecordBuilder, _ index: Int, _ attribute: AttributeSchema, _ descriptor: LayoutDescriptor
  ) throws(StoreError) {
    if attribute.type == .composite {
      let inner = try builder.nested(at: index)
      // The depth is bounded by the schema.
      for (place, element) in attribute.elements.enumerated() { try fill(inner, place, element, descriptor) }
    } else if let value = descriptor.values[attribute.id], let coerced = attribute.coerce(value) {
      try builder.set(coerced, elements: attribute.elements, at: index)
    }
  }

  /// The row as one of the current layout.
  func project(_ bytes: UnsafeRawBufferPointer) throws(EngineError) -> [UInt8] {
    try storing { () throws(StoreError) in
      let view = try RecordView(bytes, layout: record)
      if let copied = try copier?.copy(view, entity: entity) { return copied }
      let builder = RecordBuilder(current.record)
      try project(view, into: builder)
      return try builder.bytes()
    }
  }

  /// Adds a row as one of the current layout to `batch`. `builder` is for the current layout.
  func project(
    _ bytes: UnsafeRawBufferPointer, _ number: UInt64, into batch: RowBatch, by builder: RecordBuilder
  ) throws(StoreError) {
    let view = try RecordView(bytes, layout: record)
    if let copier, let size = try copier.size(of: view) {
      return try batch.add(number, count: size) { (out) throws(StoreError) in
        try copier.copy(view, entity: entity, to: out)
      }
    }
    try project(view, into: builder)
    try builder.withBytes { (bytes) throws(StoreError) in try batch.add(number, bytes) }
  }

  /// Sets `value` to a row as one of the current layout. `builder` is for the current layout.
  func project(
    _ bytes: UnsafeRawBufferPointer, into value: ConvertedValue, by builder: RecordBuilder
  ) throws(StoreError) {
    let view = try RecordView(bytes, layout: record)
    if let borrowedCopier,
      try borrowedCopier.copier.borrowed({ (copier) throws(StoreError) in
        try copier.copy(view, entity: entity, into: value)
      })
    {
      return
    }
    try project(view, into: builder)
    try builder.withBytes { (bytes) throws(StoreError) in value.set(bytes) }
  }

  /// Sets every field of `builder`, which must be for the current layout, from a row.
  func project(_ bytes: UnsafeRawBufferPointer, into builder: RecordBuilder) throws(StoreError) {
    try project(try RecordView(bytes, layout: record), into: builder)
  }

  private func project(_ view: RecordView, into builder: RecordBuilder) throws(StoreError) {
    builder.begin(entity: entity, version: view.rowVersion)
    try projection.project(view, into: builder)
  }
}
