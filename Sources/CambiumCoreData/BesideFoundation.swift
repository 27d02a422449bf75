// What Foundation has on Apple platforms alone, and code for Core Data commonly uses with it.

@_spi(CoreData) import Cambium

#if !canImport(Darwin)
  /// Runs a block. There are no pools that could be emptied: an object goes with its last reference.
  public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }

  // UIKit and AppKit have these. A path without a place in a section has `NSNotFound` there.
  extension IndexPath {
    /// The path of a row in a section.
    public init(row: Int, section: Int) { self = [section, row] }
    /// The path of an item in a section.
    public init(item: Int, section: Int) { self = [section, item] }
    /// The section.
    public var section: Int {
      get { count > 0 ? self[0] : NSNotFound }
      set { self = [newValue, item] }
    }
    /// The place in the section.
    public var item: Int {
      get { count > 1 ? self[1] : NSNotFound }
      set { self = [section, newValue] }
    }
    /// The place in the section.
    public var row: Int {
      get { item }
      set { item = newValue }
    }
  }
#endif

extension ContextUndoManager {
  /// Undoes the last group, as ``ContextUndoManager/undo()`` does: groups within groups are undone with the outermost.
  public func undoNestedGroup() { undo() }
  /// The text of a menu's item: "Undo Move Flight".
  public var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
  /// The text of a menu's item: "Redo Move Flight".
  public var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }
  /// The title of a menu item that undoes an action.
  public func undoMenuTitle(forUndoActionName name: String) -> String { name.isEmpty ? "Undo" : "Undo \(name)" }
  /// The title of a menu item that redoes an action.
  public func redoMenuTitle(forUndoActionName name: String) -> String { name.isEmpty ? "Redo" : "Redo \(name)" }
}

extension FetchRequest {
  /// The type of the results, under the name that Core Data gives it.
  public typealias ResultType = Result
}

extension AsynchronousFetchRequest {
  /// The type of the results, under the name that Core Data gives it.
  public typealias ResultType = Result
}

extension AsynchronousFetchResult {
  /// The type of the results, under the name that Core Data gives it.
  public typealias ResultType = Result
}

extension FetchedResultsController {
  /// The type of the objects that the controller fetches, under the name that Core Data gives it.
  public typealias ResultType = Result
}
