// What Core Data code needs to compile with `import CambiumCoreData` in the place of `import CoreData`, and
// `@NSManaged` spelt `@Managed`: Core Data's names for what Cambium has, and adapters where the two differ. As Core
// Data does, the module brings Foundation along.
//
// Off Apple platforms Foundation has classes of its own under some of Core Data's names. The imports of single names
// below have the compiler prefer Cambium's types, also in a file that imports Foundation or XCTest itself. There,
// Foundation's are `Foundation.NSPredicate` and so on.
//
// What cannot be had, and what to write instead, is in the documentation's page on coming from Core Data
// (`FromCoreData.md`).

@_exported import Cambium
@_exported import CambiumNotifications
@_exported import Foundation

@_exported import typealias CambiumCoreDataNames.NSComparisonPredicate
@_exported import typealias CambiumCoreDataNames.NSCompoundPredicate
@_exported import typealias CambiumCoreDataNames.NSExpression
@_exported import typealias CambiumCoreDataNames.NSPredicate
@_exported import typealias CambiumCoreDataNames.NSSortDescriptor

#if !canImport(Darwin)
  @_exported import typealias CambiumCoreDataNames.UndoManager
#endif
