import Synchronization

/// What reads and writes values of types, one for each type.
enum ValueCodings {
  private struct Known: @unchecked Sendable {
    // `@unchecked`: what is held is `ValueCoding`s, of which nothing changes.
    var codings: [ObjectIdentifier: AnyObject] = [:]
  }

  private static let known = Mutex(Known())

  /// How values of a type are read and written.
  static func coding<T: Codable>(for type: T.Type) -> ValueCoding<T> {
    let id = ObjectIdentifier(type)
    if let coding = known.withLock({ $0.codings[id] }) { return unsafeDowncast(coding, to: ValueCoding<T>.self) }
    let coding = ValueCoding<T>(isCoded: false)
    known.withLock { $0.codings[id] = coding }
    return coding
  }

  /// The same, for a type that is known at run time only, and the options of an attribute.
  static func coding(forAny type: any Codable.Type, options: [Schema.Attribute.Option]) -> AnyObject {
    func make<T: Codable>(_ type: T.Type) -> AnyObject {
      options.contains(where: { $0.kind == .codable }) ? ValueCoding<T>(isCoded: true) : coding(for: type)
    }
    return make(type)
  }
}

extension ValueKinds {
  /// How values of an attribute are stored.
  static func kind(of type: Any.Type, options: [Schema.Attribute.Option]) -> ValueKind {
    for option in options {
      if case .transformable(let name) = option.kind { return .transformed(name) }
      if option.kind == .codable, type is any Codable.Type { return .coded }
    }
    return kind(of: type)
  }
}
