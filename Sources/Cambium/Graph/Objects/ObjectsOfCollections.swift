/// The objects of a collection of any kind, in its order; those of a set by their identifiers. `nil` if the value is no
/// collection, or has other elements.
func managedObjects(in value: Any) -> [ManagedObject]? {
  if let objects = value as? [ManagedObject] { return objects }
  if let objects = value as? Set<ManagedObject> {
    return objects.ordered { $0.objectID.reference < $1.objectID.reference }
  }
  // Collections that are classes: `NSOrderedSet`. The runtime casts the others of Foundation.
  guard type(of: value) is AnyClass, let elements = value as? any Sequence else { return nil }
  var objects: [ManagedObject] = []
  for element in elements {
    guard let object = element as? ManagedObject else { return nil }
    objects.append(object)
  }
  return objects
}
