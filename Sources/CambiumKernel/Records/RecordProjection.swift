/// How a record of an older layout is read as one of the current layout. Fields are matched by property id, so renamed
/// ones keep their values and dropped ones are left out. Composed once for each pair of layouts; immutable.
public final class RecordProjection: @unchecked Sendable {
  // Unchecked, since `steps` is plain memory, where nothing is counted for every record; nothing changes it between
  // `init` and `deinit`.

  /// Where a field of the current layout comes from.
  public enum Source: Sendable {
    /// A field of the stored record, after a conversion.
    case field(Int, FieldConversion)
    /// A composite of the stored record, read through a projection of its own.
    case nested(Int, RecordProjection)
    /// A composite whose elements are fields of the stored record itself; null if all of these are.
    case gathered([Gathered])
    /// A field of a composite of the stored record, after a conversion.
    case element(of: Int, Int, FieldConversion)
    /// The stored layout has no such property: the default applies.
    case missing
  }

  /// A field of the stored record that is an element of a composite.
  public struct Gathered: Sendable, BitwiseCopyable {
    /// The field.
    public var from: Int
    /// The element.
    public var to: Int
    /// What is done with the value.
    public var conversion: FieldConversion
    /// Whether null reads as the default.
    public var nullTakesDefault: Bool
  }

  /// The layout of stored records.
  public let stored: RecordLayout
  /// The layout that they are read as.
  public let current: RecordLayout
  /// Where each field of the current layout comes from.
  public let sources: [Source]
  /// Whether records can be taken as they are, but for the layout id.
  public let isIdentity: Bool
  /// A record of the current layout that holds the default of each field.
  let defaults: [UInt8]?
  let nullTakesDefault: [Bool]
  /// What is done for each field of the current layout: ``sources`` again, but for the projections of composites.
  private let steps: UnsafeMutableBufferPointer<Step>

  private struct Step: BitwiseCopyable {
    var from = 0
    var kind = Kind.missing
    var nullTakesDefault: Bool

    enum Kind: BitwiseCopyable {
      case missing
      case field(FieldConversion)
      case nested
      case gathered
      case element(Int, FieldConversion)
    }
  }

  /// Composes a projection.
  ///
  /// - Parameters:
  ///   - stored: the layout of stored records.
  ///   - current: the layout that they are read as.
  ///   - defaults: a record of the current layout; its values are those of properties that the stored layout does not
  ///     have. Without it these are null. A composite that the stored layout does not have is null; the elements of
  ///     composites in `defaults` are for those it has. Defaults apply as of the step which added a property, so a
  ///     caller that knows several steps passes each property's default as of its own.
  ///   - requiredProperties: ids of properties (of nested records as well) that may no longer be null: a stored null
  ///     reads as the default.
  ///   - changesLevels: whether a property may also be one level above or below where the stored layout has it:
  ///     gathered into a composite, or spread out of one. Ids then are those of one property wherever they stand.
  /// - Throws: `StoreError.misuse` if the kinds of a property differ and no ``FieldConversion`` joins them, or
  ///   `StoreError.corrupt` if `defaults` is not a record of the current layout.
  public init(
    from stored: RecordLayout, to current: RecordLayout, defaults: [UInt8]? = nil, requiredProperties: [UInt32] = [],
    changesLevels: Bool = false
  ) throws(StoreError) {
    var sources: [Source] = []
    var identity = stored.fields.count == current.fields.count
    for (index, field) in current.fields.enumerated() {
      guard let from = stored.index(ofProperty: field.property) else {
        sources.append(changesLevels ? try RecordProjection.moved(stored, field, requiredProperties) : .missing)
        identity = false
        continue
      }
      let source = try RecordProjection.source(stored, from, field, index, current, defaults, requiredProperties)
      if from != index { identity = false }
      switch source {
      case .field(_, let conversion): if conversion != .none { identity = false }
      case .nested(_, let inner): if !inner.isIdentity { identity = false }
      case .missing, .gathered, .element: identity = false
      }
      sources.append(source)
    }
    let required = current.fields.map { field in requiredProperties.contains { $0 == field.property } }
    self.stored = stored
    self.current = current
    self.sources = sources
    self.defaults = defaults
    self.nullTakesDefault = required
    self.isIdentity = identity && !required.contains(true)
    steps = .allocate(capacity: sources.count)
    for (index, source) in sources.enumerated() {
      var step = Step(nullTakesDefault: required[index])
      switch source {
      case .missing: break
      case .field(let from, let conversion): (step.from, step.kind) = (from, .field(conversion))
      case .nested(let from, _): (step.from, step.kind) = (from, .nested)
      case .gathered: step.kind = .gathered
      case .element(let outer, let from, let conversion):
        (step.from, step.kind) = (outer, .element(from, conversion))
      }
      steps.initializeElement(at: index, to: step)
    }
  }

  deinit { steps.deallocate() }

  /// Where a property is that the stored layout does not have at its level.
  private static func moved(
    _ stored: RecordLayout, _ field: RecordField, _ required: [UInt32]
  ) throws(StoreError) -> Source {
    if case .nested(let inner) = field.kind {
      var parts: [Gathered] = []
      for (place, element) in inner.fields.enumerated() {
        guard let from = stored.index(ofProperty: element.property) else { continue }
        let conversion = try FieldConversion(from: stored.fields[from].kind.tag, to: element.kind.tag)
        parts.append(
          Gathered(
            from: from, to: place, conversion: conversion,
            nullTakesDefault: required.contains { $0 == element.property }))
      }
      return parts.isEmpty ? .missing : .gathered(parts)
    }
    for place in stored.fields.indices {
      guard let inner = stored.nestedLayout(at: place), let from = inner.index(ofProperty: field.property) else {
        continue
      }
      return .element(
        of: place, from, try FieldConversion(from: inner.fields[from].kind.tag, to: field.kind.tag))
    }
    return .missing
  }

  private static func source(
    _ stored: RecordLayout, _ from: Int, _ field: RecordField, _ index: Int, _ current: RecordLayout,
    _ defaults: [UInt8]?, _ required: [UInt32]
  ) throws(StoreError) -> Source {
    guard case .nested(let inner) = field.kind, let outer = stored.nestedLayout(at: from) else {
      return .field(from, try FieldConversion(from: stored.fields[from].kind.tag, to: field.kind.tag))
    }
    var innerDefaults: [UInt8]?
    if let defaults {
      innerDefaults = try RecordProjection.withView(of: defaults, current) { (view) throws(StoreError) in
        guard let nested = try view.nested(at: index) else { return nil }
        return [UInt8](nested.bytes)
      }
    }
    return .nested(
      from, try RecordProjection(from: outer, to: inner, defaults: innerDefaults, requiredProperties: required))
  }

  /// Sets every field of `builder`, which must be for the current layout and have been begun, from a stored record.
  ///
  /// Values that need no conversion are copied as bytes.
  public func project(_ record: RecordView, into builder: RecordBuilder) throws(StoreError) {
    guard record.table == stored.table, builder.layout === current else {
      throw .misuse("the record or the builder has another layout than the projection")
    }
    for index in steps.indices {
      let step = steps[index]
      switch step.kind {
      case .missing: try setDefault(index, builder)
      case .field(let conversion):
        if step.nullTakesDefault, try record.isNull(step.from) {
          try setDefault(index, builder)
        } else {
          try conversion.copy(step.from, of: record, to: index, of: builder)
        }
      case .nested:
        // The recursion is bounded by `RecordLayout.depthLimit`.
        if let nested = try record.nested(at: step.from) {
          guard case .nested(_, let inner) = sources[index] else { continue }
          try inner.project(nested, into: try builder.nested(at: index))
        } else if step.nullTakesDefault {
          try setDefault(index, builder)
        } else {
          try builder.setNull(at: index)
        }
      case .gathered:
        guard case .gathered(let parts) = sources[index] else { continue }
        try gather(parts, of: record, to: index, of: builder, step.nullTakesDefault)
      case .element(let from, let conversion):
        if let nested = try record.nested(at: step.from), try !nested.isNull(from) {
          try conversion.copy(from, of: nested, to: index, of: builder)
        } else if step.nullTakesDefault {
          try setDefault(index, builder)
        } else {
          try builder.setNull(at: index)
        }
      }
    }
  }

  private func gather(
    _ parts: [Gathered], of record: RecordView, to index: Int, of builder: RecordBuilder, _ nullTakesDefault: Bool
  ) throws(StoreError) {
    var isThere = false
    for part in parts where try !record.isNull(part.from) { isThere = true }
    guard isThere else {
      if nullTakesDefault { return try setDefault(index, builder) }
      return try builder.setNull(at: index)
    }
    let nested = try builder.nested(at: index)
    // Elements that were added since take their defaults.
    if let defaults {
      try RecordProjection.withView(of: defaults, current) { (view) throws(StoreError) in
        guard let inner = try view.nested(at: index) else { return }
        for place in nested.layout.fields.indices { try nested.copy(place, of: inner, to: place) }
      }
    }
    for part in parts {
      if part.nullTakesDefault, try record.isNull(part.from) { continue }
      try part.conversion.copy(part.from, of: record, to: part.to, of: nested)
    }
  }

  private func setDefault(_ index: Int, _ builder: RecordBuilder) throws(StoreError) {
    guard let defaults else { return try builder.setNull(at: index) }
    // A composite has no default of its own: what `defaults` holds are its elements', for composites that are there.
    if case .nested = current.fields[index].kind { return try builder.setNull(at: index) }
    try RecordProjection.withView(of: defaults, current) { (view) throws(StoreError) in
      try builder.copy(index, of: view, to: index)
    }
  }

  /// Calls `body` with the record of defaults, or with nothing if there is none.
  public func withDefaults<R>(_ body: (RecordView?) throws(StoreError) -> R) throws(StoreError) -> R {
    guard let defaults else { return try body(nil) }
    return try RecordProjection.withView(of: defaults, current) { (view) throws(StoreError) in try body(view) }
  }

  private static func withView<R>(
    of bytes: [UInt8], _ layout: RecordLayout, _ body: (RecordView) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    var result: Result<R, StoreError>?
    bytes.withUnsafeBytes { buffer in
      do throws(StoreError) { result = .success(try layout.withView(of: buffer, body)) } catch {
        result = .failure(error)
      }
    }
    guard let result else { throw .misuse("the record was not read") }
    return try result.get()
  }
}

/// A change of kind that a projection makes while it reads. More may be added.
public enum FieldConversion: Sendable, Equatable, BitwiseCopyable {
  /// The kinds are the same.
  case none
  /// An integer becomes a wider one.
  case widenInteger
  /// A float becomes a double.
  case widenFloat
  /// A reference becomes a list of one.
  case list

  init(from: FieldTag, to: FieldTag) throws(StoreError) {
    switch (from, to) {
    case (.nested, _), (_, .nested): throw .misuse("a composite cannot be read as another kind")
    case _ where from == to: self = .none
    case (.int16, .int32), (.int16, .int64), (.int32, .int64): self = .widenInteger
    case (.float, .double): self = .widenFloat
    case (.reference, .references): self = .list
    default: throw .misuse("no conversion joins the two kinds of a property")
    }
  }

  func copy(_ from: Int, of record: RecordView, to index: Int, of builder: RecordBuilder) throws(StoreError) {
    switch self {
    case .none: try builder.copy(from, of: record, to: index)
    case .widenInteger: try builder.set(try record.int64(at: from), at: index)
    case .widenFloat: try builder.set(try record.double(at: from), at: index)
    case .list: try builder.set(references: try record.reference(at: from).map { [$0] }, at: index)
    }
  }
}
