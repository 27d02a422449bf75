// Stores by their types and options, as Core Data's methods take them.

/// The value of an option as Cambium takes it; nil if it is of no type that is known.
private func option(_ value: Any) -> (any Sendable)? {
  switch swiftValue(value) {
  case let value as Bool: return value
  case let value as Int: return value
  case let value as Double: return value
  case let value as String: return value
  case let value as StagedMigrationManager: return value
  case let value as [MappingModel]: return value
  default: return nil
  }
}

extension PersistentStoreCoordinator {
  /// Opens a store; see ``addPersistentStore(type:configuration:at:durability:isReadOnly:options:)``.
  @discardableResult
  public func addPersistentStore(
    ofType type: PersistentStoreType, configurationName: String?, at url: URL?, options: [AnyHashable: Any]? = nil
  ) throws -> PersistentStore {
    var known: [String: any Sendable] = [:]
    for (key, value) in options ?? [:] { if let key = key as? String { known[key] = option(value) } }
    return try addPersistentStore(type: type, configuration: configurationName, at: url, options: known)
  }

  /// Opens a store, and calls the handler with what went wrong, if anything did.
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
    at url: URL, ofType type: PersistentStoreType, options: [AnyHashable: Any]? = nil
  ) throws {
    try destroyPersistentStore(at: url, type: type)
  }

  /// ``replacePersistentStore(at:withPersistentStoreFrom:progress:)``; options have no effect.
  public func replacePersistentStore(
    at destination: URL, destinationOptions: [AnyHashable: Any]? = nil, withPersistentStoreFrom source: URL,
    sourceOptions: [AnyHashable: Any]? = nil, ofType type: PersistentStoreType
  ) throws {
    try replacePersistentStore(at: destination, withPersistentStoreFrom: source)
  }

  /// Moves a store; see ``migratePersistentStore(_:to:type:options:)``.
  @discardableResult
  public func migratePersistentStore(
    _ store: PersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, withType type: PersistentStoreType
  ) throws -> PersistentStore {
    var known: [String: any Sendable] = [:]
    for (key, value) in options ?? [:] { if let key = key as? String { known[key] = option(value) } }
    return try migratePersistentStore(store, to: url, type: type, options: known)
  }

  /// Runs a request in a context; see ``ManagedObjectContext/fetch(_:)``.
  public func execute<Result: FetchRequestResult>(
    _ request: FetchRequest<Result>, with context: ManagedObjectContext
  ) throws -> Any {
    try context.fetch(request)
  }

  /// The model in a store's file, which is always there; options have no effect.
  public static func cachedModelForPersistentStore(
    at url: URL, options: [AnyHashable: Any]?
  ) throws -> ManagedObjectModel? {
    try cachedModelForPersistentStore(at: url)
  }

  /// ``metadataForPersistentStore(at:)``; options have no effect.
  public static func metadataForPersistentStore(
    ofType type: PersistentStoreType, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(at: url)
  }

  /// ``setMetadata(_:forPersistentStoreAt:)``; options have no effect.
  public static func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType type: PersistentStoreType, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try setMetadata(metadata ?? [:], forPersistentStoreAt: url)
  }
}

extension PersistentStoreDescription {
  /// A description to be filled in.
  public convenience init() { self.init(type: .file) }

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
  /// `Name.xcdatamodel`. Core Data raises where there is none; here the model is empty, and loading the stores fails.
  public convenience init(name: String) {
    let folders = [Bundle.main.resourceURL, Bundle.main.bundleURL].compactMap { $0 }
    let model = folders.lazy.compactMap { try? ManagedObjectModel(named: name, in: $0) }.first
    self.init(name: name, managedObjectModel: model ?? ManagedObjectModel())
  }

  /// A container of one store, whose file lies at a path and gives the name; `nil` for an empty path.
  public convenience init?(path: String, managedObjectModel: ManagedObjectModel) {
    guard !path.isEmpty else { return nil }
    let url = URL(fileURLWithPath: path)
    self.init(name: url.deletingPathExtension().lastPathComponent, managedObjectModel: managedObjectModel)
    persistentStoreDescriptions = [PersistentStoreDescription(url: url)]
  }
}
