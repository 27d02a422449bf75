import CambiumEngine

extension ContextFetch {
  /// Returns the plans of the stores as text, one paragraph for each store.
  ///
  /// - Parameter running: Whether to run the fetch too, and to say how many objects each store found.
  @_optimize(none)
  func explanation(running: Bool) throws -> String {
    context.advance()
    return try plan.parts.map { try explanation(of: $0, running: running) }.joined(separator: "\n")
  }

  @_optimize(none)
  private func explanation(of part: ContextFetchPlan.Part, running: Bool) throws -> String {
    let isOnly = plan.parts.count == 1
    let fetch = isOnly ? try wholeEngineFetch(part.info) : try engineFetch(part.info)
    let view = try context.view(of: part.store.space)
    let explanation = try mappingFetch { () throws(EngineError) in try view.explain(fetch, running: running) }
    let name = isOnly ? "" : (part.store.url?.lastPathComponent ?? "in memory") + ":\n"
    return name + explanation.description
  }
}
