/// Which sources are Core Data's.
enum CoreDataNames {
  /// Names that are Core Data's alone.
  static let own: Set<String> = [
    "NSManagedObject", "NSManagedObjectContext", "NSManagedObjectID", "NSManagedObjectModel", "NSPersistentContainer",
    "NSPersistentCloudKitContainer", "NSPersistentStore", "NSPersistentStoreCoordinator",
    "NSPersistentStoreDescription",
    "NSEntityDescription", "NSAttributeDescription", "NSRelationshipDescription", "NSPropertyDescription",
    "NSFetchRequest", "NSFetchRequestResult", "NSFetchedResultsController", "NSFetchedResultsControllerDelegate",
    "NSFetchedResultsSectionInfo", "NSFetchedResultsChangeType", "NSBatchDeleteRequest", "NSBatchInsertRequest",
    "NSBatchUpdateRequest", "NSAsynchronousFetchRequest", "NSExpressionDescription", "NSMergePolicy", "NSMergeConflict",
    "NSEntityMigrationPolicy", "NSMappingModel", "NSEntityMapping", "NSMigrationManager", "NSPersistentHistoryToken",
    "NSPersistentHistoryTransaction", "NSPersistentHistoryChange", "NSPersistentHistoryChangeRequest",
    "NSPersistentHistoryResult", "NSSQLiteStoreType", "NSInMemoryStoreType", "NSMergeByPropertyObjectTrumpMergePolicy",
    "NSMergeByPropertyStoreTrumpMergePolicy", "NSErrorMergePolicy", "NSRollbackMergePolicy", "NSOverwriteMergePolicy",
    "NSManagedObjectContextDidSave", "NSManagedObjectContextWillSave", "NSManagedObjectContextObjectsDidChange",
    "NSPersistentStoreRemoteChange", "NSInsertedObjectsKey", "NSUpdatedObjectsKey", "NSDeletedObjectsKey",
    "NSRefreshedObjectsKey", "NSFetchIndexDescription", "NSDerivedAttributeDescription",
  ]

  /// Names that CambiumCoreData and Foundation both have. A source that imports Foundation, or a module that brings it
  /// along, has to choose.
  static let sharedWithFoundation: Set<String> = [
    "NSCompoundPredicate", "NSExpression", "NSPredicate", "NSSortDescriptor",
  ]

  /// Whether a source imports Core Data, uses it, or extends a class of managed objects. In a folder with Core Data, a
  /// source with predicates and orders belongs to it as well.
  static func isMentioned(in move: FileMove) -> Bool {
    let source = move.source
    var hasSharedName = false
    var hasKeyPath = false
    var hasManagedClass = false
    // A predicate that tests values by itself, such as a text, is Foundation's.
    var testsValues = false
    for (index, token) in source.tokens.enumerated() {
      switch token.kind {
      case .attribute where token.text == "@NSManaged": return true
      case .word:
        if own.contains(token.text) { return true }
        if source[index - 1]?.isWord("import") == true, ["CoreData", "CambiumCoreData"].contains(token.text) {
          return true
        }
        if sharedWithFoundation.contains(token.text) { hasSharedName = true }
        if move.folder.managedClasses.contains(token.text) { hasManagedClass = true }
        if token.text == "evaluate", source[index - 1]?.isMark(".") == true { testsValues = true }
      case .hashWord where token.text == "#keyPath": hasKeyPath = true
      default: break
      }
    }
    if (hasSharedName || hasKeyPath) && hasManagedClass { return true }
    if hasSharedName && move.folder.hasCoreData && !testsValues { return true }
    return move.structure.scopes.contains {
      move.folder.managedClasses.contains($0.lastName) || move.folder.storedEnums.contains($0.lastName)
    }
  }
}
