/// Makes the objects of rows of one entity. Whoever has objects made keeps the twin, and the twin keeps the
/// home, so that no reference is counted for each object.
struct ObjectBirth {
  let objectClass: ManagedObject.Type
  let home: Unmanaged<ObjectHome>
  let twin: Unmanaged<EntityDescription>

  /// - Parameter twin: That of the home.
  @inline(__always)
  init(_ objectClass: ManagedObject.Type, _ home: ObjectHome, _ twin: EntityDescription) {
    self.objectClass = objectClass
    self.home = .passUnretained(home)
    self.twin = .passUnretained(twin)
  }

  @inline(__always)
  func withHome<R>(_ body: (ObjectHome) -> R) -> R { home._withUnsafeGuaranteedRef(body) }

  /// Makes an object, which belongs to no context yet.
  @inline(__always)
  func object() -> ManagedObject { objectClass.init(entity: twin.retain().takeRetainedValue(), insertInto: nil) }
}
