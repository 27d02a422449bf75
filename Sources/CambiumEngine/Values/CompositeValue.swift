/// The value of a composite attribute: its elements' names and values, in the order in which the model declares them.
///
/// An element that is absent is the same as one that is null. Values that come from callers may hold their elements in
/// any order; ``AttributeSchema/coerce(_:)`` brings them into the declared one.
public struct CompositeValue: Hashable, Sendable, ExpressibleByDictionaryLiteral {
  /// The elements' names; as many as ``values``.
  public private(set) var names: [String]
  /// The elements' values; as many as ``names``.
  public private(set) var values: [Value]

  /// A composite without elements.
  public init() { self.init(distinct: [], []) }

  /// A composite of names and values. Surplus names or values are dropped; of two equal names the first counts.
  public init(names: [String] = [], values: [Value] = []) {
    let count = min(names.count, values.count)
    self.names = Array(names.prefix(count))
    self.values = Array(values.prefix(count))
  }

  /// A composite of as many values as names, none twice.
  init(distinct names: [String], _ values: [Value]) {
    self.names = names
    self.values = values
  }

  /// A composite written as a dictionary, in the order as written.
  public init(dictionaryLiteral elements: (String, Value)...) {
    names = elements.map { $0.0 }
    values = elements.map { $0.1 }
  }

  /// The number of elements that are present.
  public var count: Int { names.count }

  /// The value of the element `name`; `nil` when it is absent. Setting `nil` removes it. O(number of elements).
  public subscript(name: String) -> Value? {
    get {
      for index in names.indices where names[index] == name { return values[index] }
      return nil
    }
    set {
      for index in names.indices where names[index] == name {
        if let newValue {
          values[index] = newValue
        } else {
          names.remove(at: index)
          values.remove(at: index)
        }
        return
      }
      if let newValue {
        if names.isEmpty {
          // As a rule, more follow. Room is had by literals: what the standard library has for it is not specialized
          // here, and asks the runtime each time what an array of these is, which takes longer than all the rest.
          (names, values) = (["", "", "", ""], [.null, .null, .null, .null])
          for _ in 0..<4 {
            names.removeLast()
            values.removeLast()
          }
        }
        names.append(name)
        values.append(newValue)
      }
    }
  }
}
