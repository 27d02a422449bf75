import CambiumEngine

/// In which stores the objects are that a predicate names. In a predicate itself an object is its entity and row, which
/// are those of other objects in other stores. They are known for a predicate as a whole: one that names objects of two
/// stores with the same entity and row means both of them wherever it names one.
struct ObjectHomes: Hashable, Sendable {
  private var stores: [ObjectReference: Set<String>] = [:]

  /// Those of nothing.
  init() {}

  /// Those of the objects among some arguments: objects, identifiers, and arrays and sets of them.
  init(of arguments: some Sequence<Any?>) {
    for argument in arguments { add(argument, depth: 0) }
  }

  /// Those of the references among some values, all of one store.
  init(of values: some Sequence<Value>, in store: String) {
    for value in values { add(value, store, depth: 0) }
  }

  /// These and others.
  func merging(_ others: ObjectHomes) -> ObjectHomes {
    if stores.isEmpty { return others }
    if others.stores.isEmpty { return self }
    var result = self
    result.stores.merge(others.stores) { $0.union($1) }
    return result
  }

  /// The objects that are in other stores alone.
  func strangers(in store: String) -> Set<ObjectReference> {
    if stores.isEmpty { return [] }
    return Set(stores.lazy.filter { !$0.value.contains(store) }.map { $0.key })
  }

  private mutating func add(_ argument: Any?, depth: Int) {
    guard depth <= Schema.compositeDepthLimit, let argument = unwrapped(argument) else { return }
    switch argument {
    case let object as any ObjectIdentifying: add(object)
    case let list as [Any]: for element in list { add(element, depth: depth + 1) }
    case let set as Set<AnyHashable>: for element in set { add(element.base, depth: depth + 1) }
    default: break
    }
  }

  private mutating func add(_ object: any ObjectIdentifying) {
    // One that is not saved yet is none of any store's.
    let reference = object.reference
    if !reference.isTemporary { stores[reference, default: []].insert(object.storeIdentifier) }
  }

  private mutating func add(_ value: Value, _ store: String, depth: Int) {
    guard depth <= Schema.compositeDepthLimit else { return }
    switch value {
    case .reference(let reference) where !reference.isTemporary:
      stores[reference, default: []].insert(store)
    case .list(let values): for value in values { add(value, store, depth: depth + 1) }
    default: break
    }
  }
}
