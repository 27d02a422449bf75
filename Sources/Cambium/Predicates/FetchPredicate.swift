import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A condition on objects, in Core Data's format syntax. Core Data: `NSPredicate`; Foundation's `Predicate` is another
/// type.
///
///     try FetchPredicate(format: "aircraft.tailNumber BEGINSWITH %@ AND duration > %@", "N", 3600)
///
/// `%@` and the number marks take, in turn, values of every type that an attribute can have, ``ManagedObject`` and
/// ``ManagedObjectID``, arrays and sets of them (for `IN` and `BETWEEN`), and `nil`; `%K` takes a key path,
/// which may go on behind it: `ANY %K.%K == %@`, `%K.@count > 1`.
///
///     try FetchPredicate(format: "SUBQUERY(logEntries, $e, $e.duration > 3600).@count >= 3 AND engines * 2 > 3")
///
/// What operators, functions, subqueries, collection operators and regular expressions give is written in
/// `Specs/07-predicates.md`.
public struct FetchPredicate: Hashable, Sendable, CustomStringConvertible {
  /// With references to unsaved objects, for evaluation in memory.
  let inMemory: CambiumEngine.Predicate
  /// What the store is asked: unsaved objects are equal to nothing that it holds.
  let inStore: CambiumEngine.Predicate
  /// Of which stores the objects are that it names.
  let homes: ObjectHomes
  /// Why the predicate cannot be used, if it was made where nothing could be thrown.
  let failure: CambiumError?

  /// Reads a predicate.
  ///
  /// - Throws: ``CambiumError/Code/invalidPredicate`` with the place of the mistake; the engine's `PredicateError` is
  ///   underneath. Key paths and types are checked against the model when the predicate is used.
  @_disfavoredOverload public init(format: String, _ arguments: Any?...) throws {
    try self.init(format: format, argumentArray: arguments)
  }

  /// Reads a predicate with its arguments in an array; see ``init(format:_:)``.
  @_disfavoredOverload public init(format: String, argumentArray: [Any?]?) throws {
    let values = try Self.values(of: argumentArray ?? [], for: format)
    inMemory = try Self.parse(format, values)
    inStore =
      values.contains(where: { $0.hasTemporary })
      ? try Self.parse(format, values.map { $0.withoutTemporary }) : inMemory
    homes = values.contains { $0.hasReference } ? ObjectHomes(of: argumentArray ?? []) : ObjectHomes()
    failure = nil
  }

  /// A predicate that stands for one which could not be read: whatever it is used for throws the error. For code that,
  /// like Core Data's, has no place for it.
  public init(failure: any Error) {
    let error = failure as? CambiumError ?? CambiumError(.invalidPredicate, "\(failure)", underlying: [failure])
    self.failure = error
    // No entity has a property of this name, so that nothing passes where the predicate is looked at in another way.
    inMemory = .compare(.keyPath("(\(error.message))"), .equal, .constant(.null))
    inStore = inMemory
    homes = ObjectHomes()
  }

  /// Matches everything or nothing. Core Data: `NSPredicate(value:)`.
  public init(value: Bool) { self.init(value ? .true : .false) }

  /// Wraps a predicate of the engine's.
  public init(_ predicate: CambiumEngine.Predicate) {
    inMemory = predicate
    inStore = predicate
    homes = ObjectHomes()
    failure = nil
  }

  init(
    inMemory: CambiumEngine.Predicate, inStore: CambiumEngine.Predicate, of parts: [FetchPredicate] = [],
    naming homes: ObjectHomes = ObjectHomes()
  ) {
    self.inMemory = inMemory
    self.inStore = inStore
    self.homes = parts.reduce(homes) { $0.merging($1.homes) }
    failure = parts.lazy.compactMap { $0.failure }.first
  }

  /// All of the predicates.
  public static func and(_ predicates: [FetchPredicate]) -> FetchPredicate {
    FetchPredicate(
      inMemory: .and(predicates.map { $0.inMemory }), inStore: .and(predicates.map { $0.inStore }), of: predicates)
  }

  /// At least one of the predicates.
  public static func or(_ predicates: [FetchPredicate]) -> FetchPredicate {
    FetchPredicate(
      inMemory: .or(predicates.map { $0.inMemory }), inStore: .or(predicates.map { $0.inStore }), of: predicates)
  }

  /// The reverse.
  public static func not(_ predicate: FetchPredicate) -> FetchPredicate {
    FetchPredicate(inMemory: .not(predicate.inMemory), inStore: .not(predicate.inStore), of: [predicate])
  }

  /// The predicate with values for its `$variables`, by name without `$`: what `%@` takes. Variables that are not
  /// mentioned stay open; a key path from a variable, `$x.name`, is a name of its own: `x.name`.
  ///
  /// - Throws: ``CambiumError/Code/invalidPredicate`` for a value that no attribute can have.
  @_disfavoredOverload public func withSubstitutionVariables(_ variables: [String: Any?]) throws -> FetchPredicate {
    var values: [String: Value] = [:]
    for (name, argument) in variables {
      guard let argument = unwrapped(argument) else {
        values[name] = .null
        continue
      }
      guard let value = Value(foundation: argument) else {
        throw CambiumError(
          .invalidPredicate, "the value of $\(name) is a \(Self.unheld(argument))")
      }
      values[name] = value
    }
    return try substituting(values, naming: ObjectHomes(of: variables.values))
  }

  func substituting(_ values: [String: Value], naming homes: ObjectHomes) throws -> FetchPredicate {
    do throws(CambiumEngine.PredicateError) {
      return FetchPredicate(
        inMemory: try inMemory.substituting(values),
        inStore: try inStore.substituting(values.mapValues { $0.withoutTemporary }), of: [self], naming: homes)
    } catch {
      throw CambiumError(.invalidPredicate, "\(error)", underlying: [error])
    }
  }

  /// The variables that have no value yet, in the order of the text.
  public var variableNames: [String] { (try? inMemory.variableNames()) ?? [] }

  private static func unheld(_ argument: Any) -> String {
    let name = "\(type(of: argument))"
    return "\(name), which no attribute holds" + (name == "NSNull" ? "; no value is nil" : "")
  }

  /// The arguments of a format string as values.
  static func values(of arguments: [Any?], for format: String) throws -> [Value] {
    var values: [Value] = []
    for (position, argument) in arguments.enumerated() {
      guard let argument = unwrapped(argument) else {
        values.append(.null)
        continue
      }
      guard let value = Value(foundation: argument) else {
        throw CambiumError(
          .invalidPredicate,
          "argument \(position + 1) of the predicate '\(format)' is a \(Self.unheld(argument))")
      }
      values.append(value)
    }
    return values
  }

  private static func parse(_ format: String, _ values: [Value]) throws -> CambiumEngine.Predicate {
    do throws(CambiumEngine.PredicateError) {
      return try CambiumEngine.Predicate(format: format, arguments: values.map { .value($0) })
    } catch {
      throw CambiumError(.invalidPredicate, "in '\(format)': \(error)", underlying: [error])
    }
  }

  /// The predicate in the format syntax.
  public var predicateFormat: String { inMemory.description }

  /// The predicate in the format syntax, from which it can be read again.
  ///
  /// - Throws: why it could not be made; an error of the engine's for one that has no such text, as it is nested too
  ///   deep for example.
  func writtenFormat() throws -> String {
    if let failure { throw failure }
    // Refuses what is too deep to be printed.
    _ = try inMemory.reads()
    let text = inMemory.description
    guard try CambiumEngine.Predicate(format: text, arguments: []).description == text else {
      throw CambiumError(.invalidPredicate, "the predicate \(text) is read as another one")
    }
    return text
  }

  /// The predicate in the format syntax.
  public var description: String { predicateFormat }

  /// Whether two predicates are the same.
  public static func == (a: FetchPredicate, b: FetchPredicate) -> Bool {
    a.inMemory == b.inMemory && a.homes == b.homes
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) { hasher.combine(inMemory) }

  /// The predicate as it is asked of a store's history, which knows properties of its own. Objects of other stores are
  /// equal to none.
  func ofHistory(in storeIdentifier: String) throws -> CambiumEngine.Predicate {
    if let failure { throw failure }
    let strangers = homes.strangers(in: storeIdentifier)
    if strangers.isEmpty { return inMemory }
    do throws(CambiumEngine.PredicateError) {
      return try inMemory.withoutReferences { strangers.contains($0) }
    } catch {
      throw CambiumError(.invalidPredicate, "\(error)", underlying: [error])
    }
  }

  /// What evaluating for some objects needs besides them.
  static func evaluationState(for predicate: CambiumEngine.Predicate?) -> EvaluationState {
    guard predicate?.isVolatile == true else { return EvaluationState() }
    return EvaluationState(now: Date().timeIntervalSinceReferenceDate, seed: .random(in: .min ... .max))
  }
}

extension FetchPredicate: Codable {
  /// Reads a predicate as ``encode(to:)`` writes it.
  ///
  /// - Throws: `DecodingError` for an unknown version or a text that is no predicate.
  public init(from decoder: any Decoder) throws { self.init(try CambiumEngine.Predicate(from: decoder)) }

  /// Writes the predicate as an object with a `version`, 1, and its `format`, the text of ``predicateFormat``. Saved
  /// objects are named by entity and row, which mean something to the same store alone.
  ///
  /// - Throws: `EncodingError` for a predicate that names an unsaved object.
  public func encode(to encoder: any Encoder) throws {
    guard inMemory == inStore else {
      throw EncodingError.invalidValue(
        self, .init(codingPath: encoder.codingPath, debugDescription: "the predicate names an object that is not saved")
      )
    }
    try inMemory.encode(to: encoder)
  }
}

extension Value {
  /// Whether the value mentions an object.
  var hasReference: Bool {
    switch self {
    case .reference: return true
    case .list(let values): return values.contains { $0.hasReference }
    default: return false
    }
  }

  /// Whether the value mentions an object that is not saved.
  fileprivate var hasTemporary: Bool {
    switch self {
    case .reference(let reference): return reference.isTemporary
    case .list(let values): return values.contains { $0.hasTemporary }
    default: return false
    }
  }

  /// The value with row 0, which no object has, for objects that are not saved.
  var withoutTemporary: Value {
    switch self {
    case .reference(let reference) where hasTemporary:
      return .reference(ObjectReference(entity: reference.entity, row: 0))
    case .list(let values): return .list(values.map { $0.withoutTemporary })
    default: return self
    }
  }
}
