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

@_spi(CoreData) extension FetchPredicate {
  /// ``init(format:argumentArray:)``.
  public init(ownFormat format: String, argumentArray: [Any?]?) throws {
    try self.init(format: format, argumentArray: argumentArray)
  }
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

@_spi(CoreData) extension FetchedResultsSection {
  /// ``objects``.
  public var ownObjects: [Result] { objects }
}

@_spi(CoreData) extension DerivedAttributeDescription {
  /// ``derivationExpression``.
  public var ownDerivationExpression: String? {
    get { derivationExpression }
    set { derivationExpression = newValue }
  }
}

@_spi(CoreData) extension FetchIndexDescription {
  /// ``partialIndexPredicate``.
  public var ownPartialIndexPredicate: String? {
    get { partialIndexPredicate }
    set { partialIndexPredicate = newValue }
  }
}

@_spi(CoreData) extension FetchedPropertyDescription {
  /// ``fetchRequest``.
  public var ownFetchRequest: FetchRequestTemplate? {
    get { fetchRequest }
    set { fetchRequest = newValue }
  }
}

@_spi(CoreData) extension ManagedObjectModel {
  /// A model without entities that stands for one which could not be read: what uses it throws the error, unless it was given entities.
  public convenience init(failure: any Error) {
    self.init()
    self.failure = failure
  }

  /// ``fetchRequestTemplatesByName``.
  public var ownFetchRequestTemplates: [String: FetchRequestTemplate] { fetchRequestTemplatesByName }
}
