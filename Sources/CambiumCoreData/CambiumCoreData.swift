// What Core Data code needs to compile with `import CambiumCoreData` in the place of `import CoreData`, and `@NSManaged` spelt
// `@Managed`: Core Data's names for what Cambium has, and adapters where the two differ. As Core Data does, the module brings
// Foundation along.
//
// Off Apple platforms Foundation has classes of its own called NSPredicate, NSCompoundPredicate, NSExpression and
// NSSortDescriptor. The names of this module hide those, also in a file that imports Foundation itself; there they are
// `Foundation.NSPredicate` and so on.
//
// What cannot be had, and what to write instead:
//
//   @NSManaged, @objc, #selector                  @Managed; comparators (FetchSortComparator)
//   @NSManaged func addToItems(_: Item)           func addToItems(_ item: Item) { add(item, toRelationship: "items") }
//   NSFetchRequest<NSDictionary>                  NSFetchRequest<[String: Any]>
//   NSFetchRequest<NSFetchRequestResult> of       NSFetchRequest<NSManagedObjectID>, <[String: Any]>
//   identifiers or dictionaries
//   NSSortDescriptor(keyPath:ascending:) of a     NSSortDescriptor(key:ascending:)
//   class without PredicateKeyPaths
//   catch let error as NSError                    catch { let error = error as NSError }, off Apple platforms
//   NSPredicate(block:)                           fetch, then filter
//   versionChecksum, setElements(_:),             with `try`: they throw where Core Data raises
//   NSExpression(forConstantValue:)
//   let request = NSPersistentHistoryChangeRequest…, NSExpressionDescription()
//                                                 var: they are structures
//   UndoManager                                   ContextUndoManager
//   NSKeyedArchiver of a history token as Any,    as NSPersistentHistoryToken, by the methods of TokenArchives.swift; they are
//   or by unarchivedObject(ofClasses:from:)       Codable as well
//   will/didChangeValue(forKey:withSetMutation:   willChangeValue(forKey:), didChangeValue(forKey:)
//   using:)
//   shouldHandleInaccessibleFault(…), faultingState,  shouldDeleteInaccessibleFaults, isFault
//   setURL(_:for:) of a coordinator               migratePersistentStore(_:to:options:withType:)
//   the delegate's calls with snapshots and         differences() and snapshots()
//   CollectionDifference
//   managedObjectHandler of batch insertions      dictionaryHandler
//   NSIgnorePersistentStoreVersioningOption       open the store with its own model, or migrate it
//   usesStoreSpecificMigrationManager             not needed: a manager makes another file, inference never does
//   NSSQLiteStoreType as a String                 it is a PersistentStoreType, here as everywhere

@_exported import Cambium
@_exported import CambiumNotifications
@_exported import Foundation
