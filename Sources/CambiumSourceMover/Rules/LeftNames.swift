/// Names of Core Data and of Apple's platforms that have no counterpart, and calls that read differently.
enum LeftNames {
  static func run(_ move: inout FileMove) {
    let source = move.source
    for index in source.tokens.indices {
      let token = source.tokens[index]
      if token.kind == .attribute { reportAttribute(index, &move) }
      if token.kind == .characters, source.text(token.range) == "momd" { move.find(compiledModel, index...index) }
      guard token.kind == .word else { continue }
      let isMember = source[index - 1]?.isMark(".") == true
      if let cause = names[token.text] { move.find(cause, index...index) }
      if isMember, let cause = members[token.text] { move.find(cause, index...index) }
      if source[index + 1]?.isOpen("(") == true, let label = source[index + 2], source[index + 3]?.isMark(":") == true,
        let cause = calls["\(token.text)(\(label.text):"]
      {
        move.find(cause, index...(index + 3))
      }
      if token.text == "import", let module = source[index + 1], module.kind == .word,
        source[index - 1]?.isMark(".") != true
      {
        reportImport(module.text, index, &move)
      }
      if token.text == "execute", isMember, source[index + 1]?.isOpen("(") == true,
        source[index + 2]?.isClose(")") == true, let base = source[index - 2], base.kind == .word,
        ["request", "fetch"].contains(where: { base.text.lowercased().contains($0) })
      {
        move.find(execution, (index - 2)...(index + 2))
      }
      if ["func", "var"].contains(token.text) { reportMember(index, &move) }
    }
    for scope in move.structure.scopes where scope.kind == "class" {
      if let name = scope.inherited.first, final.contains(name) {
        move.find(finalClass, scope.head.introducer...(scope.inheritance?.upperBound ?? scope.nameToken))
      }
    }
  }

  private static func reportAttribute(_ index: Int, _ move: inout FileMove) {
    switch move.source.tokens[index].text {
    case "@FetchRequest", "@SectionedFetchRequest": move.find(swiftUIRequest, index...index)
    default: break
    }
  }

  /// An import of a module of Apple's platforms that no condition guards.
  private static func reportImport(_ module: String, _ index: Int, _ move: inout FileMove) {
    guard appleModules.contains(module), !UnneededImports.isUnneeded(module, in: move.source),
      !move.structure.isConditional(index)
    else { return }
    move.find(
      Cause(
        "import of \(module), which is on Apple platforms alone",
        "put what needs it between #if canImport(\(module)) and #endif"),
      index...(index + 1))
  }

  /// Members of a class of managed objects that Core Data calls, and Cambium does not.
  private static func reportMember(_ index: Int, _ move: inout FileMove) {
    let source = move.source
    guard let name = source[index + 1], name.kind == .word, let owner = move.structure.owner(of: index),
      move.folder.managedClasses.contains(owner.lastName)
    else { return }
    if name.text.hasPrefix("keyPathsForValuesAffecting") || name.text == "automaticallyNotifiesObservers" {
      return move.find(observing, index...(index + 1))
    }
    let head = DeclarationHead(source, introducer: index)
    let isOverride = head.modifiers.contains { source.tokens[$0].text == "override" }
    if isOverride, owner.kind == "extension" {
      guard move.folder.hasClass(owner.lastName),
        ExtensionOverrides.lines(of: head, in: owner, move.structure) != nil
      else {
        return move.find(overrideInExtension, index...(index + 1))
      }
      move.note(
        "override \(source.tokens[index].text) \(name.text) goes from an extension into the class \(owner.lastName)",
        at: source.tokens[index].range.lowerBound)
    }
    if isOverride, move.folder.superclasses[owner.lastName] == "NSManagedObject", !open.contains(name.text) {
      move.find(closed, index...(index + 1))
    }
  }

  /// The methods of managed objects that subclasses may override.
  private static let open: Set<String> = [
    "awakeFromInsert", "awakeFromFetch", "awake", "willTurnIntoFault", "didTurnIntoFault", "willSave", "didSave",
    "prepareForDeletion", "validateForInsert", "validateForUpdate", "validateForDelete", "validateValue",
    "description", "debugDescription", "entity",
  ]

  private static let appleModules: Set<String> = [
    "UIKit", "AppKit", "Cocoa", "SwiftUI", "WatchKit", "WidgetKit", "CloudKit", "Combine", "CoreSpotlight",
    "CoreLocation",
    "MapKit", "CoreGraphics", "CoreImage", "AVFoundation", "os", "OSLog", "StoreKit", "HealthKit", "UserNotifications",
    "ObjectiveC", "Intents", "EventKit", "Contacts", "Photos", "QuartzCore", "SpriteKit", "SceneKit",
    "MobileCoreServices",
    "UniformTypeIdentifiers", "Security", "Network", "CryptoKit",
  ]

  private static let swiftUIRequest = Cause(
    "SwiftUI's fetch request is Core Data's own", "fetch with a FetchedResultsController in an observable object")
  private static let observing = Cause(
    "key-value observing needs Objective-C, and nothing calls this method",
    "set the dependent property in willSave(), or use a derived attribute")
  private static let closed = Cause(
    "this method of managed objects cannot be overridden", "move its code into a method of your own, or into willSave()"
  )
  private static let overrideInExtension = Cause(
    "an extension cannot override a method without Objective-C", "move the method into the class")
  private static let final: Set<String> = [
    "NSManagedObjectContext", "NSPersistentStoreDescription", "NSPersistentStoreCoordinator", "NSManagedObjectModel",
    "NSFetchRequest", "NSFetchedResultsController", "NSEntityDescription", "NSAttributeDescription",
  ]
  private static let finalClass = Cause("this class of Core Data has no subclasses", "keep an instance in a property")
  private static let execution = Cause("a request knows no context", "use context.fetch(request)")
  private static let compiledModel = Cause(
    "Xcode's compiled models cannot be read",
    "read the .xcdatamodeld, or what 'cambium model compile' makes of it; NSPersistentContainer(name:) finds both")
  private static let cloudKit = Cause("there is no CloudKit", "use NSPersistentContainer")
  private static let ownStores = Cause("there are no stores of one's own", "import the data into a store of Cambium")
  private static let iCloud = Cause("there is no iCloud", "remove it")
  private static let spotlight = Cause("there is no Spotlight", "remove it")
  private static let anyRequest = Cause("there is no type for all requests", "use the type of the request")
  private static let objectiveC = Cause("selectors need Objective-C", "use a closure, or a name as a string")
  private static let locks = Cause("objects are no locks off Apple platforms", "use NSRecursiveLock")

  private static let names: [String: Cause] = [
    "NSPersistentCloudKitContainer": cloudKit, "NSPersistentCloudKitContainerOptions": cloudKit,
    "NSPersistentCloudKitContainerEvent": cloudKit, "NSAtomicStore": ownStores, "NSAtomicStoreCacheNode": ownStores,
    "NSIncrementalStore": ownStores, "NSIncrementalStoreNode": ownStores,
    "NSPersistentStoreUbiquitousContentNameKey": iCloud,
    "NSPersistentStoreUbiquitousContentURLKey": iCloud, "NSCoreDataCoreSpotlightDelegate": spotlight,
    "NSCoreDataCoreSpotlightExporter": spotlight, "NSPersistentStoreAsynchronousResult": anyRequest,
    "NSSaveChangesRequest": anyRequest,
    "NSFetchRequestExpression": Cause("there are no fetches within fetches", "fetch first, or write SUBQUERY"),
    "NSPersistentStoreFileProtectionKey": Cause(
      "there is no option for file protection", "set it with FileManager.setAttributes(_:ofItemAtPath:)"),
    "NSIgnorePersistentStoreVersioningOption": Cause(
      "a store is opened with its own model alone", "migrate the store, or open it with its own model"),
    "NSValidationPredicateErrorKey": Cause(
      "errors of validation have no predicate", "read the message under NSLocalizedDescriptionKey"),
    "shouldHandleInaccessibleFault": Cause("contexts do not ask about faults", "set shouldDeleteInaccessibleFaults"),
    "Selector": objectiveC, "NSSelectorFromString": objectiveC, "NSStringFromSelector": objectiveC,
    "withSetMutation": Cause(
      "the primitive value of a relationship is a copy", "use mutableSetValue(forKey:), which notes its changes"),
    "objc_sync_enter": locks, "objc_sync_exit": locks,
  ]

  private static let mappingFiles = Cause(
    "there are no files of mapping models", "describe the mapping in code, with NSMappingModel and NSEntityMapping")

  /// Members, behind a dot.
  private static let members: [String: Cause] = [
    "faultingState": Cause("objects have no such number", "use isFault"),
    "usesStoreSpecificMigrationManager": Cause("a migration manager always makes another file", "remove it"),
    "cloudKitContainerOptions": cloudKit, "compoundIndexes": Cause("these indexes are of old models", "use indexes"),
    "isIndexedBySpotlight": spotlight,
    "setURL": Cause("an open store stays at its file", "use migratePersistentStore(_:to:options:withType:)"),
    "objectSnapshot": Cause("snapshots of a conflict are always there", "leave out the '?'"),
  ]

  /// Calls, with their first label.
  private static let calls: [String: Cause] = [
    "entityDescription(with:": Cause("predicates of the history need no entity", "use the class's fetchRequest"),
    "NSPredicate(block:": Cause("a predicate has no block", "fetch, then filter the objects"),
    "NSMappingModel(contentsOf:": mappingFiles, "NSMappingModel(from:": mappingFiles,
    "NSPredicate(format:arguments:": Cause("a predicate takes no C list of arguments", "pass an argumentArray"),
  ]
}
