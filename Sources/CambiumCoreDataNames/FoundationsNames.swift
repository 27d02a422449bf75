// Core Data's names that swift-corelibs-foundation has given to classes of its own.
//
// A source file that imports Foundation, XCTest, or another module that re-exports Foundation, sees both declarations,
// and the compiler calls the name ambiguous. Where one of two declarations is visible by an import of that very
// declaration, and the other by the import of a whole module, the compiler takes the first. So these names live in a
// module of their own, and `CambiumCoreData` re-exports them one by one (`@_exported import typealias`). Whoever adds a
// name here adds the line there.

import Cambium

/// ``FetchPredicate``.
public typealias NSPredicate = FetchPredicate
/// ``FetchPredicate``, which may have parts.
public typealias NSCompoundPredicate = FetchPredicate
/// ``FetchPredicate``, which may compare two expressions.
public typealias NSComparisonPredicate = FetchPredicate
/// ``FetchExpression``.
public typealias NSExpression = FetchExpression
/// ``FetchSortDescriptor``.
public typealias NSSortDescriptor = FetchSortDescriptor

#if !canImport(Darwin)
  /// ``ContextUndoManager``. Foundation has no class of that name off Apple platforms yet.
  public typealias UndoManager = ContextUndoManager
#endif
