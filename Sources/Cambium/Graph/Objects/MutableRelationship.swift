import CambiumKernel

/// The destinations of a to-many relationship of an object, as they are at each moment: what is added or removed
/// changes the object, and the other side. Core Data: the sets of `mutableSetValue(forKey:)` and
/// `mutableOrderedSetValue(forKey:)`.
///
///     let crew = flight.mutableSetValue(forKey: "crew")
///     crew.add(pilot)
///     for pilot in crew { print(pilot) }
///
/// Where something cannot be read, nothing is there, and where it cannot be set, the next save throws why, as with
/// ``ManagedObject/value(forKey:)`` and ``ManagedObject/setValue(_:forKey:)``. Use
/// ``ManagedObject/add(_:toRelationship:)`` and its like for errors at once.
public struct MutableRelationship: Sequence {
  /// The object.
  public let owner: ManagedObject
  /// The name of the relationship.
  public let key: String

  /// The destinations, in order if the relationship is ordered. Each call reads them.
  public var objects: [ManagedObject] {
    switch owner.value(forKey: key) {
    case let list as [ManagedObject]: return list
    case let set as Set<ManagedObject>: return set.ordered { $0.objectID.reference < $1.objectID.reference }
    default: return []
    }
  }

  /// How many destinations there are. Builds no objects.
  public var count: Int { reading { try owner.count(ofRelationship: key) } ?? 0 }

  /// Whether there are none.
  public var isEmpty: Bool { count == 0 }

  /// Whether an object is among the destinations.
  public func contains(_ object: ManagedObject) -> Bool {
    reading { try owner.objectIDs(forRelationshipNamed: key).contains(object.objectID) } ?? false
  }

  /// Adds an object, at the end if the relationship is ordered.
  public func add(_ object: ManagedObject) { changing { try owner.add(object, toRelationship: key) } }

  /// Takes an object out.
  public func remove(_ object: ManagedObject) { changing { try owner.remove(object, fromRelationship: key) } }

  /// Adds several objects.
  public func formUnion(_ objects: some Sequence<some ManagedObject>) { for object in objects { add(object) } }

  /// Removes several objects.
  public func subtract(_ objects: some Sequence<some ManagedObject>) { for object in objects { remove(object) } }

  /// Removes all objects but the given ones.
  public func formIntersection(_ objects: some Sequence<some ManagedObject>) {
    let kept = Set(objects.map { $0 as ManagedObject })
    for object in self.objects where !kept.contains(object) { remove(object) }
  }

  /// Takes all out.
  public func removeAll() { changing { try owner.set([ManagedObject](), forKey: key) } }

  /// Puts an object at a place of an ordered relationship, also one that is in it already; at the end if there is no
  /// such place.
  public func insert(_ object: ManagedObject, at place: Int) {
    var list = objects
    list.removeAll { $0 === object }
    list.insert(object, at: Swift.min(Swift.max(place, 0), list.count))
    changing { try owner.set(list, forKey: key) }
  }

  /// The destinations as they are when the walk begins.
  public func makeIterator() -> IndexingIterator<[ManagedObject]> { objects.makeIterator() }

  private func reading<R>(_ body: () throws -> R) -> R? {
    do { return try body() } catch {
      owner.note(error, losesChange: false)
      return nil
    }
  }

  private func changing(_ body: () throws -> Void) {
    do { try body() } catch { owner.note(error, losesChange: true) }
  }
}

extension ManagedObject {
  /// The destinations of a to-many relationship, to be changed one by one. Core Data: `mutableSetValue(forKey:)`.
  public func mutableSetValue(forKey key: String) -> MutableRelationship { MutableRelationship(owner: self, key: key) }

  /// The destinations of an ordered to-many relationship, to be changed one by one. Core Data:
  /// `mutableOrderedSetValue(forKey:)`.
  public func mutableOrderedSetValue(forKey key: String) -> MutableRelationship {
    MutableRelationship(owner: self, key: key)
  }
}
