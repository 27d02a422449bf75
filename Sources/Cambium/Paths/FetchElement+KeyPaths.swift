// The properties that a subclass adds to those of a superclass with paths. The superclass's `Paths` do not have them,
// and a subclass cannot have others. Swift's own key paths lead to them, whose names `predicateKeyPaths` has.

extension PredicateKeyPaths {
  /// The name of a property in the model. A property without a name gives one that no entity has, so that the request
  /// throws.
  fileprivate static func name(of member: PartialKeyPath<Self>) -> String { predicateKeyPaths[member] ?? "\(member)" }
}

extension FetchElement where Element: PredicateKeyPaths {
  /// A property of the object that its class adds to those of its superclass.
  @_disfavoredOverload
  public subscript<Member>(
    dynamicMember member: KeyPath<Element, Member>
  ) -> FetchPath<Element, Member> {
    FetchPath(engine.appending(ManagedPath.of(member, Element.name(of: member)).engine))
  }

  /// A property of the object that its class adds, and that may have no value.
  @_disfavoredOverload
  public subscript<Member>(
    dynamicMember member: KeyPath<Element, Member?>
  ) -> FetchPath<Element, Member> {
    FetchPath(engine.appending(ManagedPath.of(member, Element.name(of: member)).engine))
  }

  /// A to-many relationship of the object that its class adds.
  @_disfavoredOverload
  public subscript<Member: ManagedObject>(
    dynamicMember member: KeyPath<Element, Set<Member>>
  ) -> FetchCollection<Element, Member> {
    FetchCollection(engine.appending(ManagedPath.of(member, Element.name(of: member)).engine))
  }

  /// An ordered to-many relationship of the object that its class adds.
  @_disfavoredOverload
  public subscript<Member: ManagedObject>(
    dynamicMember member: KeyPath<Element, [Member]>
  ) -> FetchCollection<Element, Member> {
    FetchCollection(engine.appending(ManagedPath.of(member, Element.name(of: member)).engine))
  }
}

extension FetchPath where Output: PredicateKeyPaths {
  /// A property that the class at the end of the path adds to those of its superclass.
  @_disfavoredOverload
  public subscript<Member>(
    dynamicMember member: KeyPath<Output, Member>
  ) -> FetchPath<Root, Member> {
    FetchPath<Root, Member>(engine.appending(ManagedPath.of(member, Output.name(of: member)).engine))
  }

  /// A property that the class at the end of the path adds, and that may have no value.
  @_disfavoredOverload
  public subscript<Member>(
    dynamicMember member: KeyPath<Output, Member?>
  ) -> FetchPath<Root, Member> {
    FetchPath<Root, Member>(engine.appending(ManagedPath.of(member, Output.name(of: member)).engine))
  }

  /// A to-many relationship that the class at the end of the path adds.
  @_disfavoredOverload
  public subscript<Member: ManagedObject>(
    dynamicMember member: KeyPath<Output, Set<Member>>
  ) -> FetchCollection<Root, Member> {
    FetchCollection<Root, Member>(engine.appending(ManagedPath.of(member, Output.name(of: member)).engine))
  }
}

extension FetchRequest where Result: FetchPaths & PredicateKeyPaths {
  /// Adds a condition on the class's properties to the predicate, those included that the class adds to a superclass
  /// with paths.
  @_disfavoredOverload @discardableResult
  public func filter(_ condition: (FetchElement<Result>) throws -> FetchPredicate) rethrows -> FetchRequest {
    let condition = try condition(FetchElement(engine: .evaluatedObject))
    predicate = predicate.map { $0 && condition } ?? condition
    return self
  }

  /// Adds keys to the order, those of properties included that the class adds to a superclass with paths.
  @_disfavoredOverload @discardableResult
  public func sort(_ keys: (FetchElement<Result>) throws -> [FetchSortDescriptor]) rethrows -> FetchRequest {
    sortDescriptors = (sortDescriptors ?? []) + (try keys(FetchElement(engine: .evaluatedObject)))
    return self
  }
}
