import Cambium
import Foundation

/// What a controller told, without what comes before and after.
final class ToldResults: FetchedResultsControllerDelegate {
  private var lines: [String] = []
  var afterwards: (() -> Void)?
  var title: ((String) -> String?)?

  func take() -> [String] {
    defer { lines = [] }
    return lines
  }

  func controller<Result>(
    _ controller: FetchedResultsController<Result>, didChange sectionInfo: FetchedResultsSection<Result>,
    atSectionIndex sectionIndex: Int, for type: FetchedResultsChangeType
  ) {
    lines.append("section \(sectionIndex) \(type) \(sectionInfo.name)")
  }

  func controller<Result>(
    _ controller: FetchedResultsController<Result>, didChange anObject: Result, at indexPath: IndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    func text(_ path: IndexPath?) -> String { path.map { "\($0[0]).\($0[1])" } ?? "-" }
    lines.append("\(type) \(text(indexPath)) \(text(newIndexPath))")
  }

  func controllerDidChangeContent<Result>(_ controller: FetchedResultsController<Result>) { afterwards?() }

  func controller<Result>(
    _ controller: FetchedResultsController<Result>, sectionIndexTitleForSectionName sectionName: String
  ) -> String? {
    title.map { $0(sectionName) } ?? sectionName.first.map { $0.uppercased() }
  }
}

extension ManagedObjectContext {
  /// A controller of a request's results, which it has fetched, and what it tells from now on.
  func controller(
    _ request: FetchRequest<ManagedObject>, sections: String? = nil
  ) throws -> (FetchedResultsController<ManagedObject>, ToldResults) {
    let controller = FetchedResultsController(
      fetchRequest: request, managedObjectContext: self, sectionNameKeyPath: sections)
    try controller.performFetch()
    let told = ToldResults()
    controller.delegate = told
    return (controller, told)
  }
}
