// Models by bundles, and without reasons for failure, as Core Data has them.

@_spi(CoreData) import Cambium

extension Bundle {
  /// Where models lie.
  fileprivate var modelFolder: URL { resourceURL ?? bundleURL }
}

extension ManagedObjectModel {
  /// The model in a file or folder; `nil` if there is none that can be read. ``init(contentsOf:version:)`` says why.
  public convenience init?(contentsOf url: URL) {
    do { try self.init(contentsOf: url, version: nil) } catch { return nil }
  }

  /// The models of bundles, merged; those of the application's if there is no list. `nil` if they cannot be.
  public static func mergedModel(from bundles: [Bundle]?) -> ManagedObjectModel? {
    try? mergedModel(from: (bundles ?? [.main]).map { $0.modelFolder })
  }

  /// The models of bundles, all versions of them, that make up what a store holds; those of the application's if there
  /// is no list. `nil` if they do not.
  public static func mergedModel(
    from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
  ) -> ManagedObjectModel? {
    try? mergedModel(from: (bundles ?? [.main]).map { $0.modelFolder }, forStoreMetadata: metadata)
  }

  /// One model of several; `nil` of none, and of models that cannot be merged. ``init(merging:)`` says why.
  public convenience init?(byMerging models: [ManagedObjectModel]?) {
    guard let models, !models.isEmpty else { return nil }
    do { try self.init(merging: models) } catch { return nil }
  }

  /// One of those of several models that make up what a store holds; `nil` if they do not.
  public convenience init?(byMerging models: [ManagedObjectModel], forStoreMetadata metadata: [String: Any]) {
    guard let found = try? ManagedObjectModel.modelByMerging(models, forStoreMetadata: metadata) else { return nil }
    do { try self.init(merging: [found]) } catch { return nil }
  }

  // MARK: Templates

  /// The stored fetch requests by name; see ``fetchRequestTemplate(forName:)``.
  public var fetchRequestTemplatesByName: [String: NSFetchRequest<NSFetchRequestResult>] {
    ownFetchRequestTemplates.mapValues { $0.asRequest }
  }

  /// The stored fetch request of a name, with its variables: another request each time, so that what is changed of it
  /// changes nothing in the model. For one of a class of objects call
  /// ``fetchRequestFromTemplate(withName:substitutionVariables:as:)``.
  public func fetchRequestTemplate(forName name: String) -> NSFetchRequest<NSFetchRequestResult>? {
    ownFetchRequestTemplates[name]?.asRequest
  }

  /// Stores a fetch request under a name, as it is now; `nil` removes it. Its entity, predicate, limit and batch size
  /// are stored, and what it includes; not its order, nor what is to be fetched of the objects.
  public func setFetchRequestTemplate<Result: FetchRequestResult>(
    _ request: NSFetchRequest<Result>?, forName name: String
  ) {
    setFetchRequestTemplate(request.map { FetchRequestTemplate($0) }, forName: name)
  }
}

extension FetchRequestTemplate {
  /// What is stored of a request.
  fileprivate init<Result: FetchRequestResult>(_ request: FetchRequest<Result>) {
    self.init(
      entityName: request.entityName ?? "", predicateFormat: request.predicate?.predicateFormat,
      fetchLimit: request.fetchLimit)
    if request.fetchBatchSize > 0 { userInfo["fetchBatchSize"] = "\(request.fetchBatchSize)" }
    if !request.includesSubentities { userInfo["includesSubentities"] = "NO" }
    if !request.includesPropertyValues { userInfo["includesPropertyValues"] = "NO" }
    if !request.includesPendingChanges { userInfo["includesPendingChanges"] = "NO" }
    if !request.returnsObjectsAsFaults { userInfo["returnsObjectsAsFaults"] = "NO" }
    if request.returnsDistinctResults { userInfo["returnsDistinctResults"] = "YES" }
  }

  /// A request of it, whose variables have no values yet.
  fileprivate var asRequest: FetchRequest<ManagedObject> {
    var plain = self
    plain.predicateFormat = nil
    // What may throw is the predicate alone.
    let request = (try? plain.request()) ?? FetchRequest<ManagedObject>(entityName: entityName)
    request.predicate = predicateFormat.map { FetchPredicate(format: $0, argumentArray: [] as [Any]) }
    return request
  }
}

// MARK: Expressions and predicates of descriptions, which Cambium has as text

extension DerivedAttributeDescription {
  /// What the value is computed from; see ``Cambium/DerivedAttributeDescription``.
  public var derivationExpression: FetchExpression? {
    get { ownDerivationExpression.flatMap { try? FetchExpression(ownFormat: $0, argumentArray: nil) } }
    set { ownDerivationExpression = newValue.map { Self.text(of: $0) } }
  }

  /// The expression as derivations are written: functions of text with the colon of Core Data's names, and names
  /// without the sign that keeps a predicate's parser from taking them for words of its own.
  private static func text(of expression: FetchExpression) -> String {
    let text = expression.expressionFormat.replacingOccurrences(of: "#", with: "")
    for form in ["canonical", "lowercase", "uppercase"] where text.hasPrefix(form + "(") {
      return form + ":" + text.dropFirst(form.count)
    }
    return text
  }
}

extension AttributeDescription {
  /// Core Data's newer name of the types.
  public typealias AttributeType = CambiumCoreData.NSAttributeType

  /// The ``attributeType``, by its newer name.
  public var type: NSAttributeType {
    get { attributeType }
    set { attributeType = newValue }
  }

  /// The class of Foundation's that values by key are of; `nil` for a transformable attribute and others without one.
  /// Setting it has no effect: a transformer checks the class of its values.
  public var attributeValueClassName: String? {
    get {
      switch attributeType {
      case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
      case .decimal: "NSDecimalNumber"
      case .string: "NSString"
      case .date: "NSDate"
      case .binaryData: "NSData"
      case .uuid: "NSUUID"
      case .uri: "NSURL"
      default: nil
      }
    }
    @available(*, deprecated, message: "a transformer checks the class of its values; this has no effect")
    set { _ = newValue }
  }
}

extension ManagedObjectModel {
  /// `nil`: errors are in English. Setting it has no effect.
  public var localizationDictionary: [String: String]? {
    get { nil }
    @available(*, deprecated, message: "errors are in English; this has no effect")
    set { _ = newValue }
  }
}

extension PropertyDescription {
  /// Whether an index of the entity begins with the property. Setting it has no effect: Core Data has taken indexes
  /// from ``NSFetchIndexDescription`` alone for years.
  public var isIndexed: Bool {
    get { entity?.indexes.contains { $0.elements.first?.propertyName == name } ?? false }
    @available(*, deprecated, message: "give the entity an NSFetchIndexDescription; this has no effect")
    set { _ = newValue }
  }
}

extension FetchIndexDescription {
  /// Which objects are in the index; `nil` for all.
  public var partialIndexPredicate: FetchPredicate? {
    get { ownPartialIndexPredicate.map { FetchPredicate(format: $0, argumentArray: [] as [Any]) } }
    set { ownPartialIndexPredicate = newValue?.predicateFormat }
  }
}

extension FetchedPropertyDescription {
  /// The request, as it was when it was set: another one each time. Its entity, predicate and limit count.
  public var fetchRequest: NSFetchRequest<NSFetchRequestResult>? {
    get { ownFetchRequest?.asRequest }
    set { ownFetchRequest = newValue.map { FetchRequestTemplate($0) } }
  }
}

extension ManagedObjectModelReference {
  /// A reference to a model by name in a bundle; the application's if there is none.
  public convenience init(name: String, in bundle: Bundle?, versionChecksum: String) {
    self.init(name: name, in: (bundle ?? .main).modelFolder, versionChecksum: versionChecksum)
  }

  /// A reference to a model by name in a bundle, as Apple's talk writes it.
  public convenience init(modelName: String, in bundle: Bundle?, versionChecksum: String) {
    self.init(name: modelName, in: bundle, versionChecksum: versionChecksum)
  }

  /// A reference to the model of version hashes in a bundle; the application's if there is none.
  public convenience init(entityVersionHashes: [String: Data], in bundle: Bundle?, versionChecksum: String) {
    self.init(
      entityVersionHashes: entityVersionHashes, in: [(bundle ?? .main).modelFolder], versionChecksum: versionChecksum)
  }
}

extension MappingModel {
  /// `nil`: there are no files of mapping models, so that a bundle has none. Describe one in code, and give it to
  /// ``PersistentStoreDescription/mappingModels``, or infer it.
  public init?(
    from bundles: [Bundle]?, forSourceModel sourceModel: ManagedObjectModel?, destinationModel: ManagedObjectModel?
  ) {
    return nil
  }

  /// `nil`: there are no files of mapping models.
  public init?(contentsOf url: URL?) { return nil }

  /// ``inferred(from:to:)``.
  public static func inferredMappingModel(
    forSourceModel source: ManagedObjectModel, destinationModel destination: ManagedObjectModel
  ) throws -> MappingModel {
    try inferred(from: source, to: destination)
  }
}

extension StagedMigrationManager {
  /// A manager of stages. Where Core Data raises, the opening of a store throws.
  public convenience init(_ stages: [MigrationStage]) { self.init(unchecked: stages) }

  /// A manager of stages. Where Core Data raises, the opening of a store throws.
  public convenience init(migrationStages stages: [MigrationStage]) { self.init(unchecked: stages) }
}
