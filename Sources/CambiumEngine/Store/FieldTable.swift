import Synchronization

/// The fields of one entity that were looked up, by their key paths: they are the same for all stores that share the
/// plan, and an application looks the same ones up whenever it opens a store.
final class FieldTable: @unchecked Sendable {
  // Unchecked, since the compiler does not see what the words are: each is 0 until it becomes a reference, which the
  // table then owns.

  private let names: NameIndex
  private let words: UnsafeMutablePointer<Atomic<UInt>>
  private let count: Int

  /// Paths beyond that many are not kept: composites may have tens of thousands.
  private static let mostPaths = 512

  init(_ layout: EntityLayout) {
    var paths: [(name: String, number: Int)] = []
    func note(_ path: String, _ elements: [AttributeSchema]) {
      guard paths.count < Self.mostPaths else { return }
      paths.append((path, paths.count))
      // The depth is bounded by the schema.
      for element in elements { note(path + "." + element.name, element.elements) }
    }
    for attribute in layout.entity.allAttributes { note(attribute.name, attribute.elements) }
    for relationship in layout.entity.allRelationships { note(relationship.name, []) }
    names = NameIndex(paths)
    count = paths.count
    words = .allocate(capacity: max(1, count))
    for i in 0..<count { (words + i).initialize(to: Atomic(0)) }
  }

  deinit {
    for i in 0..<count {
      if let field = UnsafeRawPointer(bitPattern: words[i].load(ordering: .acquiring)) {
        Unmanaged<RowField>.fromOpaque(field).release()
      }
    }
    words.deinitialize(count: count)
    words.deallocate()
  }

  /// The field of a path; what `make` answers, if it is asked for for the first time.
  func field(_ path: String, _ make: () throws(EngineError) -> RowField) throws(EngineError) -> RowField {
    if let kept = try kept(path, make) { return kept }
    return try make()
  }

  /// The field of a path that is kept; nil for other paths, such as one that leaves the row.
  func kept(_ path: String, _ make: () throws(EngineError) -> RowField) throws(EngineError) -> RowField? {
    guard let place = names[path] else { return nil }
    if let known = UnsafeRawPointer(bitPattern: words[place].load(ordering: .acquiring)) {
      return Unmanaged<RowField>.fromOpaque(known).takeUnretainedValue()
    }
    let made = try make()
    let reference = Unmanaged.passRetained(made)
    let outcome = words[place].compareExchange(
      expected: 0, desired: UInt(bitPattern: reference.toOpaque()), ordering: .acquiringAndReleasing)
    // Another thread may have been faster; its field is as good.
    if !outcome.exchanged { reference.release() }
    return made
  }
}
