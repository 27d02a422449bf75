/// Why a predicate cannot be used: what, where, and what to do instead.
public struct PredicateError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What kind of mistake it is.
  public enum Kind: UInt8, Sendable {
    /// The text is not a predicate.
    case syntax
    /// The text is a predicate of Core Data's, but of a part that is not supported.
    case unsupported
    /// The arguments don't fit the text's `%` marks.
    case argument
    /// Predicate or expression are nested deeper than ``Predicate/depthLimit``; or a regular expression, a list or the
    /// number of elements of subqueries is larger than allowed.
    case tooDeep
    /// A key path does not exist in the model.
    case unknownKeyPath
    /// The two sides can't be compared, or the model rules the comparison out.
    case typeMismatch
    /// A `$variable` has no value.
    case unboundVariable
  }

  /// What kind of mistake it is.
  public var kind: Kind
  /// Where in the text, in bytes of its UTF-8 from 0; `nil` if there is no text, as when checking against a model.
  public var position: Int?
  /// The part in question, as written.
  public var construct: String
  /// What is wrong with it and what to use instead.
  public var advice: String

  /// An error.
  public init(_ kind: Kind, at position: Int? = nil, _ construct: String, _ advice: String) {
    self.kind = kind
    self.position = position
    self.construct = construct
    self.advice = advice
  }

  #if CAMBIUM_NO_PREDICATES
    /// The error of a program that was compiled without the code of predicates.
    static let leftOut = PredicateError(.unsupported, "", "the program was compiled with CAMBIUM_NO_PREDICATES")
  #endif

  /// One sentence for the developer.
  public var description: String {
    let place = position.map { " at byte \($0)" } ?? ""
    return construct.isEmpty ? "predicate\(place): \(advice)" : "predicate\(place), '\(construct)': \(advice)"
  }
}
