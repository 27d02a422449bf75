/// A part of a model that refuses changes once the model is in use.
protocol ModelPart: AnyObject {
  /// The model that has been taken into use with this part in it; `nil` until then.
  var modelInUse: ManagedObjectModel? { get }
}

extension ModelPart {
  /// Throws an error if the model is in use; `change` says what was to be changed.
  func checkMutable(_ change: String) throws {
    if let modelInUse { throw modelInUse.refusal(of: change) }
  }

  /// Whether the model may still be changed. If not, notes the attempt in ``ManagedObjectModel/refusedChanges``.
  func mayChange(_ change: String) -> Bool {
    guard let modelInUse else { return true }
    modelInUse.note(modelInUse.refusal(of: change))
    return false
  }
}

/// Storage of a model part's property: assignments after the model was taken into use are refused and noted in
/// ``ManagedObjectModel/refusedChanges``, since a Swift setter cannot throw.
@propertyWrapper
public struct ModelValue<Wrapped> {
  private var stored: Wrapped

  /// Starts with a value.
  public init(wrappedValue: Wrapped) { stored = wrappedValue }

  /// Not used: the wrapper works in classes that are parts of models only.
  @available(*, unavailable, message: "only for parts of a model")
  public var wrappedValue: Wrapped {
    get { stored }
    set { stored = newValue }
  }

  /// Reads and writes the value of an instance.
  public static subscript<Owner: AnyObject>(
    _enclosingInstance owner: Owner, wrapped wrapped: ReferenceWritableKeyPath<Owner, Wrapped>,
    storage storage: ReferenceWritableKeyPath<Owner, ModelValue<Wrapped>>
  ) -> Wrapped {
    get { owner[keyPath: storage].stored }
    set {
      if let part = owner as? any ModelPart, !part.mayChange("\(Owner.self)") { return }
      owner[keyPath: storage].stored = newValue
    }
  }
}
