import Cambium

// What the accessors call that `@Model` makes. The compiler chooses by the type of the property. A value that cannot be
// read gives the property's initial value, or what its type has in place of a value; the context notes the error.
extension ModelRow {
  /// An attribute of one of the types that stores have.
  @inlinable
  public subscript<T: ModelAttribute>(model name: String) -> T {
    get {
      if isProbed { return probedValue(name) }
      return self[managed: name] ?? missingValue(name)
    }
    set { if mayBeSet(name) { self[managed: name] = Optional(newValue) } }
  }

  /// An attribute of one of the types that stores have, or nothing.
  @inlinable
  public subscript<T: ModelAttribute>(model name: String) -> T? {
    get {
      if isProbed { return probedValue(name) as T }
      return self[managed: name]
    }
    set { if mayBeSet(name) { self[managed: name] = newValue } }
  }

  /// An attribute of a type of the application: an enumeration, a structure, an array of values.
  ///
  /// - Parameter last: Not used. Because it is there, the compiler prefers the subscript for optional values to this.
  @_disfavoredOverload @inlinable
  public subscript<T: Codable>(model name: String, _ last: Void = ()) -> T {
    get {
      if isProbed { return probedValue(name) }
      // Where the compiler knows the type, no type is looked up.
      if case .reader(let fields) = fields(name, of: T.self), let value = try? T(from: fields) { return value }
      return codedValue(name)
    }
    set {
      guard mayBeSet(name) else { return }
      guard let fields = fieldWriter(name, of: T.self) else { return setCodedValue(newValue, name) }
      setFields(fields, name) { try newValue.encode(to: fields) }
    }
  }

  /// An attribute of a type of the application, or nothing.
  @_disfavoredOverload @inlinable
  public subscript<T: Codable>(model name: String) -> T? {
    get {
      if isProbed { return probedValue(name) }
      switch fields(name, of: T.self) {
      case .reader(let fields): if let value = try? T(from: fields) { return value }
      case .nothing: return nil
      case .otherwise: break
      }
      return codedValue(name)
    }
    set {
      guard mayBeSet(name) else { return }
      guard let value = newValue, let fields = fieldWriter(name, of: T.self) else {
        return setCodedValue(newValue, name)
      }
      setFields(fields, name) { try value.encode(to: fields) }
    }
  }

  /// A to-one relationship that has a destination.
  public subscript<M: PersistentModel>(model name: String) -> M {
    get {
      if let found: M = self[model: name] { return found }
      // Nothing is there: the destination was deleted, or was never set. A model of no context reads as its initial
      // values.
      return ModelClass.of(M.self).makeNew(as: M.self)
    }
    set { self[model: name] = Optional(newValue) }
  }

  /// A to-one relationship.
  public subscript<M: PersistentModel>(model name: String) -> M? {
    get {
      if isProbed { return probedModel(name, M.self) }
      guard let row: ModelRow = self[managed: name] else { return nil }
      let context = modelContext
      observed?._withUnsafeGuaranteedRef { $0.keep(row, of: name, context) }
      return row.model(as: M.self, name, of: self, context)
    }
    set {
      guard mayBeSet(name) else { return }
      let row = newValue?._$row
      if let row, isElsewhere(row, name) { return }
      self[managed: name] = row
    }
  }

  /// A to-many relationship: in its order if it has one, or else as the destinations were inserted.
  public subscript<M: PersistentModel>(model name: String) -> [M] {
    get {
      if isProbed { return [probedModel(name, M.self)] }
      let rows = destinations(name)
      let context = modelContext
      observed?._withUnsafeGuaranteedRef { $0.keep(rows, of: name, context) }
      // To append would look up the type of the array for each model.
      return [M](unsafeUninitializedCapacity: rows.count) { models, count in
        for row in rows {
          guard let row = row as? ModelRow, let model = row.model(as: M.self, name, of: self, context) else { continue }
          models.initializeElement(at: count, to: model)
          count += 1
        }
      }
    }
    set {
      guard mayBeSet(name) else { return }
      // An initial value of nothing must not take back, when the model is inserted, what the other side leads to.
      // To ask for `isEmpty` would look up the type of the array.
      if newValue.count == 0, isNew { return unset(relationship: name) }
      let rows = newValue.map { $0._$row }
      if rows.contains(where: { isElsewhere($0, name) }) { return }
      if !appendDestinations(rows, to: name) { self[managed: name] = Optional(rows) }
    }
  }

  /// A to-many relationship. Never `nil`, because a store does not tell none from an empty one.
  public subscript<M: PersistentModel>(model name: String) -> [M]? {
    get { .some(self[model: name]) }
    set { self[model: name] = newValue ?? [] }
  }

  /// Is chosen for its message alone.
  @available(*, unavailable, message: "a to-many relationship is an array of models; write [M] in place of Set<M>")
  public subscript<M: PersistentModel>(model name: String) -> Set<M> {
    // Nobody can call it.
    get { [] }
    set {}
  }

  /// Is chosen for its message alone.
  @available(
    *, unavailable,
    message: "the type of a stored property is Codable or a model; conform it, or mark the property with @Transient"
  )
  @_disfavoredOverload
  public subscript<T>(model name: String) -> T {
    // Nobody can call it.
    get { while true {} }
    set {}
  }

  /// An attribute whose values a transformer makes.
  public subscript<T>(transformable name: String) -> T {
    get {
      if !isProbed, let value = value(forKey: name) as? T { return value }
      return modelClass?.byName[name]?.defaultValue as? T ?? PlaceholderValue.required(T.self)
    }
    set {
      if mayBeSet(name) { setValue((newValue as? any OptionalType).map { $0.wrappedValue } ?? newValue, forKey: name) }
    }
  }

  /// The rows that a to-many relationship leads to. None if they cannot be read; the context notes the error.
  private func destinations(_ name: String) -> [ManagedObject] {
    do { return try destinations(forKey: name, class: ModelRow.self) } catch {
      managedObjectContext?.note(error, losesChange: false)
      return []
    }
  }

  /// Whether a destination is of another context, which the next save throws.
  private func isElsewhere(_ row: ModelRow, _ name: String) -> Bool {
    guard let own = managedObjectContext, let other = row.managedObjectContext, own !== other else { return false }
    own.note(
      SwiftDataError(
        .missingModelContext,
        "'\(name)' of '\(entity.name)' cannot lead to a model of another context; look it up in this one by "
          + "model(for: persistentModelID)"),
      losesChange: true)
    return true
  }

  /// Sets a to-many relationship, if the new destinations are the present ones with more behind them, as when a model
  /// is appended to the array: comparing takes less time than looking for what came and went.
  private func appendDestinations(_ rows: [ModelRow], to name: String) -> Bool {
    guard !isNew, let present = try? objectIDs(forRelationshipNamed: name), rows.count > present.count,
      zip(present, rows).allSatisfy({ $0 == $1.objectID })
    else { return false }
    do {
      for row in rows[present.count...] { try add(row, toRelationship: name) }
    } catch {
      managedObjectContext?.note(error, losesChange: true)
    }
    return true
  }

  // MARK: What they have in common

  /// Whether the row stands for any, and notes what is read.
  @inlinable var isProbed: Bool { probe != nil }

  /// Whether a value is to be set. It is not while the model of a stored row is made; the context hears of all others.
  @usableFromInline
  func mayBeSet(_ name: String) -> Bool {
    if isBeingMade { return false }
    if let context = modelContext { context.noteChange() }
    return true
  }

  /// What is read of a required attribute that has no value: that of a model whose row is gone, for example.
  @usableFromInline
  func missingValue<T: ModelAttribute>(_ name: String) -> T {
    modelClass?.byName[name]?.defaultValue as? T ?? T.missingValue
  }

  @usableFromInline
  func probedValue<T>(_ name: String) -> T {
    let placeholder = modelClass?.byName[name]?.defaultValue as? T ?? PlaceholderValue.required(T.self)
    return probe?.value(name, placeholder) ?? placeholder
  }

  /// A model of a probe's own, which notes what is read of it.
  private func probedModel<M: PersistentModel>(_ name: String, _ type: M.Type) -> M {
    probe?.note(name)
    return PathProbe.model(type, probe)
  }

  /// Where a structure that is stored field by field is read from.
  @usableFromInline
  enum Fields {
    case reader(FieldReader)
    /// The attribute has no value.
    case nothing
    /// The attribute is to be read in the general way.
    case otherwise
  }

  @usableFromInline
  func fields(_ name: String, of type: Any.Type) -> Fields {
    guard let shape = modelClass?.shape(name, of: type) else { return .otherwise }
    do {
      guard let found = try elements(forKey: name) else { return .nothing }
      return .reader(FieldReader(found, shape))
    } catch {
      // The general way meets the same error, and notes it.
      return .otherwise
    }
  }

  /// Returns the writer of a structure that is stored field by field; nil for all other types.
  @usableFromInline
  func fieldWriter(_ name: String, of type: Any.Type) -> FieldWriter? {
    modelClass?.shape(name, of: type).map { FieldWriter($0) }
  }

  /// Sets an attribute to what a block writes. The context notes an error, and its next save throws it.
  @inlinable @inline(__always)
  func setFields(_ fields: FieldWriter, _ name: String, _ write: () throws -> Void) {
    do { try write() } catch { return keepError(error) }
    setFields(fields, name)
  }

  @usableFromInline
  func setFields(_ fields: FieldWriter, _ name: String) {
    do { try setEngineValue(.composite(fields.takeElements()), forKey: name) } catch { keep(error) }
  }

  @usableFromInline
  func keepError(_ error: any Error) { keep(error) }

  /// An attribute of a type of the application, in the general way.
  @usableFromInline
  func codedValue<T: Codable>(_ name: String) -> T { coding(name, as: T.self).read(self, name) }

  @usableFromInline
  func setCodedValue<T: Codable>(_ value: T, _ name: String) { coding(name, as: T.self).write(value, self, name) }

  /// How values of a property are stored.
  private func coding<T: Codable>(_ name: String, as type: T.Type) -> ValueCoding<T> {
    if let coding = modelClass?.byName[name]?.coding(as: type) { return coding }
    return ValueCodings.coding(for: type)
  }

  /// The model of this row, which has to be of a class.
  ///
  /// - Parameters:
  ///   - name: The relationship that leads here.
  ///   - source: The row that has the relationship, of a model of the context.
  func model<M: PersistentModel>(
    as type: M.Type, _ name: String, of source: ModelRow, _ context: ModelContext?
  ) -> M? {
    if owner == nil, let context, let maker = context.maker(of: self),
      maker.modelClass.typeID == ObjectIdentifier(type)
    {
      return maker.make(self, context, as: type)
    }
    if let found = model ?? makeModel(context: context) {
      // A class that nobody inherits from is told at a glance.
      if Swift.type(of: found) == type { return unsafeDowncast(found, to: type) }
      if let found = found as? M { return found }
    }
    source.managedObjectContext?.note(
      SwiftDataError(
        .unsupportedKeyPath,
        "'\(name)' of '\(source.entity.name)' leads to a model of '\(entity.name)', which is no \(M.self)"),
      losesChange: false)
    return nil
  }

  /// Makes the model of this row, which has none.
  func makeModel(context: ModelContext?) -> AnyObject? {
    // A row without a context was made with a model, and knows its class.
    guard let maker = context?.maker(of: self) ?? modelClass?.maker() else { return nil }
    return maker.make(self, context)
  }
}
