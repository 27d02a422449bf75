import Cambium
import Foundation
import Observation

/// The models that a descriptor describes, kept up to date, for code outside of views. SwiftData: `ResultsObserver`.
///
///     let observer = try ResultsObserver<Trip, Never>(
///       filterBy: #Predicate { $0.isOpen }, sortBy: [SortDescriptor(\.name)], modelContext: container.mainContext)
///     withObservationTracking { show(observer.results) } onChange: { … }
///     for await trips in observer.values { show(trips) }
///
/// The results follow the unsaved changes of the observer's context, the saves of other contexts of the container,
/// and those of other processes and containers on the same stores. Observation is told when a model comes, goes or
/// changes its place. A changed value of a model that keeps its place is told by the model itself.
///
/// Use an observer where its context is used. Saves of others arrive as jobs of the main actor, of the model actor,
/// or of the actor that the initializer was called on. Without any of these, the observer takes them in when
/// ``results`` is read; Observation is told at once, on the thread that saves.
///
/// `SectionTitle` is `Never` without sections.
public final class ResultsObserver<Element: PersistentModel, SectionTitle: Hashable>: Observable {
  /// The context of the models.
  public let modelContext: ModelContext
  private let question = ObservationRegistrar()
  private let signal = ResultsSignal()
  private let place: JobPlace
  private let follower: ContextFollower
  private let makeTitle: (ModelRow?, String) -> SectionTitle?
  private var controller: FetchedResultsController<ModelRow>
  private var delegate: ResultsDelegate?
  private var descriptor: FetchDescriptor<Element>
  private var section: PartialKeyPath<Element>?

  /// - Parameter makeTitle: Returns the title of a section by its first row and the text of its value.
  init(
    _ descriptor: FetchDescriptor<Element>, _ section: PartialKeyPath<Element>?, _ modelContext: ModelContext,
    _ isolation: (any Actor)?, _ makeTitle: @escaping (ModelRow?, String) -> SectionTitle?
  ) throws {
    self.modelContext = modelContext
    self.descriptor = descriptor
    self.section = section
    self.makeTitle = makeTitle
    place = JobPlace(of: modelContext, isolation: isolation)
    controller = try modelContext.resultsController(descriptor, section)
    follower = ContextFollower.follower(of: modelContext, place: place)
    try begin(controller)
  }

  // MARK: The question

  /// The descriptor of the results.
  public var fetchDescriptor: FetchDescriptor<Element> {
    question.access(self, keyPath: \.fetchDescriptor)
    return descriptor
  }

  /// The condition on the models. To set it fetches anew.
  ///
  /// If the new condition has no translation, the results stay as they are, and the context records the error.
  public var filterBy: Foundation.Predicate<Element>? {
    get { fetchDescriptor.predicate }
    set { ask { $0.predicate = newValue } }
  }

  /// The order of the models, behind that of the sections. To set it fetches anew, as for ``filterBy``.
  public var sortBy: [SortDescriptor<Element>] {
    get { fetchDescriptor.sortBy }
    set { ask { $0.sortBy = newValue } }
  }

  /// The property whose values are the titles of the sections; `nil` without sections. To set it fetches anew, as for
  /// ``filterBy``.
  public var sectionBy: PartialKeyPath<Element>? {
    get {
      question.access(self, keyPath: \.sectionBy)
      return section
    }
    set { ask(section: newValue) { _ in } }
  }

  private func ask(_ change: (inout FetchDescriptor<Element>) -> Void) { ask(section: section, change) }

  private func ask(section: PartialKeyPath<Element>?, _ change: (inout FetchDescriptor<Element>) -> Void) {
    var changed = descriptor
    change(&changed)
    do {
      let controller = try modelContext.resultsController(changed, section)
      try begin(controller)
      question.withMutation(of: self, keyPath: \.fetchDescriptor) { descriptor = changed }
      question.withMutation(of: self, keyPath: \.sectionBy) { self.section = section }
      self.controller = controller
      signal.tell()
    } catch {
      modelContext.managedObjectContext.note(error, losesChange: false)
    }
  }

  private func begin(_ controller: FetchedResultsController<ModelRow>) throws {
    let delegate = ResultsDelegate(signal)
    controller.delegate = delegate
    let (place, signal) = (place, signal)
    controller.newsHandler = { [weak controller] in
      // Where nothing runs blocks, the next reader takes the news in.
      guard place.runsBlocks else { return signal.tell() }
      place.start { [controller] in controller?.processPendingChanges() }
    }
    try mappingErrors { try controller.performFetch() }
    self.delegate = delegate
  }

  private func takeIn() {
    follower.takeIn()
    controller.processPendingChanges()
  }

  // MARK: The results

  /// The models, in their order. With sections, those of the first section come first.
  public var results: FetchResultsCollection<Element> {
    takeIn()
    signal.access()
    return modelContext.collection(of: controller.fetchedObjects ?? [])
  }

  /// The models by sections, each of which stands where its first model is; `nil` without sections.
  public var sections: SectionedResults<Element, SectionTitle>? {
    takeIn()
    signal.access()
    guard section != nil else { return nil }
    return SectionedResults(
      controller.sections.compactMap { section in
        makeTitle(section.objects.first, section.name).map {
          ResultsSection(title: $0, elements: modelContext.collection(of: section.objects))
        }
      })
  }

  /// Returns the model at a section and a place in it; `nil` if there is none. Without sections, the section is 0.
  public func element(at indexPath: IndexPath) -> Element? {
    takeIn()
    return controller.object(at: indexPath).flatMap { modelContext.model(of: $0) as? Element }
  }

  /// Returns the section of a model and its place in it; `nil` if it is not one of the results. O(number of results).
  public func indexPath(for element: Element) -> IndexPath? {
    takeIn()
    return controller.indexPath(forObject: element._$row)
  }

  /// The results as they are, and anew after each change of the results or of a model among them, until the observer
  /// is gone. A slow reader gets the newest results only. Each call returns a sequence of its own. SwiftData has no such
  /// property.
  public var values: ResultsSequence<Element> { ResultsSequence(signal.changes) { [weak self] in self?.results } }
}

/// Tells of changes of a controller's results.
private final class ResultsDelegate: FetchedResultsControllerDelegate {
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

extension ModelContext {
  /// Returns a controller of the rows that a descriptor describes. The order of sections comes before the descriptor's.
  fileprivate func resultsController<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>, _ section: PartialKeyPath<T>?
  ) throws -> FetchedResultsController<ModelRow> {
    let request: FetchRequest<ModelRow> = try request(descriptor)
    guard let section else {
      return FetchedResultsController(fetchRequest: request, managedObjectContext: managedObjectContext)
    }
    guard let path = PathProbe.name(of: section, from: .of(T.self)) else {
      throw SwiftDataError(
        .unsupportedKeyPath,
        "sections cannot follow \(section), because it is not stored; use a stored property of \(T.self)")
    }
    request.sortDescriptors = [FetchSortDescriptor(key: path)] + (request.sortDescriptors ?? [])
    return FetchedResultsController(
      fetchRequest: request, managedObjectContext: managedObjectContext, sectionNameKeyPath: path)
  }

  /// Returns the models of rows, which are made as they are asked for.
  fileprivate func collection<T: PersistentModel>(of rows: [ModelRow]) -> FetchResultsCollection<T> {
    FetchResultsCollection(count: rows.count) { [self] place in
      model(of: rows[place]) as? T ?? ModelClass.of(T.self).makeNew(as: T.self)
    }
  }
}
