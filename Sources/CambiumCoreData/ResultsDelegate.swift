// The delegate of a results controller, as Core Data's code declares it: for controllers of any class of objects.

@_spi(CoreData) import Cambium

/// A section of results: a ``FetchedResultsSection``, whatever its objects are.
public protocol NSFetchedResultsSectionInfo {
  /// What the objects of the section have in common.
  var name: String { get }
  /// The first character of the name, as a capital letter; what a delegate says instead, only the controller knows.
  var indexTitle: String? { get }
  /// The number of objects.
  var numberOfObjects: Int { get }
  /// The objects.
  var objects: [Any]? { get }
}

extension NSFetchedResultsSectionInfo {
  /// The first character of the name, as a capital letter.
  public var indexTitle: String? { name.first.map { $0.uppercased() } }
}

extension FetchedResultsSection: NSFetchedResultsSectionInfo {
  /// The objects, in their order, as Core Data's sections have them; never `nil`.
  public var objects: [Any]? { ownObjects }
}

/// Is told how the results of a controller change, as in Core Data. The controller that it is given has the new
/// results; it is the one that tells if that is one of `NSManagedObject`, and otherwise one of the same results that is
/// good for this call.
public protocol NSFetchedResultsControllerDelegate: FetchedResultsControllerDelegate {
  /// The results are about to be told anew.
  func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>)
  /// A section was inserted or deleted.
  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType)
  /// An object changed.
  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
    for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)
  /// Everything was told.
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>)
  /// The title of a section in the index beside a list.
  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, sectionIndexTitleForSectionName sectionName: String
  ) -> String?
}

extension NSFetchedResultsControllerDelegate {
  /// Does nothing.
  public func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {}
  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {}
  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
    for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}
  /// Does nothing.
  public func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {}

  /// The first character of the name, as a capital letter.
  public func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, sectionIndexTitleForSectionName sectionName: String
  ) -> String? {
    sectionName.first.map { $0.uppercased() }
  }

  // What the controller calls leads to these.

  /// Tells ``controllerWillChangeContent(_:)-(NSFetchedResultsController<NSFetchRequestResult>)``.
  public func controllerWillChangeContent<Result>(_ controller: FetchedResultsController<Result>) {
    controllerWillChangeContent(controller.ofAnyObjects())
  }

  /// Tells what Core Data's delegates are told.
  public func controller<Result>(
    _ controller: FetchedResultsController<Result>, didChange sectionInfo: FetchedResultsSection<Result>,
    atSectionIndex sectionIndex: Int, for type: FetchedResultsChangeType
  ) {
    self.controller(
      controller.ofAnyObjects(), didChange: sectionInfo as any NSFetchedResultsSectionInfo,
      atSectionIndex: sectionIndex, for: type)
  }

  /// Tells what Core Data's delegates are told.
  public func controller<Result>(
    _ controller: FetchedResultsController<Result>, didChange anObject: Result, at indexPath: IndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    self.controller(
      controller.ofAnyObjects(), didChange: anObject as Any, at: indexPath, for: type, newIndexPath: newIndexPath)
  }

  /// Asks what Core Data's delegates are asked.
  public func controller<Result>(
    _ controller: FetchedResultsController<Result>, sectionIndexTitleForSectionName sectionName: String
  ) -> String? {
    self.controller(controller.ofAnyObjects(), sectionIndexTitleForSectionName: sectionName)
  }

  /// Tells ``controllerDidChangeContent(_:)-(NSFetchedResultsController<NSFetchRequestResult>)``.
  public func controllerDidChangeContent<Result>(_ controller: FetchedResultsController<Result>) {
    controllerDidChangeContent(controller.ofAnyObjects())
  }
}
