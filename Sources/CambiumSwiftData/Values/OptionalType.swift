/// An optional of any type.
protocol OptionalType {
  static var wrappedType: Any.Type { get }
  var wrappedValue: Any? { get }
  /// `nil`, as a value of the type.
  static var noValue: Any { get }
}

extension Optional: OptionalType {
  static var wrappedType: Any.Type { Wrapped.self }
  var wrappedValue: Any? { map { $0 as Any } }
  static var noValue: Any { Self(nilLiteral: ()) as Any }
}
