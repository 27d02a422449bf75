import CambiumEngine

extension ManagedObjectContext {
  /// A column of dictionaries.
  private struct Column {
    var engine: EngineColumn
    var type: AttributeType
    /// The attribute as the model has it, if its values go through a transformer.
    var transformed: AttributeSchema?
  }

  /// The dictionaries of a request, as the newest commit has them.
  func dictionaries<Result: FetchRequestResult>(
    _ request: FetchRequest<Result>, _ plan: FetchPlan
  ) throws -> [[String: Any]] {
    advance()
    // None of the stores is in the context's query generation.
    if plan.parts.isEmpty { return [] }
    guard plan.parts.count == 1, let (store, info) = plan.parts.first else {
      throw CambiumError(
        .unsupported,
        "\(plan.parts.count) stores hold '\(plan.name)', and dictionaries are of one store: name it by affectedStores",
        entityName: plan.name)
    }
    let properties = request.propertiesToFetch ?? Self.storedProperties(of: info)
    let columns = try properties.map { try column($0, info, store.space) }
    var values = EngineValuesFetch(try engineFetch(plan, info), columns: columns.map { $0.engine })
    values.fetch.offset = plan.offset
    values.fetch.limit = plan.limit
    values.groupBy = request.propertiesToGroupBy ?? []
    values.having = request.havingPredicate?.inStore
    values.isDistinct = request.returnsDistinctResults && request.propertiesToFetch != nil
    let view = try view(of: store.space)
    try mapping(.invalidArgument) { () throws(EngineError) in try values.check(against: view.store.schema) }
    let rows = try mapping { () throws(EngineError) in try view.fetchValues(values) }
    return try rows.map { row in
      var result: [String: Any] = [:]
      result.reserveCapacity(columns.count)
      for (column, value) in zip(columns, row) {
        guard var found = value.foundation(type: column.type, objects: store.space) else { continue }
        if let transformed = column.transformed {
          let name = column.engine.name
          guard let value = try transformed.transformed(found, path: name, entity: info.name) else { continue }
          found = value
        }
        result[column.engine.name] = found
      }
      return result
    }
  }

  /// What the store has of each object in itself.
  private static func storedProperties(of info: EntityInfo) -> [FetchProperty] {
    info.ordered.filter { !$0.isTransient && $0.relationship?.isToMany != true }.map { .keyPath($0.name) }
  }

  private func column(_ property: FetchProperty, _ info: EntityInfo, _ space: StoreSpace) throws -> Column {
    switch property {
    case .keyPath(let path):
      let rules = rules(at: path, info, space)
      return Column(
        engine: EngineColumn(path, FetchExpression(forKeyPath: path).engine), type: rules?.type ?? .undefined,
        transformed: rules.flatMap { $0.isTransformed ? $0 : nil })
    case .expression(let description):
      let type = description.expressionResultType ?? .undefined
      return Column(
        engine: EngineColumn(description.name, description.expression.engine, type: type == .undefined ? nil : type),
        type: type)
    }
  }

  /// The attribute that a key path ends in, as the model has it. The depth is that of the text.
  private func rules(at path: String, _ info: EntityInfo, _ space: StoreSpace) -> AttributeSchema? {
    var current: EntityInfo? = info
    var attribute: AttributeSchema?
    for name in path.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
      if let composite = attribute {
        attribute = composite.element(named: name)
        if attribute == nil { return nil }
      } else {
        guard let property = current?.properties[name] else { return nil }
        attribute = property.rules
        current = property.relationship.flatMap { space.info(named: $0.schema.destination) }
      }
    }
    return attribute
  }

  // MARK: Rules

  /// Refuses what only dictionaries can have.
  func checkProperties<Result: FetchRequestResult>(_ request: FetchRequest<Result>, _ infos: [EntityInfo]) throws {
    func refuse(_ message: String, key: String? = nil) -> CambiumError {
      CambiumError(.invalidArgument, message, entityName: request.entityName, key: key)
    }
    if request.havingPredicate != nil, request.propertiesToGroupBy?.isEmpty != false {
      throw refuse("havingPredicate is about groups: set propertiesToGroupBy, or use the predicate")
    }
    guard request.resultType != .dictionary else { return }
    if request.propertiesToGroupBy?.isEmpty == false {
      throw refuse("propertiesToGroupBy makes groups of objects: set resultType to .dictionary")
    }
    for property in request.propertiesToFetch ?? [] {
      switch property {
      case .expression(let description):
        throw refuse("the expression '\(description.name)' is no property of objects: set resultType to .dictionary")
      case .keyPath(let name):
        for info in infos {
          guard let known = info.properties[name] else {
            throw CambiumError(
              .unknownKey, "'\(info.name)' has no property '\(name)' to fetch" + info.schema.alternatives,
              entityName: info.name, key: name)
          }
          if known.relationship?.isToMany == true {
            throw refuse("'\(name)' leads to several objects, and is fetched when it is asked for", key: name)
          }
        }
      }
    }
  }
}
