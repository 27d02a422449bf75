import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials

  /// Foundation's predicate on one object, which `#Predicate` makes.
  public typealias FoundationPredicate<Object> = FoundationEssentials.Predicate<Object>
#else
  import Foundation

  /// Foundation's predicate on one object, which `#Predicate` makes.
  public typealias FoundationPredicate<Object> = Foundation.Predicate<Object>
#endif

// Foundation has a `Predicate`, an `Expression` and a `Value` of its own.
typealias EnginePredicate = CambiumEngine.Predicate
typealias EngineExpression = CambiumEngine.Expression
typealias EngineValue = CambiumEngine.Value

extension FetchPredicate {
  /// Takes a predicate of Foundation's, so that the store answers it.
  ///
  ///     let white = #Predicate<Aircraft> { $0.tailNumber.starts(with: "N") && $0.colorScheme?.primary == "white" }
  ///     request.predicate = try FetchPredicate(white)
  ///
  /// Properties go by the names that the types on the way declare by ``PredicateKeyPaths``, or that `names` has for
  /// their key paths.
  ///
  /// The predicate means what it means in Swift, with these differences, none of which throws: a property that is `nil`
  /// in the store stays `nil` where Swift's has another type (`!` of it compares as `nil`); strings are ordered,
  /// searched and counted by the scalars of their normal form instead of by characters; not-a-number equals itself and
  /// is less than every number; a division by zero gives `nil`; decimals and integers don't overflow. `is` and `as?` of
  /// ``ManagedObject`` classes ask of which entity an object is; `as!` gives `nil` where it fails. Captured objects and
  /// regular expressions have no place in it: join what needs them with ``and(_:)``, from a format string.
  ///
  /// - Parameter names: The properties' key paths, for types that don't declare them; they come first.
  /// - Throws: ``CambiumError/Code/invalidPredicate`` naming the part that has no translation, and what to use instead;
  ///   or if the predicate comes to more than 100,000 parts, as dozens of `==` between conditions do that are nested.
  public init<Object>(_ predicate: FoundationPredicate<Object>, names: [AnyKeyPath: String] = [:]) throws {
    var translator = PredicateTranslator(object: predicate.variable.key, names: names)
    try self.init(predicate.expression, &translator)
  }

  /// Takes a predicate of Foundation's on objects of another face, which says what the parts stand for.
  ///
  /// - Throws: ``CambiumError/Code/invalidPredicate``, as ``init(_:names:)`` does; what `naming` throws.
  package init<Object>(_ predicate: FoundationPredicate<Object>, naming: any PredicateNaming) throws {
    var translator = PredicateTranslator(object: predicate.variable.key, naming: naming)
    try self.init(predicate.expression, &translator)
  }

  private init(_ expression: any PredicateExpression, _ translator: inout PredicateTranslator) throws {
    let condition = try translator.translate(expression).condition
    let objects = translator.capturedObjects
    guard !objects.isEmpty else {
      self.init(condition)
      return
    }
    var stored = condition
    if objects.contains(where: { $0.reference.isTemporary }) {
      do throws(CambiumEngine.PredicateError) {
        stored = try condition.withoutReferences { $0.isTemporary }
      } catch {
        throw CambiumError(.invalidPredicate, "\(error)", underlying: [error])
      }
    }
    self.init(inMemory: condition, inStore: stored, naming: ObjectHomes(of: objects))
  }
}
