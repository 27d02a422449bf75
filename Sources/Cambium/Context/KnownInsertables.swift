/// The places of insertion that were used last, so that inserting many objects looks them up once.
///
/// Every insertion asks for them. They are a class because a method of a structure may copy the structure, and would
/// then retain its fields.
final class KnownInsertables {
  /// The place where objects of an entity are inserted, valid for one version of the coordinator's stores.
  final class Insertable {
    let entity: EntityDescription
    /// The entity's twin. See ``EntityDescription/init(twinFor:)``.
    let twin: EntityDescription
    let version: Int
    let home: ObjectHome
    /// The class of the objects. `nil` until one was inserted.
    var objectClass: ManagedObject.Type?

    /// - Parameter twin: The twin of the home.
    init(_ entity: EntityDescription, _ home: ObjectHome, _ twin: EntityDescription, version: Int) {
      (self.entity, self.home, self.twin, self.version) = (entity, home, twin, version)
    }
  }

  /// A reference that is held, and read without retaining its object.
  private struct Glanced<Instance: AnyObject> {
    private(set) var held: Instance?
    private(set) var glance: Unmanaged<Instance>?

    mutating func hold(_ instance: Instance) {
      held = instance
      glance = .passUnretained(instance)
    }
  }

  @exclusivity(unchecked) private var last = Glanced<Insertable>()
  /// The class that an initializer was called of last.
  @exclusivity(unchecked) private var lastClass: ManagedObject.Type?
  @exclusivity(unchecked) private var lastOfClass = Glanced<Insertable>()

  /// Returns the place of new objects of an entity, or of its twin, and of a class, if it was used last.
  @inline(__always)
  func place(
    of entity: EntityDescription, _ objectClass: ManagedObject.Type, version: Int
  ) -> Unmanaged<Insertable>? {
    last.glance?._withUnsafeGuaranteedRef { last in
      guard last.twin === entity || last.entity === entity, last.version == version, last.objectClass == objectClass
      else { return nil }
      return .passUnretained(last)
    }
  }

  /// Returns the place of new objects of an entity, if it was used last.
  func place(of entity: EntityDescription, version: Int) -> Insertable? {
    guard let held = last.held, held.entity === entity, held.version == version else { return nil }
    return held
  }

  /// Returns the twin that an initializer of a class made the last object with.
  @inline(__always)
  func twin(for objectClass: ManagedObject.Type, version: Int) -> EntityDescription? {
    guard lastClass == objectClass else { return nil }
    return lastOfClass.glance?._withUnsafeGuaranteedRef { $0.version == version ? $0.twin : nil } ?? nil
  }

  /// Notes the place that was used last.
  func note(_ place: Insertable) { last.hold(place) }

  /// Notes the place that an initializer of a class used last.
  func note(_ place: Insertable, for objectClass: ManagedObject.Type) {
    lastClass = objectClass
    lastOfClass.hold(place)
  }

  /// Forgets all places.
  func forget() { (last, lastClass, lastOfClass) = (Glanced(), nil, Glanced()) }
}
