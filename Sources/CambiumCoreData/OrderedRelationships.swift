// What `NSMutableOrderedSet` has. A place that there is not is passed over, where Foundation raises.
extension MutableRelationship {
  /// Where an object is; `NSNotFound` if it is not there.
  public func index(of object: Any) -> Int {
    objects.firstIndex { $0 === object as? ManagedObject } ?? NSNotFound
  }

  /// The first object; `nil` if there is none.
  public var firstObject: Any? { objects.first }

  /// The last object; `nil` if there is none.
  public var lastObject: Any? { objects.last }

  /// Takes the object at a place out.
  public func removeObject(at index: Int) { removeObjects(at: [index]) }

  /// Takes the objects at some places out.
  public func removeObjects(at indexes: IndexSet) {
    change { list in list = list.enumerated().filter { !indexes.contains($0.offset) }.map { $0.element } }
  }

  /// Puts another object in the place of one.
  public func replaceObject(at index: Int, with object: Any) {
    guard let object = object as? ManagedObject else { return }
    change { if $0.indices.contains(index) { $0[index] = object } }
  }

  /// Has two objects change their places.
  public func exchangeObject(at index: Int, withObjectAt other: Int) {
    change { if $0.indices.contains(index), $0.indices.contains(other) { $0.swapAt(index, other) } }
  }

  /// Moves the objects at some places, in their order, to where the first of them is at a place afterwards.
  public func moveObjects(at indexes: IndexSet, to index: Int) {
    change { list in
      let moved = indexes.filter { list.indices.contains($0) }.map { list[$0] }
      var rest = list.enumerated().filter { !indexes.contains($0.offset) }.map { $0.element }
      rest.insert(contentsOf: moved, at: Swift.min(Swift.max(index, 0), rest.count))
      list = rest
    }
  }

  private func change(_ body: (inout [ManagedObject]) -> Void) {
    var list = objects
    body(&list)
    owner.setValue(list, forKey: key)
  }
}
