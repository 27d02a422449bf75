// The rules that a request must keep before a store is asked.
extension FetchRequest {
  /// Throws if a request for objects has settings that only dictionaries may have.
  ///
  /// - Parameter infos: The requested entity in each store.
  func checkProperties(of infos: [EntityInfo]) throws {
    if havingPredicate != nil, propertiesToGroupBy?.isEmpty != false {
      throw refusal("havingPredicate is about groups: set propertiesToGroupBy, or use the predicate")
    }
    guard resultType != .dictionary else { return }
    if propertiesToGroupBy?.isEmpty == false {
      throw refusal("propertiesToGroupBy makes groups of objects: set resultType to .dictionary")
    }
    for property in propertiesToFetch ?? [] {
      switch property {
      case .expression(let description):
        throw refusal("the expression '\(description.name)' is no property of objects: set resultType to .dictionary")
      case .keyPath(let name):
        for info in infos { try checkProperty(name, of: info) }
      }
    }
  }

  private func checkProperty(_ name: String, of info: EntityInfo) throws {
    guard let known = info.properties[name] else {
      throw CambiumError(
        .unknownKey, "'\(info.name)' has no property '\(name)' to fetch" + info.schema.alternatives(to: name),
        entityName: info.name, key: name)
    }
    if known.relationship?.isToMany == true {
      throw refusal("'\(name)' leads to several objects, and is fetched when it is asked for", key: name)
    }
  }

  private func refusal(_ message: String, key: String? = nil) -> CambiumError {
    CambiumError(.invalidArgument, message, entityName: entityName, key: key)
  }

  /// Throws if a key path to prefetch names a property that is not a relationship.
  func checkPrefetching(from info: EntityInfo, in space: StoreSpace) throws {
    for path in relationshipKeyPathsForPrefetching ?? [] {
      var current: EntityInfo? = info
      for name in path.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
        guard let property = current?.properties[name] else {
          throw CambiumError(
            .unknownKey,
            "'\(path)' cannot be prefetched: '\(current?.name ?? "")' has no property '\(name)'"
              + (current?.schema.alternatives(to: name) ?? ""), entityName: info.name, key: path)
        }
        guard let relationship = property.relationship else {
          throw CambiumError(
            .invalidArgument, "'\(path)' cannot be prefetched: '\(name)' is no relationship", entityName: info.name,
            key: path)
        }
        current = space.info(named: relationship.schema.destination)
      }
    }
  }
}
