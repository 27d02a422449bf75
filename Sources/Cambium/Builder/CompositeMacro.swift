/// Makes a structure stand for the values of a composite attribute: writes its ``CompositeRepresentable``.
///
///     @Composite struct GridPoint {
///       var latitude: Double
///       var longitude: Double
///       var name: String?
///       var accuracy = 10.0
///     }
///
/// The stored variables are the elements, by their names. Each has a type that an attribute may have
/// (``AttributeRepresentable``), or is a composite itself, or an optional of these. Where an element has no value, an
/// optional variable is `nil`, one with an initial value has that, and any other has its type's ``ManagedDefault``. If
/// its type has none, as an enumeration or a nested composite, the structure cannot be read, and the property that
/// holds it reads as no value.
///
/// Computed and `static` variables, and constants with an initial value, are no elements.
@attached(
  extension, conformances: CompositeRepresentable, names: named(init), named(compositeElements), named(compositeValues))
public macro Composite() = #externalMacro(module: "CambiumMacros", type: "CompositeMacro")

// The macro `@Composite` writes calls of these functions into the structures that it is attached to.
extension CompositeElements {
  /// An element that may have no value.
  public func element<T: AttributeRepresentable>(_ name: String) throws -> T? { self[name] }

  /// A composite within the composite that may have no value.
  public func element<C: CompositeRepresentable>(_ name: String) throws -> C? { self[name] }

  /// An element; its type's default if it has no value.
  public func element<T: AttributeRepresentable & ManagedDefault>(_ name: String) throws -> T {
    self[name] ?? T.managedDefault
  }

  /// An element of a type without default.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` if it has no value, or one that is none of the type's.
  @_disfavoredOverload public func element<T: AttributeRepresentable>(_ name: String) throws -> T {
    if let value: T = self[name] { return value }
    throw missing(name, "\(T.self)")
  }

  /// A composite within the composite.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` if it has no value, or its type refuses the elements.
  public func element<C: CompositeRepresentable>(_ name: String) throws -> C {
    if let value: C = self[name] { return value }
    throw missing(name, "\(C.self)")
  }

  /// Reads an element into a variable, which keeps its value if the element has none.
  public func read<T: AttributeRepresentable>(_ name: String, into variable: inout T) {
    if let value: T = self[name] { variable = value }
  }

  /// Reads an element that may have no value into a variable.
  public func read<T: AttributeRepresentable>(_ name: String, into variable: inout T?) { variable = self[name] }

  /// Reads a composite within the composite into a variable, which keeps its value if there is none.
  public func read<C: CompositeRepresentable>(_ name: String, into variable: inout C) {
    if let value: C = self[name] { variable = value }
  }

  /// Reads a composite within the composite that may have no value into a variable.
  public func read<C: CompositeRepresentable>(_ name: String, into variable: inout C?) { variable = self[name] }

  /// Ends the reading. It never throws; the declaration lets an expansion have one form, whatever its elements need.
  public func finish() throws {}

  private func missing(_ name: String, _ type: String) -> CambiumError {
    CambiumError(
      .invalidArgument,
      "the element '\(name)' has no value that is a \(type); make the variable optional, or give it an "
        + "initial value", key: name)
  }
}
