// What throws in Cambium, and in Core Data raises an exception or cannot fail. Code for Core Data writes no `try`
// there. Each of these says what the call gives in place of the error.

@_spi(CoreData) import Cambium
import CambiumEngine

// MARK: Predicates and expressions, whose use throws the error

extension FetchPredicate {
  /// The predicate with values for its `$variables`. Where Core Data raises, the predicate is one whose use throws the
  /// error.
  public func withSubstitutionVariables(_ variables: [String: Any]) -> FetchPredicate {
    do { return try ownSubstituting(variables.mapValues { swiftValue($0) }) } catch {
      return FetchPredicate(failure: error)
    }
  }

  /// Whether an object matches, by its present values; `false` for `nil`, and where Core Data raises. The error is
  /// noted in the context's ``ManagedObjectContext/recordedErrors``.
  public func evaluate(with object: ManagedObject?) -> Bool {
    guard let object else { return false }
    do { return try ownEvaluate(with: object) } catch {
      object.noteReading(error)
      return false
    }
  }
}

extension FetchExpression {
  /// The same value for all objects. Where Core Data raises, for a value that no attribute can have, the use of the
  /// expression throws.
  public init(forConstantValue value: Any?) {
    do { self = try FetchExpression(ownConstantValue: swiftValue(value)) } catch { self.init(failure: error) }
  }

  /// Reads an expression. Where Core Data raises, for a mistake in the format or an argument that no attribute holds,
  /// the use of the expression throws.
  public init(format: String, _ arguments: any NSPredicateArgument...) {
    self.init(format: format, argumentArray: arguments as [Any])
  }

  /// Reads an expression with its arguments in an array; see ``init(format:_:)``.
  public init(format: String, argumentArray: [Any]) {
    let plain = FormatWithoutExpressions(format, argumentArray)
    do {
      self = try FetchExpression(ownFormat: plain.format, argumentArray: plain.arguments.map { swiftValue($0) })
    } catch { self.init(failure: error) }
  }

  /// An expression whose use throws, because no entity has a property of its name.
  private init(failure error: any Error) { self.init(CambiumEngine.Expression.keyPath("(\(error))")) }
}

// MARK: Versions of models

extension ManagedObjectModel {
  /// The version hash of every entity; empty for a model that cannot be used, which opening a store tells.
  public var entityVersionHashesByName: [String: Data] { (try? ownVersionHashes) ?? [:] }

  /// Tells the versions of a model apart; empty for a model that cannot be used, which opening a store tells.
  public var versionChecksum: String { (try? ownVersionChecksum) ?? "" }

  /// A request of a template with values for its variables; `nil` if there is no template of the name. Where Core Data
  /// raises, for a variable without a value, the use of the request throws.
  public func fetchRequestFromTemplate(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> NSFetchRequest<NSFetchRequestResult>? {
    let values = variables.mapValues { swiftValue($0) }
    do {
      return try fetchRequestFromTemplate(withName: name, substitutionVariables: values, as: ManagedObject.self)
    } catch {
      let request = fetchRequestTemplate(forName: name)
      request?.predicate = FetchPredicate(failure: error)
      return request
    }
  }
}

extension EntityDescription {
  /// Changes with what changes how the entity is stored; empty where Cambium's throws, as for an entity of no model.
  public var versionHash: Data { (try? ownVersionHash) ?? Data() }
}

extension PropertyDescription {
  /// Changes with what changes how the property is stored; empty where Cambium's throws, as for a property of no
  /// entity.
  public var versionHash: Data { (try? ownVersionHash) ?? Data() }
}

// MARK: Objects

extension ManagedObject {
  /// The identifiers of the destinations of a relationship; none where Core Data raises. The error is noted in the
  /// context's ``ManagedObjectContext/recordedErrors``.
  public func objectIDs(forRelationshipNamed key: String) -> [ManagedObjectID] {
    do { return try ownObjectIDs(forRelationshipNamed: key) } catch {
      noteReading(error)
      return []
    }
  }
}

extension ManagedObjectContext {
  /// Makes the next save throw a conflict if others change an object until then. An object that cannot be read is noted
  /// in ``recordedErrors``.
  public func detectConflicts(for object: ManagedObject) {
    do { try ownDetectConflicts(for: object) } catch { object.noteReading(error) }
  }
}

extension PersistentStoreCoordinator {
  /// The place in the histories of stores behind everything that was saved; `nil` if there is none, or it cannot be
  /// read.
  public func currentPersistentHistoryToken(fromStores stores: [PersistentStore]?) -> PersistentHistoryToken? {
    (try? ownCurrentToken(fromStores: stores)) ?? nil
  }
}
