import Foundation

/// Finds out what a key path leads through, by reading it from a model that notes what is read of it.
@usableFromInline final class PathProbe {
  private(set) var names: [String] = []

  func note(_ name: String) { names.append(name) }

  /// A model that notes what is read of it, and whose destinations do so, too.
  static func model<M: PersistentModel>(_ type: M.Type, _ probe: PathProbe?) -> M {
    let model = ModelClass.of(type).makeNew(as: type)
    model._$row.probe = probe
    return model
  }

  /// The path that a key path stands for, such as `trip.name` or `address.city`. Nil if it leads through something that is
  /// not stored, such as a computed property.
  static func name(of keyPath: AnyKeyPath, from modelClass: ModelClass) -> String? {
    if let property = modelClass.byKeyPath[keyPath] { return property.name }
    func read<M: PersistentModel>(_ type: M.Type) -> [String]? {
      guard let partial = keyPath as? PartialKeyPath<M> else { return nil }
      let probe = PathProbe()
      _ = PathProbe.model(type, probe)[keyPath: partial]
      return probe.names
    }
    guard var names = read(modelClass.type), let last = names.last else { return nil }
    // What is behind the last property that was read is fields of its structure, which nothing notes.
    let components = components(of: keyPath)
    guard components.count >= names.count, let owner = destination(of: names.dropLast(), from: modelClass),
      let property = owner.byName[last]
    else { return nil }
    let fields = components.dropFirst(names.count)
    if fields.isEmpty { return names.joined(separator: ".") }
    guard case .attribute(var kind) = property.kind else { return nil }
    for field in fields {
      guard case .composite(let shape) = kind, let found = shape[field] else { return nil }
      names.append(field)
      kind = found.kind
    }
    return names.joined(separator: ".")
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
