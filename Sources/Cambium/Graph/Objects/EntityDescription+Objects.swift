extension EntityDescription {
  /// The class of the objects. If it is `nil`, it is looked up by ``managedObjectClassName``
  /// (``ManagedObjectModel/classModules``). If there is none of that name, each coordinator fixes the class when it is
  /// used first: a subclass by
  /// ``ManagedObject/init(context:)``, a typed fetch, or a ``Managed()`` property that leads to an object, and
  /// ``ManagedObject`` when an object is made otherwise. The class stays the same from then on, and another one is
  /// refused with ``CambiumError/Code/invalidArgument``. For example, a fetch of `ManagedObject` before
  /// `Plane(context:)` makes the latter fail: name the class here.
  public var managedObjectClass: ManagedObject.Type? {
    get { objectClass as? ManagedObject.Type }
    set { objectClass = newValue }
  }
}
