import CambiumEngine

/// The elements of a composite attribute, by name; those that are not there are null.
public struct CompositeElements: Sendable {
  private enum Source {
    case none
    /// Still in a row, which was looked at: reading it does not fail.
    case row(Row, PropertyKey)
    case value(CompositeValue)
  }

  private var source = Source.none {
    didSet { borrowed = nil }
  }
  /// The row of ``source``, which keeps it, to be read without counting references.
  private var borrowed: (row: BorrowedRow, key: PropertyKey)?
  /// What identifiers among the elements belong to.
  private let space: StoreSpace?
  /// Whether an element was set that there is no value for.
  private(set) var isUnstorable = false

  private static let nothing = CompositeValue(names: [], values: [])

  /// No elements.
  public init() { space = nil }

  init(_ value: CompositeValue, _ space: StoreSpace?) {
    source = .value(value)
    self.space = space
  }

  /// The elements of a row's composite attribute, which has a value.
  init(_ row: Row, _ key: PropertyKey, _ space: StoreSpace) {
    source = .row(row, key)
    borrowed = (BorrowedRow(row), key)
    self.space = space
  }

  /// All elements.
  @usableFromInline var value: CompositeValue {
    get {
      switch source {
      case .none: return Self.nothing
      case .value(let value): return value
      case .row(let row, let key):
        guard case .composite(let value)? = try? row.value(key) else { return Self.nothing }
        return value
      }
    }
    _modify {
      // In place: to set elements one by one must not copy those before each time.
      var value = value
      source = .none
      defer { source = .value(value) }
      yield &value
    }
  }

  @usableFromInline
  func string(_ name: String) -> String?? {
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
