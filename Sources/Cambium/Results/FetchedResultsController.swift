import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Is told how the results of a controller change, on the queue of its context. Core Data:
/// `NSFetchedResultsControllerDelegate`.
///
/// The calls come in this order: `controllerWillChangeContent`, the sections, the objects,
/// `controllerDidChangeContent`. The controller has the new results already.
///
/// A type of the main actor's, such as the model of a view, conforms on the main actor, for a controller of a
/// main-queue context:
///
///     @MainActor final class Fleet: @MainActor FetchedResultsControllerDelegate {
///       private(set) var changes = 0
///       func controllerDidChangeContent<Result>(_ controller: FetchedResultsController<Result>) { changes += 1 }
///     }
public protocol FetchedResultsControllerDelegate: AnyObject {
  /// The results are about to be told anew.
  func controllerWillChangeContent<Result>(_ controller: FetchedResultsController<Result>)
  /// A section was inserted or deleted.
  func controller<Result>(
    _ controller: FetchedResultsController<Result>, didChange sectionInfo: FetchedResultsSection<Result>,
    atSectionIndex sectionIndex: Int, for type: FetchedResultsChangeType)
  /// An object changed, at its old place and with its new one; see ``FetchedResultsDifference/Change``.
  func controller<Result>(
    _ controller: FetchedResultsController<Result>, didChange anObject: Result, at indexPath: IndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: IndexPath?)
  /// Everything was told.
  func controllerDidChangeContent<Result>(_ controller: FetchedResultsController<Result>)
  /// The title of a section for ``FetchedResultsController/sectionIndexTitles``; `nil` for none.
  func controller<Result>(
    _ controller: FetchedResultsController<Result>, sectionIndexTitleForSectionName sectionName: String
  ) -> String?
}

extension FetchedResultsControllerDelegate {
  /// Does nothing.
  public func controllerWillChangeContent<Result>(_ controller: FetchedResultsController<Result>) {}
  /// Does nothing.
  public func controller<Result>(
    _ controller: FetchedResultsController<Result>, didChange sectionInfo: FetchedResultsSection<Result>,
    atSectionIndex sectionIndex: Int, for type: FetchedResultsChangeType
  ) {}
  /// Does nothing.
  public func controller<Result>(
    _ controller: FetchedResultsController<Result>, didChange anObject: Result, at indexPath: IndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}
  /// Does nothing.
  public func controllerDidChangeContent<Result>(_ controller: FetchedResultsController<Result>) {}
  /// The first character of the name, as a capital letter.
  public func controller<Result>(
    _ controller: FetchedResultsController<Result>, sectionIndexTitleForSectionName sectionName: String
  ) -> String? {
    FetchedResultsSection<Result>.indexTitle(of: sectionName)
  }
}

/// What became of an object or section, with Core Data's raw values.
public enum FetchedResultsChangeType: UInt, Sendable {
  /// It is new.
  case insert = 1
  /// It is gone.
  case delete = 2
  /// It has another place.
  case move = 3
  /// It was changed.
  case update = 4
}

/// A section of a controller's results. Core Data: `NSFetchedResultsSectionInfo`.
public struct FetchedResultsSection<Result: ManagedObject> {
  /// What the objects have at the controller's `sectionNameKeyPath`; empty without one, and for `nil`.
  public let name: String
  /// The objects, in their order.
  public internal(set) var objects: [Result]
  /// The number of objects.
  public var numberOfObjects: Int { objects.count }
}

/// The objects that match a request, kept up to date. Core Data: `NSFetchedResultsController`.
///
///     let controller = FetchedResultsController(
///       fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "aircraftType")
///     try controller.performFetch()
///     for await difference in controller.differences() { print(difference.changes) }
///
/// Use it on the queue of its context. The results follow the unsaved changes of that context, as a fetch finds them:
/// whenever an event ends (``ManagedObjectContext/processPendingChanges()``), which a block of
/// ``ManagedObjectContext/perform(_:)->_`` does, and a save in its beginning. What was told so is not told again when
/// it is saved, unless the save has given an object other values: a derived attribute's, or those of another context
/// that a merge policy let stand. A request that leaves unsaved changes out (``FetchRequest/includesPendingChanges``)
/// follows saves only.
///
/// They follow the saves of other contexts of the same coordinator as well, when the queue comes to it, or at
/// ``processPendingChanges()``, which a context with ``ConcurrencyType/confinement`` has to call, because it has no
/// queue; those of a child context show what its parent has, and follow what that has taken in. What batch requests and
/// other processes have changed counts when it is merged into the context, by
/// ``ManagedObjectContext/mergeChanges(fromContextDidSave:)-(ObjectIDNotification)``. After
/// ``ManagedObjectContext/reset()`` call ``performFetch()`` again.
///
/// If the request's predicate, order and section look at the rows of its entity alone, without limit and offset, just
/// the objects that were changed are evaluated again: O(c · log n) comparisons for c changes of n results, and O(n)
/// steps that compare nothing. With a limit or offset the request is fetched again when an object of its entity was
/// changed, otherwise at the end of every event and save: for such a request over many objects, save first, or follow
/// saves only.
public final class FetchedResultsController<Result: ManagedObject>: @unchecked Sendable {
  // `@unchecked`: touched on the context's queue, that is, with its lock held; `streams` and `waiting` with
  // `waitingLock` held, since whoever stops listening may be anywhere.

  /// What is fetched. What is changed of it counts from the next ``performFetch()`` on.
  public let fetchRequest: FetchRequest<Result>
  /// The context of the objects.
  public let managedObjectContext: ManagedObjectContext
  /// What divides the objects into sections, each of which is where its first object is. Order by it first to have the
  /// sections ordered.
  public let sectionNameKeyPath: String?
  /// If the context of this controller has no queue, another context calls this handler after it saved, on its own
  /// thread. The results stay as they are until ``processPendingChanges()``. Set the handler before ``performFetch()``.
  package var newsHandler: (@Sendable () -> Void)?
  /// Is told of changes.
  public weak var delegate: (any FetchedResultsControllerDelegate)?

  /// The sections; none before ``performFetch()``.
  public private(set) var sections: [FetchedResultsSection<Result>] = []
  /// The objects, section after section; `nil` before ``performFetch()``.
  public var fetchedObjects: [Result]? { isFetched ? sections.flatMap { $0.objects } : nil }

  /// What was fetched last, as it was then: the entries have their places by it.
  var request: FetchRequest<Result>
  var entries: [ResultsEntry<Result>] = []
  /// The objects of the request's entity that had unsaved changes when they were looked at, and may not have them any
  /// more: a save takes those back that its merge policy gives up.
  var unsaved = Set<ManagedObject>()
  /// Whether the entries have the values of the order's keys.
  var hasKeys = false
  private var isFetched = false
  private var streams: [Int: AsyncStream<FetchedResultsDifference>.Continuation] = [:]
  /// How many objects of the snapshot that was told last had temporary identifiers. Touched with the context's lock
  /// held.
  private var toldTemporaryIDs = 0
  private var snapshotStreams: [Int: AsyncStream<FetchedResultsSnapshot>.Continuation] = [:]
  private var streamCount = 0
  private let waitingLock = StateLock()
  private var waiting = WaitingChanges()
  private var isTakingIn = false

  /// A controller, which has no results before ``performFetch()``.
  public init(
    fetchRequest: FetchRequest<Result>, managedObjectContext: ManagedObjectContext, sectionNameKeyPath: String? = nil
  ) {
    self.fetchRequest = fetchRequest
    request = fetchRequest
    self.managedObjectContext = managedObjectContext
    self.sectionNameKeyPath = sectionNameKeyPath
  }

  deinit {
    for stream in streams.values { stream.finish() }
    for stream in snapshotStreams.values { stream.finish() }
  }

  /// Fetches the results, and follows changes from then on. Nobody is told of what changes by this.
  ///
  /// - Throws: as ``ManagedObjectContext/fetch(_:)``; ``CambiumError/Code/invalidPredicate`` for the key path of the
  ///   sections.
  public func performFetch() throws {
    try managedObjectContext.lock.run {
      managedObjectContext.persistentStoreCoordinator.saveObservers.add(self)
      // What is saved from here on comes once more, which does no harm; what was before is in the fetch.
      let before = waitingLock.locked {
        defer { waiting = WaitingChanges() }
        return waiting
      }
      do { entries = try allEntries(of: fetchRequest.copy()) } catch {
        // The results that stay have yet to learn of it.
        waitingLock.locked { waiting.formUnion(before) }
        throw error
      }
      isFetched = true
      sections = grouped(entries)
      tellSnapshot()
    }
  }

  /// A controller of the same results as they are now, whatever class they are of: this one, or one that follows
  /// nothing until it is told to fetch. For delegates that take controllers of any objects.
  public func ofAnyObjects() -> FetchedResultsController<ManagedObject> {
    if let same = self as? FetchedResultsController<ManagedObject> { return same }
    let result = FetchedResultsController<ManagedObject>(
      fetchRequest: fetchRequest.ofAnyObjects(), managedObjectContext: managedObjectContext,
      sectionNameKeyPath: sectionNameKeyPath)
    result.isFetched = isFetched
    result.sections = sections.map { FetchedResultsSection(name: $0.name, objects: $0.objects) }
    return result
  }

  // MARK: Places

  /// The object at a section and place; `nil` if there is none.
  @_disfavoredOverload public func object(at indexPath: IndexPath) -> Result? {
    guard indexPath.count == 2, sections.indices.contains(indexPath[0]),
      sections[indexPath[0]].objects.indices.contains(indexPath[1])
    else { return nil }
    return sections[indexPath[0]].objects[indexPath[1]]
  }

  /// Where an object is; `nil` if it is not among the results.
  public func indexPath(forObject object: Result) -> IndexPath? {
    for (section, content) in sections.enumerated() {
      if let item = content.objects.firstIndex(of: object) { return IndexPath(indexes: [section, item]) }
    }
    return nil
  }

  // MARK: Changes

  /// The changes from now on, until the controller is gone. Each call gives a stream of its own.
  public func differences() -> AsyncStream<FetchedResultsDifference> {
    AsyncStream { continuation in
      let number = waitingLock.locked {
        streamCount += 1
        streams[streamCount] = continuation
        return streamCount
      }
      continuation.onTermination = { [weak self] _ in
        self?.waitingLock.locked { _ = self?.streams.removeValue(forKey: number) }
      }
    }
  }

  /// The results as they are, and anew after each change, until the controller is gone: what a list is made of, whose
  /// objects are then asked for by their identifiers. Who is slow gets the newest. Each call gives a sequence of its
  /// own; its first element comes with ``performFetch()`` if that was not called yet.
  ///
  /// May be called on any thread.
  public func snapshots() -> AsyncStream<FetchedResultsSnapshot> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let number = managedObjectContext.lock.run {
        if isFetched {
          let snapshot = FetchedResultsSnapshot(sections)
          toldTemporaryIDs = snapshot.temporaryIDs
          continuation.yield(snapshot)
        }
        return waitingLock.locked {
          streamCount += 1
          snapshotStreams[streamCount] = continuation
          return streamCount
        }
      }
      continuation.onTermination = { [weak self] _ in
        self?.waitingLock.locked { _ = self?.snapshotStreams.removeValue(forKey: number) }
      }
    }
  }

  private func tellSnapshot() {
    let streams = waitingLock.locked { Array(snapshotStreams.values) }
    if streams.isEmpty { return }
    let snapshot = FetchedResultsSnapshot(sections)
    toldTemporaryIDs = snapshot.temporaryIDs
    for stream in streams { stream.yield(snapshot) }
  }

  /// Takes in what other contexts have saved, which otherwise happens when the context's queue comes to it. What cannot
  /// be read is noted in ``ManagedObjectContext/recordedErrors``, and the results stay as they are.
  public func processPendingChanges() {
    managedObjectContext.lock.run {
      // What those who are told change is told when they know what came before.
      if isTakingIn { return }
      isTakingIn = true
      defer { isTakingIn = false }
      for _ in 0..<100 {
        let news = waitingLock.locked {
          defer { waiting = WaitingChanges() }
          return waiting
        }
        guard isFetched, !news.isEmpty else { return }
        do { try takeIn(news) } catch {
          managedObjectContext.record(error, losesChange: false)
          // The next change has to bring what this one did not.
          return waitingLock.locked { waiting.formUnion(news) }
        }
      }
    }
  }

  private func takeIn(_ news: WaitingChanges) throws {
    guard let update = try update(for: news) else { return }
    let old = sections
    entries = update.entries
    var difference = FetchedResultsDifference()
    if update.isInPlace {
      difference.changes = updatesInPlace(of: update.updated)
    } else {
      sections = grouped(update.entries)
      difference = list(old).difference(to: list(sections), changed: update.evaluated, updated: update.updated) {
        $0.objectID
      }
    }
    if !difference.isEmpty { return tell(difference, old: old) }
    // Objects that were saved are in their places, and are asked for by other identifiers from now on.
    if toldTemporaryIDs > 0, FetchedResultsSnapshot(sections).temporaryIDs < toldTemporaryIDs { tellSnapshot() }
  }

  /// The changes of objects that have stayed where they are, in their order.
  private func updatesInPlace(of objects: Set<Result>) -> [FetchedResultsDifference.Change] {
    if objects.isEmpty { return [] }
    var result: [FetchedResultsDifference.Change] = []
    for (section, content) in sections.enumerated() {
      for (item, object) in content.objects.enumerated() where objects.contains(object) {
        let place = IndexPath(indexes: [section, item])
        result.append(.update(object.objectID, at: place, newIndexPath: place))
      }
    }
    return result
  }

  private func list(_ sections: [FetchedResultsSection<Result>]) -> ResultsList<Result> {
    ResultsList(names: sections.map { $0.name }, sections: sections.map { $0.objects })
  }

  private func grouped(_ entries: [ResultsEntry<Result>]) -> [FetchedResultsSection<Result>] {
    var result: [FetchedResultsSection<Result>] = []
    var places: [String: Int] = [:]
    for entry in entries {
      if let place = places[entry.section] {
        result[place].objects.append(entry.object)
      } else {
        places[entry.section] = result.count
        result.append(FetchedResultsSection(name: entry.section, objects: [entry.object]))
      }
    }
    return result
  }

  private func tell(_ difference: FetchedResultsDifference, old: [FetchedResultsSection<Result>]) {
    for stream in waitingLock.locked({ Array(streams.values) }) { stream.yield(difference) }
    tellSnapshot()
    guard let delegate else { return }
    let new = sections
    delegate.controllerWillChangeContent(self)
    for index in difference.deletedSections {
      delegate.controller(self, didChange: old[index], atSectionIndex: index, for: .delete)
    }
    for index in difference.insertedSections {
      delegate.controller(self, didChange: new[index], atSectionIndex: index, for: .insert)
    }
    for change in difference.changes {
      let (type, from, to): (FetchedResultsChangeType, IndexPath?, IndexPath?)
      switch change {
      case .insert(_, let place): (type, from, to) = (.insert, nil, place)
      case .delete(_, let place): (type, from, to) = (.delete, place, nil)
      case .move(_, let place, let newPlace): (type, from, to) = (.move, place, newPlace)
      case .update(_, let place, let newPlace): (type, from, to) = (.update, place, newPlace)
      }
      guard let object = to.map({ new[$0[0]].objects[$0[1]] }) ?? from.map({ old[$0[0]].objects[$0[1]] }) else {
        continue
      }
      delegate.controller(self, didChange: object, at: from, for: type, newIndexPath: to)
    }
    delegate.controllerDidChangeContent(self)
  }
}

extension FetchedResultsController: SaveObserver {
  func follows(_ context: ManagedObjectContext) -> Bool { context === managedObjectContext }

  func hear(_ news: ContextNews, of context: ManagedObjectContext) {
    let isOwn = context === managedObjectContext
    switch news {
    case .saved(let saved), .pushed(let saved):
      if isOwn { return noteOwn(saved) }
      // A child's changes are not in the stores yet.
      guard case .saved = news, !saved.isEmpty else { return }
      waitingLock.locked { waiting.saved.formUnion(saved) }
      // The thread that saves may not touch the objects of a context without a queue.
      if managedObjectContext.concurrencyType == .confinement { return newsHandler?() ?? () }
      managedObjectContext.perform { [weak self] in self?.processPendingChanges() }
    case .takenIn(let changes):
      guard isOwn, !changes.isEmpty else { return }
      waitingLock.locked { waiting.saved.formUnion(changes) }
      processPendingChanges()
    case .ended(let list):
      guard isOwn, isFetched, request.includesPendingChanges else { return }
      waitingLock.locked {
        waiting.changed.formUnion(list.changes.lazy.map { $0.object })
        waiting.refreshed.formUnion(list.refreshed)
      }
      processPendingChanges()
    }
  }

  private func noteOwn(_ saved: ObjectIDNotification) {
    // Only the context's queue changes what is asked here.
    if saved.isEmpty, unsaved.isEmpty { return }
    waitingLock.locked {
      waiting.own.formUnion(saved)
      waiting.isOwnSave = true
    }
    processPendingChanges()
  }
}
