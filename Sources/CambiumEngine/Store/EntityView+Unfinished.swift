import CambiumKernel

extension EntityView {
  /// The trees of the indexes that lack rows in this view: a migration has put their building off
  /// (``EntityStore/runDeferredTask(maximumRows:)``), and it was not done when the view was made.
  ///
  /// What was unfinished when the store was opened is looked up for every view: it may have been finished since, also
  /// by another process, and earlier views stay what they are.
  func unfinishedIndexes(_ plan: EntityPlan) throws(EngineError) -> Set<TreeID> {
    var trees: Set<TreeID> = []
    for (tree, index) in plan.building {
      let entry = try storing { () throws(StoreError) in
        try self.trees.value(Catalogue.tree, Catalogue.buildingKey(index))
      }
      if entry != nil { trees.insert(tree) }
    }
    return trees
  }
}
