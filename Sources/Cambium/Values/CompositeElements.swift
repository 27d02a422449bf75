import CambiumEngine

/// The elements of a composite attribute, by name. Those that are not there read as null. When the composite is set,
/// they take their defaults; see ``CompositeAttributeDescription``.
public struct CompositeElements: Sendable {
  /// The row that they are still in, which was looked at: reading it does not fail. It keeps what ``borrowed`` leads
  /// to.
  private var row: Row?
  /// The same, to be read without counting references.
  private var borrowed: (row: BorrowedRow, key: PropertyKey)?
  /// The elements, unless they are in a row.
  private var own: CompositeValue
  /// What identifiers among the elements belong to.
  private let space: (any ReferenceSpace)?
  /// Whether an element was set that there is no value for.
  private(set) var isUnstorable = false

  /// No elements.
  public init() {
    // Without room: the first element that is set makes room for some, which costs less than to reserve it here.
    self.init(CompositeValue(), nil)
  }

  /// Makes the elements of a dictionary, such as ``CompositeRepresentable/compositeValues``; `nil` if one of its values
  /// cannot be stored.
  public init?(_ values: [String: Any]) {
    guard case .composite(let value)? = Value(foundation: values) else { return nil }
    self.init(value, nil)
  }

  init(_ value: CompositeValue, _ space: (any ReferenceSpace)?) {
    own = value
    self.space = space
  }

  /// The elements of a row's composite attribute, which has a value.
  init(_ row: Row, _ key: PropertyKey, _ space: any ReferenceSpace) {
    self.row = row
    borrowed = (BorrowedRow(row), key)
    own = CompositeValue()
    self.space = space
  }

  /// All elements.
  @usableFromInline var value: CompositeValue {
    get {
      guard let row, let borrowed else { return own }
      guard case .composite(let value)? = try? row.value(borrowed.key) else { return CompositeValue() }
      return value
    }
    _modify {
      // In place: to set elements one by one must not copy those before each time.
      if row != nil { takeOut() }
      yield &own
    }
  }

  /// Takes the elements out of the row.
  @inline(never)
  private mutating func takeOut() {
    own = value
    row = nil
    borrowed = nil
  }

  /// An element of elements, all of them texts, that are still in their row; nil if they are not.
  @usableFromInline
  package func string(_ name: String) -> String?? {
    guard let borrowed else { return nil }
    defer { withExtendedLifetime(self) {} }
    return (try? borrowed.row.string(borrowed.key, element: name)) ?? nil
  }

  /// An element; `nil` if it is null, or of another kind. O(number of elements).
  public subscript<T: AttributeRepresentable>(name: String) -> T? {
    @inlinable get {
      // What is cast is of the very type.
      if T.self == String.self, let found = string(name) { return unsafeBitCast(found, to: T?.self) }
      return value[name].flatMap { T(attributeValue: $0) }
    }
    @inlinable set { value[name] = newValue?.attributeValue ?? .null }
  }

  /// An element that is a composite itself; `nil` if it is null, or the type refuses its elements. O(number of
  /// elements).
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
  public var dictionary: [String: Any] {
    var result: [String: Any] = [:]
    for (name, element) in zip(value.names, value.values) {
      if let any = element.foundation(type: .undefined, objects: space) { result[name] = any }
    }
    return result
  }
}
