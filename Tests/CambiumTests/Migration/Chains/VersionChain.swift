import Cambium
import Testing

/// The versions of an application's model, from its first release on, as the public models of real applications have
/// them: several changes a version, some of them no part of what is stored.
struct VersionChain: Sendable, CustomTestStringConvertible {
  /// What opening a store of one version with another comes to.
  enum Verdict: Sendable, Equatable {
    /// Nothing to be migrated: what is stored is the same.
    case sameHash
    /// A mapping is inferred.
    case lightweight
    /// It is refused, for these properties.
    case notInferable([String])
  }

  /// How many times over a store has the objects of the chain.
  static let count = 10

  var testDescription: String
  /// The models, versions 1 and up.
  var versions: [@Sendable () -> [ModelBuilderPart]]
  /// The pairs that are not ``Verdict/lightweight``, by the versions that they go from and to.
  var verdicts: [ClosedRange<Int>: Verdict] = [:]
  /// Makes the objects of a number, in version 1.
  var make: @Sendable (ManagedObjectContext, Int) throws -> Void
  /// What the application does itself once a store has come to a version.
  var work: [Int: @Sendable (ManagedObjectContext) throws -> Void] = [:]
  /// The lines (``ObjectListing``) of the objects of a number, after a store had these versions, one after the other.
  var expected: @Sendable (_ path: [Int], _ n: Int) -> [String]

  func model(_ version: Int) throws -> ManagedObjectModel {
    try ManagedObjectModel(versionIdentifiers: ["\(version)"], versions[version - 1])
  }

  func verdict(_ from: Int, _ to: Int) -> Verdict { verdicts[from...to] ?? .lightweight }

  func fill(_ context: ManagedObjectContext) throws {
    for n in 0..<Self.count { try make(context, n) }
    try context.save()
  }

  func lines(_ path: [Int]) -> [String] { (0..<Self.count).flatMap { expected(path, $0) }.sorted() }

  static var all: [VersionChain] { [bookmarks, gallery, browser, readings, settings, names, returns] }
}
