import Cambium
import Foundation

/// The rows of an observer, kept up to date.
final class LiveRows: @unchecked Sendable {
  // `@unchecked`: used at the place of the context alone. Other threads hold it weakly, to start jobs there.
  private let modelContext: ModelContext
  private let controller: FetchedResultsController<ModelRow>
  private let signal: ResultsSignal
  private let delegate: RowsDelegate
  private var watch: ForeignSaveWatch?
  private var historyGaps: Int

  /// Fetches the rows, and follows them.
  init(
    _ controller: FetchedResultsController<ModelRow>, _ modelContext: ModelContext, _ place: JobPlace,
    _ signal: ResultsSignal
  ) throws {
    (self.modelContext, self.controller, self.signal) = (modelContext, controller, signal)
    delegate = RowsDelegate(signal)
    historyGaps = modelContext.historyGaps
    let start = try modelContext.beginMergingForeignSaves()
    modelContext.processPendingChanges()
    controller.delegate = delegate
    // Other threads call this.
    let wake: @Sendable () -> Void = { [weak self] in
      // Where nothing runs blocks, the next reader takes the saves in.
      guard place.runsBlocks else { return signal.tell() }
      place.start { [self] in self?.takeIn() }
    }
    controller.newsHandler = wake
    try mappingErrors { try controller.performFetch() }
    watch = ForeignSaveWatch(modelContext.stores.coordinator, after: start, wake)
    modelContext.endEvents(at: place)
  }

  /// Takes in the unsaved changes of the context and the saves of others.
  func takeIn() {
    if watch?.takeFind() ?? false { modelContext.mergeForeignSaves() }
    modelContext.processPendingChanges()
    controller.processPendingChanges()
    guard historyGaps != modelContext.historyGaps else { return }
    historyGaps = modelContext.historyGaps
    do {
      try controller.performFetch()
      signal.tell()
    } catch {
      modelContext.managedObjectContext.note(error, losesChange: false)
    }
  }

  /// The rows, section after section.
  var all: [ModelRow] { controller.fetchedObjects ?? [] }
  /// The sections; a single one without a name, if the rows are not divided.
  var sections: [FetchedResultsSection<ModelRow>] { controller.sections }
  /// Returns the row at a section and a place in it.
  func row(at indexPath: IndexPath) -> ModelRow? { controller.object(at: indexPath) }
  /// Returns the section of a row and its place in it.
  func indexPath(of row: ModelRow) -> IndexPath? { controller.indexPath(forObject: row) }
}

/// Tells of changes of a controller's rows.
private final class RowsDelegate: FetchedResultsControllerDelegate {
  private let signal: ResultsSignal
  private var isOtherOrder = false

  init(_ signal: ResultsSignal) { self.signal = signal }

  func controllerWillChangeContent<Result>(_ controller: FetchedResultsController<Result>) { isOtherOrder = false }

  func controller<Result>(
    _ controller: FetchedResultsController<Result>, didChange sectionInfo: FetchedResultsSection<Result>,
    atSectionIndex sectionIndex: Int, for type: FetchedResultsChangeType
  ) {
    isOtherOrder = true
  }

  func controller<Result>(
    _ controller: FetchedResultsController<Result>, didChange anObject: Result, at indexPath: IndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    if type != .update { isOtherOrder = true }
  }

  func controllerDidChangeContent<Result>(_ controller: FetchedResultsController<Result>) {
    signal.tell(isInPlace: !isOtherOrder)
  }
}
