import Observation

/// What a model keeps: the row that has its values, and its context. The expansion of ``Model()`` has one for each
/// class.
///
/// The row does not keep the model, because the model keeps the row. When the model ends, its row forgets it.
public struct ModelStorage<Model: PersistentModel>: ~Copyable {
  /// Kept by this; nil before the row is asked for.
  @usableFromInline var kept: Unmanaged<ModelRow>?
  /// The model; nil as long as its row does not lead back to it.
  @usableFromInline var owner: UnsafeMutableRawPointer?
  /// The context, which the model keeps alive.
  @usableFromInline var keptContext: ModelContext?

  /// The storage that a model begins with.
  @inlinable public init() {}

  /// Storage with the row of another one.
  public init(_ other: any BackingData<Model>) {
    kept = .passRetained(other.row)
    keptContext = other.row.modelContext
  }

  deinit {
    guard let kept else { return }
    kept._withUnsafeGuaranteedRef { row in
      // Another instance may have come in place of the model while it ended.
      if let owner, row.owner == owner { row.owner = nil }
    }
    kept.release()
  }

  /// The row that has the values: the one that a context makes the model for, or else a new one.
  public var row: ModelRow {
    mutating get { (kept ?? makeRow()).takeUnretainedValue() }
  }

  /// Gives a property its first value, by a block that has the row.
  @inlinable @inline(__always)
  public mutating func begin(_ set: (ModelRow) -> Void) {
    (kept ?? makeRow())._withUnsafeGuaranteedRef {
      // The model of a stored row has that row's values.
      if !$0.isBeingMade { set($0) }
    }
  }

  /// The same for a first value that may be nil. A row begins without values, so that nothing is to be set.
  @inlinable @inline(__always)
  public mutating func begin<T>(unlessNil value: T?, _ set: (ModelRow) -> Void) {
    if case .none = value, kept == nil { return }
    begin(set)
  }

  @usableFromInline
  mutating func makeRow() -> Unmanaged<ModelRow> {
    let row = ModelMaking.current?.row(for: Model.self) ?? ModelClass.of(Model.self).newRow()
    let made = Unmanaged.passRetained(row)
    kept = made
    return made
  }

  /// The row, if it leads back to the model.
  @inlinable public var held: HeldRow? { owner == nil ? nil : kept.map { HeldRow($0) } }

  /// The context.
  @inlinable public var context: ModelContext? { keptContext }

  /// Takes the row of another storage.
  public mutating func take(_ other: any BackingData<Model>) { keep(other.row) }

  /// Takes the row that a context makes a model for, of a class that nobody inherits from.
  @inlinable
  public mutating func take(_ row: ModelRow, _ context: ModelContext?, _ model: AnyObject) {
    if kept == nil { kept = .passRetained(row) } else { keep(row) }
    let pointer = Unmanaged.passUnretained(model).toOpaque()
    owner = pointer
    row.owner = pointer
    keptContext = context
  }

  @usableFromInline
  mutating func keep(_ row: ModelRow) {
    let new = Unmanaged.passUnretained(row)
    if kept?.toOpaque() == new.toOpaque() { return }
    kept?.release()
    kept = new.retain()
  }

  /// Has the row lead back to its model.
  public mutating func own(_ model: AnyObject) -> HeldRow {
    let pointer = Unmanaged.passUnretained(model).toOpaque()
    let row = kept ?? makeRow()
    owner = pointer
    row._withUnsafeGuaranteedRef { $0.owner = pointer }
    return HeldRow(row)
  }

  /// Has one row lead back to a model of a class that inherits, whose initializers each began with a row of their own.
  ///
  /// - Parameter levels: The rows of the classes, that of the root first.
  public mutating func own(_ levels: [ModelRow], _ model: AnyObject) -> HeldRow {
    keep(ModelRow.joined(levels))
    return own(model)
  }

  /// Makes the model one of a context.
  public mutating func attach(_ context: ModelContext?) { keptContext = context }
}

/// The row of a model, looked at without counting references, because the model keeps the row. For the expansion of
/// ``Model()``.
public struct HeldRow {
  @usableFromInline let row: Unmanaged<ModelRow>

  @inlinable init(_ row: Unmanaged<ModelRow>) { self.row = row }

  /// The row.
  public var counted: ModelRow { row.takeUnretainedValue() }

  /// Runs a block with the row.
  @inlinable @inline(__always)
  public func with<R>(_ body: (ModelRow) -> R) -> R { row._withUnsafeGuaranteedRef { body($0) } }

  /// Tells Observation that a property is read.
  @inlinable @inline(__always)
  public func access<Subject: Observable, Member>(_ subject: Subject, keyPath: KeyPath<Subject, Member>) {
    row._withUnsafeGuaranteedRef { row in
      (row.observed ?? row.makeObserved())._withUnsafeGuaranteedRef { $0.registrar.access(subject, keyPath: keyPath) }
    }
  }

  /// Tells Observation that a property is changed by a block.
  @inlinable @inline(__always)
  public func withMutation<Subject: Observable, Member>(
    of subject: Subject, keyPath: KeyPath<Subject, Member>, _ mutation: (ModelRow) -> Void
  ) {
    row._withUnsafeGuaranteedRef { row in
      guard let observed = row.observed else { return mutation(row) }
      observed._withUnsafeGuaranteedRef { $0.registrar.withMutation(of: subject, keyPath: keyPath) { mutation(row) } }
    }
  }
}
