/// A Swift type that stands for the values of a composite attribute.
///
///     struct ColorScheme: CompositeRepresentable {
///       var primary: String?, secondary: String?
///       init?(compositeValues values: [String: Any]) {
///         primary = values["primary"] as? String
///         secondary = values["secondary"] as? String
///       }
///       var compositeValues: [String: Any] { ["primary": primary as Any, "secondary": secondary as Any] }
///     }
///
///     aircraft.setComposite(ColorScheme(...), forKey: "colorScheme")
///     let scheme = aircraft.composite(ColorScheme.self, forKey: "colorScheme")
///
/// A nested composite is a dictionary within the dictionary, or a `CompositeRepresentable` when writing.
public protocol CompositeRepresentable: FetchComparable, ManagedValue {
  /// Reads the elements that have a value; `nil` to refuse them.
  init?(compositeValues: [String: Any])
  /// The elements to store. What is missing or `nil` is stored as null; a name that the composite does not have, or a
  /// value that its element cannot hold, is refused.
  var compositeValues: [String: Any] { get }
}
