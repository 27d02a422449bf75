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
/// Use an observer where its context is used. Saves of others arrive as jobs of the main actor, of the model actor, or
/// of the actor that the initializer was called on. Without any of these, the observer takes them in when ``results``
/// is read, and unsaved changes too. Observation is told of saves at once, on the thread that saves or finds the save.
///
/// `SectionTitle` is `Never` without sections.
public final class ResultsObserver<Element: PersistentModel, SectionTitle: Hashable>: Observable {
  /// The context of the models.
  public let modelContext: ModelContext
  private let question = ObservationRegistrar()
  private let signal = ResultsSignal()
  private let place: JobPlace
  private let makeTitle: (Element?, PartialKeyPath<Element>, String) -> SectionTitle?
  private var rows: LiveRows
  private var descriptor: FetchDescriptor<Element>
  private var section: PartialKeyPath<Element>?

  /// - Parameter makeTitle: Returns the title of a section by its first model, the property, and the text of its value.
  init(
    _ descriptor: FetchDescriptor<Element>, _ section: PartialKeyPath<Element>?, _ modelContext: ModelContext,
    _ isolation: (any Actor)?, _ makeTitle: @escaping (Element?, PartialKeyPath<Element>, String) -> SectionTitle?
  ) throws {
    try modelContext.requireOpenStores()
    self.modelContext = modelContext
    self.descriptor = descriptor
    self.section = section
    self.makeTitle = makeTitle
    place = JobPlace(of: modelContext, isolation: isolation)
    rows = try LiveRows(try modelContext.resultsController(descriptor, section), modelContext, place, signal)
  }

  // MARK: The question

  /// The descriptor of the results.
  public var fetchDescriptor: FetchDescriptor<Element> {
    question.access(self, keyPath: \.fetchDescriptor)
    return descriptor
  }

  /// The condition on the models. Setting it fetches again.
  ///
  /// If the new condition has no translation, the results stay as they are, and the error goes to
  /// ``ModelContext/recordedErrors``. The next save does not throw it.
  public var filterBy: Foundation.Predicate<Element>? {
    get { fetchDescriptor.predicate }
    set { ask { $0.predicate = newValue } }
  }

  /// The order of the models, behind that of the sections. Setting it fetches again, as for ``filterBy``.
  public var sortBy: [SortDescriptor<Element>] {
    get { fetchDescriptor.sortBy }
    set { ask { $0.sortBy = newValue } }
  }

  /// The property whose values are the titles of the sections; `nil` without sections. Setting it fetches again, as for
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
      let found = try LiveRows(try modelContext.resultsController(changed, section), modelContext, place, signal)
      question.withMutation(of: self, keyPath: \.fetchDescriptor) { descriptor = changed }
      question.withMutation(of: self, keyPath: \.sectionBy) { self.section = section }
      rows = found
      signal.tell()
    } catch {
      modelContext.managedObjectContext.note(error, losesChange: false)
    }
  }

  // MARK: The results

  /// The models, in their order. With sections, those of the first section come first.
  ///
  /// Reading ends the context's present event, as ``ModelContext/processPendingChanges()`` does. O(number of results):
  /// keep the collection in a loop.
  public var results: FetchResultsCollection<Element> { modelContext.collection(of: present.all) }

  /// The models by sections, in the order of their first models; `nil` without sections, and if `SectionTitle` is
  /// `Never`.
  public var sections: SectionedResults<Element, SectionTitle>? {
    let present = present
    guard let section, SectionTitle.self != Never.self else { return nil }
    return SectionedResults(
      present.sections.compactMap { found in
        let models: FetchResultsCollection<Element> = modelContext.collection(of: found.objects)
        return makeTitle(models.first, section, found.name).map { ResultsSection(title: $0, elements: models) }
      })
  }

  /// Returns the model at a section and a place in it; `nil` if there is none. Without sections, the section is 0.
  public func element(at indexPath: IndexPath) -> Element? {
    present.row(at: indexPath).flatMap { modelContext.model(of: $0) as? Element }
  }

  /// Returns the section of a model and its place in it; `nil` if it is not one of the results. O(number of results).
  public func indexPath(for element: Element) -> IndexPath? { present.indexPath(of: element._$row) }

  /// The rows as they are now, read by a caller that Observation tracks.
  private var present: LiveRows {
    rows.takeIn()
    signal.access()
    return rows
  }

  /// The results as they are, and anew after each change of the results or of a model among them, until the observer is
  /// gone. A slow reader gets the newest results only. Each call returns a sequence of its own. SwiftData has no such
  /// property.
  public var values: ResultsSequence<Element> { ResultsSequence(signal.changes) { [weak self] in self?.results } }
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
    let valueType = type(of: section).valueType
    let plainType = (valueType as? any OptionalType.Type)?.wrappedType ?? valueType
    guard plainType is any ModelAttribute.Type || plainType is any RawRepresentable.Type,
      let path = PathProbe.name(of: section, from: .of(T.self))
    else {
      throw SwiftDataError(
        .unsupportedKeyPath,
        "sections cannot follow \(section), because it is not a stored attribute with a single value; use one of \(T.self)"
      )
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
