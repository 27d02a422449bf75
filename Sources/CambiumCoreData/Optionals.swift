// What has another type in Core Data: optionals above all. These hide Cambium's own properties of the same names. Those
// that are there for certain can be used as if they were not optional, where nothing asks for more.

@_spi(CoreData) import Cambium

extension ManagedObjectContext {
  /// The stores. They are always there; nothing is done by setting `nil`.
  public var persistentStoreCoordinator: PersistentStoreCoordinator! {
    get { ownCoordinator }
    set { if let newValue { ownCoordinator = newValue } }
  }
}

extension PersistentStoreCoordinator {
  /// The file of a store; the null device for one in memory.
  public func url(for store: PersistentStore) -> URL { store.url ?? URL(fileURLWithPath: "/dev/null") }
}

extension PersistentStore {
  /// The options that the store was opened with; `nil` if there were none.
  public var options: [AnyHashable: Any]? {
    if ownOptions.isEmpty { return nil }
    return Dictionary(uniqueKeysWithValues: ownOptions.map { (AnyHashable($0.key), $0.value as Any) })
  }
}

extension EntityDescription {
  /// The name, which is always there.
  public var name: String! {
    get { ownName }
    set { ownName = newValue ?? "" }
  }

  /// The model; an empty one for an entity that is in none.
  public var managedObjectModel: ManagedObjectModel { ownModel ?? ManagedObjectModel() }
}

extension ManagedObjectID {
  /// The entity; one without properties where the identifier's store is gone.
  public var entity: EntityDescription { ownEntity ?? EntityDescription(entityName) }
}

extension FetchedResultsController {
  /// The sections; `nil` before the fetch.
  public var sections: [FetchedResultsSection<Result>]? { fetchedObjects == nil ? nil : ownSections }

  /// The section of a title, which is at a place in `sectionIndexTitles`; `NSNotFound` where Core Data raises.
  public func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
    ownSection(forSectionIndexTitle: title, at: sectionIndex) ?? NSNotFound
  }

  /// The object at a place. Where there is none Core Data raises; this is an object of no context then.
  public func object(at indexPath: IndexPath) -> Result {
    if let object = ownObject(at: indexPath) { return object }
    let name = fetchRequest.entityName ?? Result.entity().ownName
    let model = managedObjectContext.ownCoordinator.managedObjectModel
    return Result(entity: model.entitiesByName[name] ?? EntityDescription(name), insertInto: nil)
  }
}

extension FetchRequest {
  /// The values that each dictionary holds: names, descriptions of properties, ``NSExpressionDescription``s as they are
  /// now, and ``FetchProperty``s. The request ignores any other element.
  public var propertiesToFetch: [Any]? {
    get { ownPropertiesToFetch }
    set {
      ownPropertiesToFetch = newValue?.compactMap { element in
        switch element {
        case let property as FetchProperty: return property
        case let name as String: return FetchProperty(stringLiteral: name)
        case let property as PropertyDescription: return FetchProperty(stringLiteral: property.name)
        case let description as NSExpressionDescription: return description.property
        default: return nil
        }
      }
    }
  }

  /// What the dictionaries are grouped by: names, and descriptions of properties.
  public var propertiesToGroupBy: [Any]? {
    get { ownPropertiesToGroupBy }
    set { ownPropertiesToGroupBy = newValue?.compactMap { $0 as? String ?? ($0 as? PropertyDescription)?.name } }
  }
}
