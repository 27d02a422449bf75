import CambiumEngine

/// What a batch update sets of composites: single elements, while the others stay as each row has them.
struct BatchElements {
  /// An element, by its path.
  struct Element {
    /// The composite, and its rules.
    let attribute: AttributeSchema
    let rules: AttributeSchema
    /// The names below it; there is one at least.
    let names: [String]
    /// The element itself.
    let schema: AttributeSchema
    let path: String
  }

  private let info: EntityInfo
  /// What every row gets.
  private var fixed: [(element: Element, value: Value)] = []
  /// By path those that are computed of each row.
  private var computed: [String: Element] = [:]

  init(_ info: EntityInfo) { self.info = info }

  /// Whether nothing is set.
  var isEmpty: Bool { fixed.isEmpty && computed.isEmpty }

  /// The element at a path; nil for a name without dots.
  ///
  /// - Throws: ``CambiumError/Code/unknownKey`` for a path that leads to none, ``CambiumError/Code/invalidArgument``
  ///   for one of a property that a batch cannot set.
  private func element(_ path: String) throws -> Element? {
    let names = path.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
    guard names.count > 1, let property = info.properties[names[0]] else { return nil }
    guard case .attribute(let attribute, let rules) = property.kind, attribute.type == .composite,
      !property.isTransient, !property.isDerived
    else {
      throw CambiumError(
        .invalidArgument,
        "a batch request cannot set '\(path)' of '\(info.name)': '\(names[0])' is no composite that is stored in its rows"
          + (property.relationship == nil ? "" : "; make a request for the entity that it leads to"),
        entityName: info.name, key: path)
    }
    var schema = attribute
    for name in names.dropFirst() {
      guard let found = schema.element(named: name) else {
        let known = schema.elements.map { $0.name }.joined(separator: ", ")
        throw CambiumError(
          .unknownKey,
          "'\(path)' of '\(info.name)' leads to nothing: "
            + (known.isEmpty ? "'\(schema.name)' is no composite" : "'\(schema.name)' has the elements \(known)"),
          entityName: info.name, key: path)
      }
      schema = found
    }
    return Element(
      attribute: attribute, rules: rules, names: Array(names.dropFirst()), schema: schema, path: path)
  }

  /// Notes that an element is computed of each row; answers whether the path is one of an element.
  mutating func compute(_ path: String) throws -> Bool {
    guard let element = try element(path) else { return false }
    computed[path] = element
    return true
  }

  /// Whether something that is computed of each row is an element's.
  func computes(_ path: String) -> Bool { computed[path] != nil }

  /// Notes what an element gets; answers whether the path is one of an element.
  mutating func set(_ given: Any?, _ path: String) throws -> Bool {
    guard let element = try element(path) else { return false }
    var rules = element.rules
    for name in element.names { rules = rules.element(named: name) ?? rules }
    let value = try rules.untransformed(given, path: path, entity: info.name)
    fixed.append((element, try element.schema.accept(value, path: path, entity: info.name)))
    return true
  }

  /// Refuses a request that sets a composite and an element of it, or an element and one within.
  func requireApart(_ paths: some Sequence<String>) throws {
    let all = Set(paths)
    for path in all {
      guard let inner = all.first(where: { $0.hasPrefix(path + ".") }) else { continue }
      throw CambiumError(
        .invalidArgument, "a batch request cannot set '\(path)' and '\(inner)' of '\(info.name)' at once",
        entityName: info.name, key: inner)
    }
  }

  /// Sets the composites of a row, which keep what is not set of them.
  ///
  /// - Parameter values: What was computed of the row, by path.
  func set(
    of reference: ObjectReference, _ values: [String: Value], in changes: inout RowValues, _ t: EntityTransaction
  )
    throws(BatchError)
  {
    if isEmpty { return }
    let found: Row?
    do throws(EngineError) { found = try t.row(reference) } catch { throw .engine(error) }
    guard let row = found else { return }
    var composites: [String: Value] = [:]
    func put(_ element: Element, _ value: Value) throws(BatchError) {
      let name = element.attribute.name
      var present = composites[name]
      if present == nil {
        do throws(EngineError) { present = try row.value(element.attribute) } catch { throw .engine(error) }
      }
      composites[name] = (present ?? .null).replacing(element.names[...], of: element.attribute, with: value)
    }
    for (element, value) in fixed { try put(element, value) }
    for (path, value) in values {
      guard let element = computed[path] else { continue }
      guard let coerced = element.schema.coerce(value) else {
        throw .refused(
          CambiumError(
            .invalidArgument,
            "'\(path)' of '\(info.name)' is of type \(element.schema.type.name) and cannot hold '\(value)'",
            entityName: info.name, key: path))
      }
      try put(element, coerced)
    }
    for (name, value) in composites { changes.set(name, value) }
  }
}

extension Value {
  /// A composite with another value of an element. One that was null has its other elements null.
  fileprivate func replacing(_ names: ArraySlice<String>, of attribute: AttributeSchema, with new: Value) -> Value {
    guard let name = names.first else { return new }
    var present: CompositeValue?
    if case .composite(let composite) = self { present = composite }
    // The depth is bounded by the schema.
    let values = attribute.elements.map { element in
      let value = present?[element.name] ?? .null
      return element.name == name ? value.replacing(names.dropFirst(), of: element, with: new) : value
    }
    return .composite(CompositeValue(names: attribute.elements.map { $0.name }, values: values))
  }
}
