/// Moves a source from Core Data to the module CambiumCoreData.
package enum SourceMover {
  /// Rewrites a source of a folder.
  ///
  /// A source without Core Data stays as it is, and only observations that other sources began are reported. A source
  /// that was moved before does not change.
  package static func move(_ text: String, in folder: Folder) -> MovedSource {
    var move = FileMove(text, in: folder)
    guard CoreDataNames.isMentioned(in: move) else {
      ObserverSelectors.reportRemovals(&move)
      return move.result()
    }
    ManagedProperties.run(&move)
    GeneratedMethods.run(&move)
    ObserverSelectors.run(&move)
    ObjectiveCAttributes.run(&move)
    KeyPathLiterals.run(&move)
    FoundationErrors.run(&move)
    Initializers.run(&move)
    ValidationMethods.run(&move)
    ObservedKeys.run(&move)
    GenericObjects.run(&move)
    SortSelectors.run(&move)
    StructureExtensions.run(&move)
    StoredEnumerations.run(&move)
    RequestResults.run(&move)
    OptionalUserInfo.run(&move)
    Replacements.run(&move)
    ThrowingCalls.run(&move)
    LeftNames.run(&move)
    Imports.run(&move)
    return move.result()
  }
}
