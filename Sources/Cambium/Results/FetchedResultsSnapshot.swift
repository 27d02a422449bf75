/// The results of a ``FetchedResultsController`` at one time, by identifiers: for lists that are made on another thread
/// than the context's.
public struct FetchedResultsSnapshot: Sendable, Hashable {
  /// A section.
  public struct Section: Sendable, Hashable {
    /// See ``FetchedResultsSection/name``.
    public let name: String
    /// The objects, in their order.
    public let objectIDs: [ManagedObjectID]
  }

  /// The sections, in their order.
  public let sections: [Section]
  /// The objects, section after section.
  public var objectIDs: [ManagedObjectID] { sections.flatMap { $0.objectIDs } }
  /// How many there are.
  public var count: Int { sections.reduce(0) { $0 + $1.objectIDs.count } }

  /// How many objects have no permanent identifiers yet.
  var temporaryIDs: Int { sections.reduce(0) { $0 + $1.objectIDs.count { $0.isTemporaryID } } }

  init<Result>(_ sections: [FetchedResultsSection<Result>]) {
    self.sections = sections.map { Section(name: $0.name, objectIDs: $0.objects.map { $0.objectID }) }
  }
}
