import Cambium
import Foundation

/// Makes orders of the object graph of Foundation's.
enum SortKey {
  /// The order of a sort descriptor.
  ///
  /// Texts without a comparator, and those with `.localizedStandard`, are ordered with upper and lower case alike and
  /// numbers by their value, and `.lexical` by scalars, so that all platforms agree.
  ///
  /// - Throws: ``SwiftDataError/unsupportedSortDescriptor``.
  static func of<M: PersistentModel>(_ descriptor: SortDescriptor<M>) throws -> FetchSortDescriptor {
    let modelClass = ModelClass.of(M.self)
    guard let keyPath = descriptor.keyPath else {
      throw refused(
        "an order by a comparator of one's own cannot be followed by a store; order by a key path", modelClass)
    }
    guard let path = PathProbe.name(of: keyPath, from: modelClass) else {
      throw refused("an order by \(keyPath) leads to nothing that is stored; order by stored properties", modelClass)
    }
    let isText = (type(of: keyPath).valueType as? any OptionalType.Type)?.wrappedType ?? type(of: keyPath).valueType
    var comparator = FetchSortComparator.binary
    if isText == String.self { comparator = descriptor.stringComparator == .lexical ? .binary : .natural }
    return FetchSortDescriptor(key: path, ascending: descriptor.order == .forward, comparator: comparator)
  }

  private static func refused(_ message: String, _ modelClass: ModelClass) -> SwiftDataError {
    SwiftDataError(.unsupportedSortDescriptor, "\(message) (\(modelClass.entityName))")
  }
}
