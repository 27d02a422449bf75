import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// `CambiumCoreData` declares properties and methods that have the names of Cambium's, and Core Data's types. A module's
// own declarations hide imported ones with the same name. So `CambiumCoreData` calls Cambium's by the names in this
// file.

@_spi(CoreData) extension ManagedObjectContext {
  /// ``persistentStoreCoordinator``.
  public var ownCoordinator: PersistentStoreCoordinator {
    get { persistentStoreCoordinator }
    set { persistentStoreCoordinator = newValue }
  }
  /// ``detectConflicts(for:)``.
  public func ownDetectConflicts(for object: ManagedObject) throws { try detectConflicts(for: object) }
}

@_spi(CoreData) extension PersistentStoreCoordinator {
  /// ``currentPersistentHistoryToken(fromStores:)``.
  public func ownCurrentToken(fromStores stores: [PersistentStore]?) throws -> PersistentHistoryToken? {
    try currentPersistentHistoryToken(fromStores: stores)
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
  /// ``versionHash``.
  public var ownVersionHash: Data { get throws { try versionHash } }
}

@_spi(CoreData) extension PropertyDescription {
  /// ``versionHash``.
  public var ownVersionHash: Data { get throws { try versionHash } }
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
  /// ``withSubstitutionVariables(_:)``.
  public func ownSubstituting(_ variables: [String: Any?]) throws -> FetchPredicate {
    try withSubstitutionVariables(variables)
  }
  /// ``evaluate(with:)``.
  public func ownEvaluate(with object: ManagedObject) throws -> Bool { try evaluate(with: object) }
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
  /// A model without entities that stands for one which could not be read: what uses it throws the error, unless it was
  /// given entities.
  public convenience init(failure: any Error) {
    self.init()
    self.failure = failure
  }

  /// ``entityVersionHashesByName``.
  public var ownVersionHashes: [String: Data] { get throws { try entityVersionHashesByName } }

  /// ``versionChecksum``.
  public var ownVersionChecksum: String { get throws { try versionChecksum } }

  /// ``fetchRequestTemplatesByName``.
  public var ownFetchRequestTemplates: [String: FetchRequestTemplate] { fetchRequestTemplatesByName }
}

@_spi(CoreData) extension ManagedObject {
  /// ``value(forKey:)``.
  public func ownValue(forKey key: String) -> Any? { value(forKey: key) }
  /// ``value(forKeyPath:)``.
  public func ownValue(forKeyPath keyPath: String) -> Any? { value(forKeyPath: keyPath) }
  /// Applies a collection operator such as `@sum` to values, none of which is null.
  ///
  /// - Returns: `nil` if there is no such operator, or if it cannot be applied to values of these types.
  public static func ownResult(ofOperator name: String, values: [Any]) -> Any? {
    guard let function = KeyPathOperator(rawValue: name) else { return nil }
    return (try? function.result(of: values, name, "a collection")) ?? nil
  }
  /// ``changedValues()``.
  public var ownChangedValues: [String: Any?] { changedValues() }
  /// ``committedValues(forKeys:)``.
  public func ownCommittedValues(forKeys keys: [String]?) -> [String: Any?] { committedValues(forKeys: keys) }
  /// ``objectIDs(forRelationshipNamed:)``.
  public func ownObjectIDs(forRelationshipNamed key: String) throws -> [ManagedObjectID] {
    try objectIDs(forRelationshipNamed: key)
  }
  /// Notes an error of reading in the context.
  public func noteReading(_ error: any Error) { note(error, losesChange: false) }
}

@_spi(CoreData) extension FetchRequest {
  /// Another request for the same, with results of another type.
  public func giving<Other: FetchRequestResult>(_ type: Other.Type) -> FetchRequest<Other> {
    let copy = FetchRequest<Other>()
    fill(copy)
    return copy
  }
}

@_spi(CoreData) extension PersistentStore {
  /// ``type``.
  public var ownType: PersistentStoreType { type }
}

@_spi(CoreData) extension PersistentStoreDescription {
  /// ``type``.
  public var ownType: PersistentStoreType {
    get { type }
    set { type = newValue }
  }
}

@_spi(CoreData) extension FetchExpression {
  /// The engine's expression.
  public var ownExpression: CambiumEngine.Expression { engine }
  /// ``init(forConstantValue:)``.
  public init(ownConstantValue value: Any?) throws { try self.init(forConstantValue: value) }
  /// ``init(format:argumentArray:)``.
  public init(ownFormat format: String, argumentArray: [Any?]?) throws {
    try self.init(format: format, argumentArray: argumentArray)
  }
}

@_spi(CoreData) extension PersistentHistoryChange {
  /// ``updatedProperties``.
  public var ownUpdatedProperties: Set<String>? { updatedProperties }
}

@_spi(CoreData) extension FetchSortDescriptor {
  /// Returns managed objects and other elements in an order. Equal elements keep theirs.
  ///
  /// - Parameter read: Returns the value of an element that is no managed object, by a key.
  /// - Throws: what reading an object throws, for a key path that its entity does not have.
  public static func ownSorted(
    _ elements: [Any], by descriptors: [FetchSortDescriptor], read: (_ element: Any, _ key: String) -> Any?
  ) throws -> [Any] {
    let keys = descriptors.map { $0.engine }
    func value(_ element: Any, _ keyPath: String) throws -> Value {
      if let object = element as? ManagedObject { return try object.engineValue(keyPath: keyPath) }
      return read(element, keyPath).flatMap { Value(foundation: $0) } ?? .null
    }
    var keyed = try elements.enumerated().map { place, element in
      (place: place, element: element, keys: try keys.map { $0.key(try value(element, $0.keyPath)) })
    }
    keyed.sort { a, b in
      for (index, key) in keys.enumerated() {
        let order = key.order(a.keys[index], b.keys[index])
        if order != 0 { return key.isAscending ? order < 0 : order > 0 }
      }
      return a.place < b.place
    }
    return keyed.map { $0.element }
  }
}
