import CambiumEngine

/// A fetch of dictionaries, as the newest commit has them.
struct DictionaryFetch<Result: FetchRequestResult> {
  let fetch: ContextFetch
  let request: FetchRequest<Result>

  /// A column of dictionaries.
  private struct Column {
    var engine: EngineColumn
    var type: AttributeType
    /// The attribute as the model has it, if its values go through a transformer.
    var transformed: AttributeSchema?
  }

  /// Fetches the dictionaries.
  ///
  /// - Throws: ``CambiumError/Code/unsupported`` if several stores hold the entity; what reading throws.
  func dictionaries() throws -> [[String: Any]] {
    let (context, plan) = (fetch.context, fetch.plan)
    context.advance()
    // The context's query generation may have none of the stores.
    if plan.parts.isEmpty { return [] }
    guard plan.parts.count == 1, let (store, info) = plan.parts.first else {
      throw CambiumError(
        .unsupported,
        "\(plan.parts.count) stores hold '\(plan.name)', and dictionaries are of one store: name it by affectedStores",
        entityName: plan.name)
    }
    let properties = request.propertiesToFetch ?? Self.storedProperties(of: info)
    let columns = try properties.map { try column($0, info, store.space) }
    var values = EngineValuesFetch(try fetch.wholeEngineFetch(info), columns: columns.map { $0.engine })
    values.groupBy = request.propertiesToGroupBy ?? []
    values.having = request.havingPredicate?.inStore
    values.isDistinct = request.returnsDistinctResults && request.propertiesToFetch != nil
    let view = try context.view(of: store.space)
    try mapping(.invalidArgument) { () throws(EngineError) in try values.check(against: view.store.schema) }
    let rows = try mapping { () throws(EngineError) in try view.fetchValues(values) }
    return try rows.map { try dictionary($0, columns, info, store.space) }
  }

  private func dictionary(
    _ row: [Value], _ columns: [Column], _ info: EntityInfo, _ space: StoreSpace
  ) throws -> [String: Any] {
    var result: [String: Any] = [:]
    result.reserveCapacity(columns.count)
    for (column, value) in zip(columns, row) {
      guard var found = value.foundation(type: column.type, objects: space) else { continue }
      if let transformed = column.transformed {
        let name = column.engine.name
        guard let value = try transformed.transformed(found, path: name, entity: info.name) else { continue }
        found = value
      }
      result[column.engine.name] = found
    }
    return result
  }

  /// The properties that the store has in the row of each object.
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

  /// Returns the attribute at the end of a key path, as the model has it.
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
}
