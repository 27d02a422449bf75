/// The objects of a fetch, whose rows are read in batches when you ask for them: for long lists of which a part is
/// shown. Core Data: the array that a request with a batch size gives.
///
/// The list keeps the identifiers, and the objects of the batches used last. Each batch shows the newest commit at the
/// time it is read. An object that was deleted in the meantime is a fault without a row.
///
/// Use the list where its context is used.
public final class FetchBatches<Result: ManagedObject> {
  private let context: ManagedObjectContext
  private let identifiers: [ManagedObjectID]
  /// The objects that were unsaved. A save gives them other identifiers.
  private let unsaved: [ManagedObjectID: ManagedObject]
  /// How many objects are read at a time.
  public let batchSize: Int
  /// The batches used last, the most recent one at the end.
  private var recent: [(batch: Int, objects: [Result])] = []
  private static var recentLimit: Int { 4 }

  init(_ context: ManagedObjectContext, _ identifiers: [ManagedObjectID], batchSize: Int) {
    self.context = context
    self.identifiers = identifiers
    var unsaved: [ManagedObjectID: ManagedObject] = [:]
    for id in identifiers where id.isTemporaryID { unsaved[id] = context.registered(id) }
    self.unsaved = unsaved
    self.batchSize = max(1, batchSize)
  }

  /// How many objects there are.
  public var count: Int { identifiers.count }

  /// How many batches they make.
  public var batchCount: Int { count / batchSize + (count % batchSize == 0 ? 0 : 1) }

  /// The identifiers of all objects, in order.
  public var objectIDs: [ManagedObjectID] { unsaved.isEmpty ? identifiers : identifiers.map { known($0) } }

  /// The identifier that an object has now.
  private func known(_ id: ManagedObjectID) -> ManagedObjectID { unsaved[id]?.objectID ?? id }

  /// The object at a place, from 0.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for a place outside the list; as ``batch(_:)``.
  public subscript(place: Int) -> Result {
    get throws {
      guard identifiers.indices.contains(place) else { throw outOfRange(place, identifiers.count) }
      return try batch(place / batchSize)[place % batchSize]
    }
  }

  /// The objects of a batch, from 0.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for a batch that does not exist, and for objects of another class;
  ///   what reading throws.
  public func batch(_ number: Int) throws -> [Result] {
    guard number >= 0, number < batchCount else { throw outOfRange(number, batchCount) }
    if let known = recent.firstIndex(where: { $0.batch == number }) {
      let found = recent.remove(at: known)
      // Objects from before a reset have no context.
      if found.objects.contains(where: { $0.isOfContext(context) }) {
        recent.append(found)
        return found.objects
      }
    }
    let start = number * batchSize
    let wanted = identifiers[start..<(start + min(batchSize, count - start))].map { self.known($0) }
    var objects: [Result] = []
    objects.reserveCapacity(wanted.count)
    for object in try IdentifiedObjects(context: context).objects(with: wanted) {
      objects.append(try object.asResult(Result.self))
    }
    if recent.count >= Self.recentLimit { recent.removeFirst() }
    recent.append((number, objects))
    return objects
  }

  /// Calls `body` with one batch after the other.
  ///
  /// - Throws: as ``batch(_:)``; what `body` throws.
  public func forEachBatch(_ body: ([Result]) throws -> Void) throws {
    for number in 0..<batchCount { try body(try batch(number)) }
  }

  private func outOfRange(_ place: Int, _ count: Int) -> CambiumError {
    CambiumError(.invalidArgument, "there is no \(place) of \(count)")
  }
}
