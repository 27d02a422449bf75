import Foundation

/// Finds out what a key path leads through, by reading it from a model that notes what is read of it.
///
/// A property that is computed reads others as well. So the key path is read twice, of models with different values,
/// and has to give the values that were read last.
@usableFromInline final class PathProbe {
  private let round: Int
  private(set) var names: [String] = []
  /// What was read last, unless it was a relationship.
  private var lastValue: Any?

  private init(round: Int) { self.round = round }

  /// Notes that a relationship is read.
  func note(_ name: String) {
    names.append(name)
    lastValue = nil
  }

  /// Notes that an attribute is read, and gives it a value.
  func value<T>(_ name: String, _ placeholder: T) -> T {
    names.append(name)
    var value = placeholder
    if round > 0, let attribute = T.self as? any ModelAttribute.Type, let sample = attribute.sample as? T {
      value = sample
    }
    lastValue = value
    return value
  }

  /// A model that notes what is read of it, and whose destinations do so, too.
  static func model<M: PersistentModel>(_ type: M.Type, _ probe: PathProbe?) -> M {
    let model = ModelClass.of(type).makeNew(as: type)
    model._$row.probe = probe
    return model
  }

  /// Whether a key path leads from any model of a class to its identifier.
  static func isIdentifier(_ keyPath: AnyKeyPath, of modelClass: ModelClass) -> Bool {
    func isIdentifier<M: PersistentModel>(_ type: M.Type) -> Bool {
      guard let path = keyPath as? KeyPath<M, PersistentIdentifier> else { return false }
      let probe = PathProbe(round: 0)
      let model = model(type, probe)
      return model[keyPath: path] == model.persistentModelID && probe.names.isEmpty
    }
    return isIdentifier(modelClass.type)
  }

  /// The path that a key path stands for, such as `trip.name` or `address.city`. Nil if it leads through something that
  /// is not stored, such as a computed property.
  static func name(of keyPath: AnyKeyPath, from modelClass: ModelClass) -> String? {
    if let property = modelClass.byKeyPath[keyPath] { return property.name }
    // A property that is stored is known. So this one is computed, and its code is not for values that are made up.
    let components = components(of: keyPath)
    guard components.count > 1 else { return nil }
    func read<M: PersistentModel>(_ type: M.Type, round: Int) -> (probe: PathProbe, value: Any)? {
      guard let partial = keyPath as? PartialKeyPath<M> else { return nil }
      let probe = PathProbe(round: round)
      return (probe, PathProbe.model(type, probe)[keyPath: partial])
    }
    guard let first = read(modelClass.type, round: 0), let second = read(modelClass.type, round: 1),
      first.probe.names == second.probe.names, let last = first.probe.names.last
    else { return nil }
    var names = first.probe.names
    // What is behind the last property that was read is fields of its structure, which nothing notes.
    guard components.count >= names.count, let owner = destination(of: names.dropLast(), from: modelClass),
      let property = owner.byName[last]
    else { return nil }
    let fields = components.dropFirst(names.count)
    if fields.isEmpty {
      guard plainType(of: keyPath) == property.plainType else { return nil }
      let isRead = [first, second].allSatisfy { probe, value in isSame(value, probe.lastValue) }
      return isRead ? names.joined(separator: ".") : nil
    }
    guard case .attribute(var kind) = property.kind else { return nil }
    for field in fields {
      guard case .composite(let shape) = kind, let found = shape[field] else { return nil }
      names.append(field)
      kind = found.kind
    }
    return names.joined(separator: ".")
  }

  private static func plainType(of keyPath: AnyKeyPath) -> Any.Type {
    let type = type(of: keyPath).valueType
    return (type as? any OptionalType.Type)?.wrappedType ?? type
  }

  /// Whether what a key path gave is what was read last; true of values that cannot be compared.
  private static func isSame(_ value: Any, _ read: Any?) -> Bool {
    func plain(_ value: Any?) -> Any? {
      var current = value
      while let some = current, let optional = some as? any OptionalType { current = optional.wrappedValue }
      return current
    }
    guard let read = plain(read) as? AnyHashable else { return true }
    return plain(value) as? AnyHashable == read
  }

  private static func destination(of names: ArraySlice<String>, from modelClass: ModelClass) -> ModelClass? {
    var current = modelClass
    for name in names {
      guard let destination = current.byName[name]?.destination else { return nil }
      current = .of(destination)
    }
    return current
  }

  /// What a key path is made of, as Swift prints it: the names of stored properties, and a mark for each computed one.
  private static func components(of keyPath: AnyKeyPath) -> [String] {
    var text = Substring("\(keyPath)")
    let root = "\\\(type(of: keyPath).rootType)."
    if text.hasPrefix(root) { text = text.dropFirst(root.count) }
    var result: [String] = []
    var current = ""
    var depth = 0
    for character in text {
      switch character {
      case "<", "(": depth += 1
      case ">", ")": depth -= 1
      case "." where depth == 0:
        result.append(current)
        current = ""
        continue
      case "?", "!": if depth == 0 { continue }
      default: break
      }
      current.append(character)
    }
    if !current.isEmpty { result.append(current) }
    return result
  }
}
