#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// What `CambiumCoreData` has properties and methods of the same names in front of, of Core Data's types: a module's own hide those that
// it imports, from itself as well. Under these names it still has them.

@_spi(CoreData) extension ManagedObjectContext {
  /// ``persistentStoreCoordinator``.
  public var ownCoordinator: PersistentStoreCoordinator {
    get { persistentStoreCoordinator }
    set { persistentStoreCoordinator = newValue }
  }
}

@_spi(CoreData) extension PersistentStore {
  /// ``options``.
  public var ownOptions: [String: any Sendable] { options }
}

@_spi(CoreData) extension EntityDescription {
  /// ``name``.
  public var ownName: String {
    get { name }
    set { name = newValue }
  }
  /// ``managedObjectModel``.
  public var ownModel: ManagedObjectModel? { managedObjectModel }
}

@_spi(CoreData) extension ManagedObjectID {
  /// ``entity``.
  public var ownEntity: EntityDescription? { entity }
}

@_spi(CoreData) extension FetchedResultsController {
  /// ``sections``.
  public var ownSections: [FetchedResultsSection<Result>] { sections }
  /// ``section(forSectionIndexTitle:at:)``.
  public func ownSection(forSectionIndexTitle title: String, at index: Int) -> Int? {
    section(forSectionIndexTitle: title, at: index)
  }
  /// ``object(at:)``.
  public func ownObject(at indexPath: IndexPath) -> Result? { object(at: indexPath) }
}

@_spi(CoreData) extension FetchRequest {
  /// ``propertiesToFetch``.
  public var ownPropertiesToFetch: [FetchProperty]? {
    get { propertiesToFetch }
    set { propertiesToFetch = newValue }
  }
  /// ``propertiesToGroupBy``.
  public var ownPropertiesToGroupBy: [String]? {
    get { propertiesToGroupBy }
    set { propertiesToGroupBy = newValue }
  }
}
