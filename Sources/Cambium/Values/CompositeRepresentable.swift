/// A Swift type that stands for the values of a composite attribute. ``Composite()`` writes the conformance of a
/// structure. By hand:
///
///     struct ColorScheme: CompositeRepresentable {
///       var primary: String?, secondary: String?
///       init(primary: String?) { self.primary = primary }
///       init?(compositeValues values: [String: Any]) {
///         primary = values["primary"] as? String
///         secondary = values["secondary"] as? String
///       }
///       var compositeValues: [String: Any] { ["primary": primary as Any, "secondary": secondary as Any] }
///     }
///
///     aircraft.setComposite(ColorScheme(primary: "white"), forKey: "colorScheme")
///     let scheme = aircraft.composite(ColorScheme.self, forKey: "colorScheme")
///
/// A nested composite is a dictionary within the dictionary, or a `CompositeRepresentable` when writing.
///
/// Reading and writing by ``CompositeElements``, which have types, takes a fraction of the time that dictionaries of
/// `Any` take. Who has many composites adds that:
///
///     extension ColorScheme {
///       init?(compositeElements elements: CompositeElements) {
///         primary = elements["primary"]
///         secondary = elements["secondary"]
///       }
///       var compositeElements: CompositeElements? {
///         var elements = CompositeElements()
///         elements["primary"] = primary
///         elements["secondary"] = secondary
///         return elements
///       }
///     }
public protocol CompositeRepresentable: FetchComparable, ManagedValue {
  /// Reads the elements that have a value; `nil` to refuse them.
  init?(compositeValues: [String: Any])
  /// The elements to store. An element that is missing takes its default, and one that is `nil` is stored as null; a
  /// name that the composite does not have, or a value that its element cannot hold, is refused.
  var compositeValues: [String: Any] { get }
  /// Reads the elements; `nil` to refuse them. By default, from ``init(compositeValues:)``.
  init?(compositeElements elements: CompositeElements)
  /// The elements to store; `nil`, the default, to have ``compositeValues`` stored.
  var compositeElements: CompositeElements? { get }
}

extension CompositeRepresentable {
  /// Reads the elements by way of a dictionary.
  public init?(compositeElements elements: CompositeElements) { self.init(compositeValues: elements.dictionary) }

  /// Nothing, so that ``compositeValues`` is stored.
  public var compositeElements: CompositeElements? { nil }
}
