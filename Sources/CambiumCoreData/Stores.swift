// Stores by their types and options, as Core Data's methods take them.

@_spi(CoreData) import Cambium

/// The value of an option as Cambium takes it; nil if it is of no type that is known.
private func option(_ value: Any) -> (any Sendable)? {
  switch swiftValue(value) {
  case let value as Bool: return value
  case let value as Int: return value
  case let value as Double: return value
  case let value as String: return value
  case let value as StagedMigrationManager: return value
  case let value as [MappingModel]: return value
  case let value as [ManagedObjectModel]: return value
  default: return nil
  }
}

/// Options as Cambium takes them; those that are of no type that is known are left out.
private func known(_ options: [AnyHashable: Any]?) -> [String: any Sendable] {
  var result: [String: any Sendable] = [:]
  for (key, value) in options ?? [:] { if let key = key as? String { result[key] = option(value) } }
  return result
}

/// The type of stores that a name stands for: one of the constants, such as ``NSSQLiteStoreType``, or what Core Data
/// has in their place.
private func knownStoreType(_ name: String) -> PersistentStoreType? {
  switch name {
  case PersistentStoreType.file.rawValue, "SQLite", "Binary", "XML": return .file
  case PersistentStoreType.inMemory.rawValue, "InMemory": return .inMemory
  default: return nil
  }
}

/// The type of stores that a name stands for.
///
/// - Throws: ``CambiumError/Code/persistentStoreInvalidType``.
private func storeType(_ name: String) throws -> PersistentStoreType {
  if let type = knownStoreType(name) { return type }
  throw CambiumError(
    .persistentStoreInvalidType,
    "there are no stores of the type '\(name)'; use NSSQLiteStoreType for a file, or NSInMemoryStoreType")
}

extension PersistentStore {
  /// ``PersistentStoreType``.
  public typealias StoreType = PersistentStoreType

  /// The store's type: ``NSSQLiteStoreType`` or ``NSInMemoryStoreType``.
  public var type: String { ownType.rawValue }
}

extension PersistentStoreCoordinator {
  /// Opens a store; see ``addPersistentStore(type:configuration:at:durability:isReadOnly:options:)``.
  @discardableResult
  public func addPersistentStore(
    ofType type: String, configurationName: String?, at url: URL?, options: [AnyHashable: Any]? = nil
  ) throws -> PersistentStore {
    try addPersistentStore(type: storeType(type), configuration: configurationName, at: url, options: known(options))
  }

  /// The same by its newer name.
  @_disfavoredOverload @discardableResult
  public func addPersistentStore(
    type: PersistentStoreType, configuration: String? = nil, at url: URL, options: [AnyHashable: Any]?
  ) throws -> PersistentStore {
    try addPersistentStore(type: type, configuration: configuration, at: url, options: known(options))
  }

  /// Opens a store, and calls the handler with what went wrong, if anything did: before it returns, also where the
  /// description's ``PersistentStoreDescription/shouldAddStoreAsynchronously`` is set, which a container's
  /// ``PersistentContainer/loadPersistentStores(completionHandler:)`` heeds.
  public func addPersistentStore(
    with description: PersistentStoreDescription,
    completionHandler: @escaping (PersistentStoreDescription, (any Error)?) -> Void
  ) {
    do {
      try addPersistentStore(description)
      completionHandler(description, nil)
    } catch { completionHandler(description, error) }
  }

  /// ``destroyPersistentStore(at:type:)``; options have no effect.
  public func destroyPersistentStore(
    at url: URL, ofType type: String, options: [AnyHashable: Any]? = nil
  ) throws {
    try destroyPersistentStore(at: url, type: storeType(type))
  }

  /// ``replacePersistentStore(at:withPersistentStoreFrom:progress:)``; options have no effect.
  public func replacePersistentStore(
    at destination: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom source: URL,
    sourceOptions: [AnyHashable: Any]? = nil, ofType type: String
  ) throws {
    try replacePersistentStore(at: destination, withPersistentStoreFrom: source)
  }

  /// Moves a store; see ``migratePersistentStore(_:to:type:options:)``.
  @discardableResult
  public func migratePersistentStore(
    _ store: PersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, withType type: String
  ) throws -> PersistentStore {
    try migratePersistentStore(store, to: url, type: storeType(type), options: known(options))
  }

  // By their newer names. Without options, destroying and moving a store are Cambium's own methods.

  /// ``destroyPersistentStore(at:type:)``; options have no effect.
  public func destroyPersistentStore(at url: URL, type: PersistentStoreType, options: [AnyHashable: Any]?) throws {
    try destroyPersistentStore(at: url, type: type)
  }

  /// ``replacePersistentStore(at:withPersistentStoreFrom:progress:)``; options have no effect.
  public func replacePersistentStore(
    at destination: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom source: URL,
    sourceOptions: [AnyHashable: Any]? = nil, type: PersistentStoreType
  ) throws {
    try replacePersistentStore(at: destination, withPersistentStoreFrom: source)
  }

  /// Moves a store; see ``migratePersistentStore(_:to:type:options:)``.
  @discardableResult
  public func migratePersistentStore(
    _ store: PersistentStore, to url: URL, options: [AnyHashable: Any]?, type: PersistentStoreType
  ) throws -> PersistentStore {
    try migratePersistentStore(store, to: url, type: type, options: known(options))
  }

  /// ``metadataForPersistentStore(at:)``; options have no effect.
  public static func metadataForPersistentStore(
    type: PersistentStoreType, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(at: url)
  }

  /// ``setMetadata(_:forPersistentStoreAt:)``; options have no effect.
  public static func setMetadata(
    _ metadata: [String: Any]?, type: PersistentStoreType, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws {
    try setMetadata(metadata ?? [:], forPersistentStoreAt: url)
  }

  // MARK: Requests

  /// Runs a request in a context; see ``ManagedObjectContext/fetch(_:)``.
  public func execute<Result: FetchRequestResult>(
    _ request: FetchRequest<Result>, with context: ManagedObjectContext
  ) throws -> Any {
    try context.fetch(request)
  }

  /// Runs a request in a context.
  public func execute(_ request: NSBatchInsertRequest, with context: ManagedObjectContext) throws -> Any {
    try context.execute(request)
  }

  /// Runs a request in a context.
  public func execute(_ request: NSBatchUpdateRequest, with context: ManagedObjectContext) throws -> Any {
    try context.execute(request)
  }

  /// Runs a request in a context.
  public func execute(_ request: NSBatchDeleteRequest, with context: ManagedObjectContext) throws -> Any {
    try context.execute(request)
  }

  /// Runs a request in a context; see ``ManagedObjectContext/execute(_:)-(PersistentHistoryChangeRequest)``.
  public func execute(_ request: PersistentHistoryChangeRequest, with context: ManagedObjectContext) throws -> Any {
    try context.execute(request)
  }

  /// The model in a store's file, which is always there; options have no effect.
  public static func cachedModelForPersistentStore(
    at url: URL, options: [AnyHashable: Any]?
  ) throws -> ManagedObjectModel? {
    try cachedModelForPersistentStore(at: url)
  }

  /// ``metadataForPersistentStore(at:)``; options have no effect.
  public static func metadataForPersistentStore(
    ofType type: String, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(at: url)
  }

  /// ``setMetadata(_:forPersistentStoreAt:)``; options have no effect.
  public static func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType type: String, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try setMetadata(metadata ?? [:], forPersistentStoreAt: url)
  }
}

extension MigrationManager {
  /// Migrates a store; see ``migrateStore(from:type:options:mapping:to:destinationType:destinationOptions:)``.
  ///
  /// - Throws: also ``CambiumError/Code/migrationMissingMappingModel`` without a mapping model, for which Core Data
  ///   raises.
  public func migrateStore(
    from sourceURL: URL, sourceType: String, options: [AnyHashable: Any]? = nil,
    with mapping: MappingModel?,
    toDestinationURL destinationURL: URL, destinationType: String,
    destinationOptions: [AnyHashable: Any]? = nil
  ) throws {
    guard let mapping else {
      throw CambiumError(
        .migrationMissingMappingModel, "a migration manager needs a mapping model; infer one, or describe one")
    }
    try migrateStore(
      from: sourceURL, type: storeType(sourceType), options: known(options), mapping: mapping, to: destinationURL,
      destinationType: storeType(destinationType), destinationOptions: known(destinationOptions))
  }

  /// The same by its newer name.
  public func migrateStore(
    from sourceURL: URL, type sourceType: PersistentStoreType, options: [AnyHashable: Any]? = nil,
    mapping: MappingModel,
    to destinationURL: URL, type destinationType: PersistentStoreType,
    options destinationOptions: [AnyHashable: Any]? = nil
  ) throws {
    try migrateStore(
      from: sourceURL, type: sourceType, options: known(options), mapping: mapping, to: destinationURL,
      destinationType: destinationType, destinationOptions: known(destinationOptions))
  }
}

extension PersistentStoreDescription {
  /// A description to be filled in.
  public convenience init() { self.init(type: .file) }

  /// The store's type by its name, such as ``NSInMemoryStoreType``. Opening a store of a type that there is not throws
  /// ``CambiumError/Code/persistentStoreInvalidType``.
  public var type: String {
    get { unknownTypeName ?? ownType.rawValue }
    set {
      let known = knownStoreType(newValue)
      unknownTypeName = known == nil ? newValue : nil
      ownType = known ?? .file
    }
  }

  /// Sets an option to a number of Foundation's; see ``setOption(_:forKey:)-(Sendable?,_)``.
  public func setOption(_ value: NSNumber?, forKey key: String) {
    setOption(value.flatMap { option($0) }, forKey: key)
  }

  /// Does nothing: there is no SQLite.
  public func setValue(_ value: NSObject?, forPragmaNamed name: String) {}

  /// Empty: there is no SQLite.
  public var sqlitePragmas: [String: NSObject] { [:] }
}

extension PersistentContainer {
  /// A container with the model of that name in the application's bundle: `Name.cambiummodel`, `Name.xcdatamodeld` or
  /// `Name.xcdatamodel`. Core Data raises where there is none; here the model is empty, and loading the stores fails
  /// with what reading it threw.
  public convenience init(name: String) {
    self.init(name: name, managedObjectModel: Self.model(named: name))
  }

  private static func model(named name: String) -> ManagedObjectModel {
    var failure: (any Error)?
    for folder in [Bundle.main.resourceURL, Bundle.main.bundleURL].compactMap({ $0 }) {
      do { return try ManagedObjectModel(named: name, in: folder) } catch {
        // One that is there and cannot be read says more than a folder without.
        if failure == nil || (error as? CambiumError)?.code != .fileReadNoSuchFile { failure = error }
      }
    }
    return failure.map { ManagedObjectModel(failure: $0) } ?? ManagedObjectModel()
  }

  /// A container of one store, whose file lies at a path and gives the name; `nil` for an empty path.
  public convenience init?(path: String, managedObjectModel: ManagedObjectModel) {
    guard !path.isEmpty else { return nil }
    let url = URL(fileURLWithPath: path)
    self.init(name: url.deletingPathExtension().lastPathComponent, managedObjectModel: managedObjectModel)
    persistentStoreDescriptions = [PersistentStoreDescription(url: url)]
  }
}
