import CambiumEngine

/// The elements of a composite attribute, by name; those that are not there are null.
public struct CompositeElements: Sendable {
  @usableFromInline var value: CompositeValue
  /// What identifiers among the elements belong to.
  private let space: StoreSpace?
  /// Whether an element was set that there is no value for.
  private(set) var isUnstorable = false

  /// No elements.
  public init() {
    value = CompositeValue(names: [], values: [])
    space = nil
  }

  init(_ value: CompositeValue, _ space: StoreSpace?) {
    self.value = value
    self.space = space
  }

  /// An element; `nil` if it is null, or of another kind. O(number of elements).
  public subscript<T: AttributeRepresentable>(name: String) -> T? {
    @inlinable get { value[name].flatMap { T(attributeValue: $0) } }
    @inlinable set { value[name] = newValue?.attributeValue ?? .null }
  }

  /// An element that is a composite itself; `nil` if it is null, or the type refuses its elements. O(number of elements).
  public subscript<C: CompositeRepresentable>(name: String) -> C? {
    get {
      guard case .composite(let inner)? = value[name] else { return nil }
      return C(compositeElements: CompositeElements(inner, space))
    }
    set {
      guard let newValue else {
        value[name] = .null
        return
      }
      let elements = newValue.compositeElements
      if let elements, !elements.isUnstorable {
        value[name] = .composite(elements.value)
      } else if let inner = Value(foundation: newValue.compositeValues) {
        value[name] = inner
      } else {
        isUnstorable = true
      }
    }
  }

  /// The elements that have a value, as ``ManagedObject/value(forKey:)`` gives them.
  var dictionary: [String: Any] {
    var result: [String: Any] = [:]
    for (name, element) in zip(value.names, value.values) {
      if let any = element.foundation(type: .undefined, objects: space) { result[name] = any }
    }
    return result
  }
}
