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
  /// Properties go by the names that the types on the way declare by ``PredicateKeyPaths``, or that `names` has for their
  /// key paths.
  ///
  /// The predicate means what it means in Swift, with these differences, none of which throws: a property that is `nil` in
  /// the store stays `nil` where Swift's has another type (`!` of it compares as `nil`); strings are ordered, searched
  /// and counted by the scalars of their normal form instead of by characters; not-a-number equals itself and is
  /// less than every number; a division by zero gives `nil`; decimals and integers don't overflow.
  /// Captured objects, regular expressions and casts between classes have no place in it: join what needs them with
  /// ``and(_:)``, from a format string.
  ///
  /// - Parameter names: The properties' key paths, for types that don't declare them; they come first.
  /// - Throws: ``CambiumError/Code/invalidPredicate`` naming the part that has no translation, and what to use instead; or if
  ///   the predicate comes to more than 100,000 parts, as dozens of `==` between conditions do that are nested.
  public init<Object>(_ predicate: FoundationPredicate<Object>, names: [AnyKeyPath: String] = [:]) throws {
    var translator = PredicateTranslator(object: predicate.variable.key, names: names)
    self.init(try translator.translate(predicate.expression).condition)
  }
}
