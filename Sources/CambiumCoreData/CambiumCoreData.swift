// What Core Data code needs to compile with `import CambiumCoreData` in the place of `import CoreData`, and `@NSManaged` spelt
// `@Managed`: Core Data's names for what Cambium has, and adapters where the two differ. As Core Data does, the module brings
// Foundation along.
//
// Off Apple platforms Foundation has classes of its own called NSPredicate, NSCompoundPredicate, NSExpression and
// NSSortDescriptor. The names of this module hide those, also in a file that imports Foundation itself; there they are
// `Foundation.NSPredicate` and so on.
//
// What cannot be had, and what to write instead, is in the documentation's page on coming from Core Data (`FromCoreData.md`).

@_exported import Cambium
@_exported import CambiumNotifications
@_exported import Foundation
