extension ManagedObject: FetchRequestResult {}

extension FetchRequest {
  /// A request for the same objects, whatever class they are of.
  public func ofAnyObjects() -> FetchRequest<ManagedObject> where Result: ManagedObject {
    let copy = FetchRequest<ManagedObject>()
    fill(copy)
    return copy
  }
}
