import CambiumTesting
import Testing

@testable import Cambium

// Derived attributes: a save has to see to it that each is what its expression says of what is stored then, whoever
// changed that. Until it is saved an object shows what it had: contexts of the store are looked at, and none with
// unsaved changes.
extension GraphDesign {
  struct Derived {
    enum Form {
      case count(Relationship)
      case sum(Relationship, [String])
      case path(Relationship?, [String])
      case uppercase([String])
    }

    let name: String
    let form: Form
    /// What it is computed from.
    let source: Attribute

    /// The attribute of a model.
    var attribute: Cambium.Attribute {
      switch form {
      case .count(let r): return Cambium.Attribute(name, .integer64, derived: "\(r.name).@count")
      case .sum(let r, let path):
        let type: AttributeType = source.type == .double || source.type == .decimal ? source.type : .integer64
        return Cambium.Attribute(name, type, derived: ([r.name, "@sum"] + path).joined(separator: "."))
      case .path(let r, let path):
        return Cambium.Attribute(
          name, source.type, derived: ((r.map { [$0.name] } ?? []) + path).joined(separator: "."))
      case .uppercase(let path):
        return Cambium.Attribute(name, .string, derived: "uppercase:(\(path.joined(separator: ".")))")
      }
    }

    /// What a value stands for.
    func plain(_ value: Any?) -> GraphValue? {
      if case .uppercase = form { return (value as? String).map { .number(Int($0.dropFirst("V".count)) ?? -1) } }
      return source.plain(value)
    }
  }

  /// What an entity derives from its own attributes and from what it is related to. What may lead to nothing is no
  /// source: nobody is told of that when it goes.
  func drawDerived(_ entity: EntityDesign, _ random: inout SplitMix64) -> [Derived] {
    var result: [Derived] = []
    for number in 0..<Int.random(in: 0...3, using: &random) {
      let name = (entity.parent == nil ? "d" : "g") + "\(number)"
      let related = relationships(of: entity.name).filter { !mayDangle($0) }
      if Int.random(in: 0..<4, using: &random) == 0 || related.isEmpty {
        guard let (path, source) = leaf(of: entity.name, &random) else { continue }
        let isText = source.type == .string && Bool.random(using: &random)
        result.append(Derived(name: name, form: isText ? .uppercase(path) : .path(nil, path), source: source))
        continue
      }
      guard let r = related.randomElement(using: &random), let (path, source) = leaf(of: r.destination, &random)
      else { continue }
      if !r.isToMany {
        result.append(Derived(name: name, form: .path(r, path), source: source))
      } else if Bool.random(using: &random), source.isNumber {
        result.append(Derived(name: name, form: .sum(r, path), source: source))
      } else {
        result.append(Derived(name: name, form: .count(r), source: Attribute(name: name, type: .integer64)))
      }
    }
    return result
  }

  func derived(of entity: String) -> [Derived] {
    guard let design = self.entity(entity) else { return [] }
    return (design.parent.map { derived(of: $0) } ?? []) + design.derived
  }
}

extension GraphDesign.Attribute {
  fileprivate var isNumber: Bool {
    [.integer16, .integer32, .integer64, .double, .decimal].contains(type)
  }
}

extension GraphReference {
  /// What a derived attribute of an object has to be once this is stored.
  func derived(_ attribute: GraphDesign.Derived, of number: Int) -> GraphValue? {
    switch attribute.form {
    case .count(let r): return .number(links(number, r.name).count)
    case .sum(let r, let path):
      return .number(links(number, r.name).reduce(0) { $0 + (value(path, of: $1)?.number ?? 0) })
    case .path(let r?, let path): return links(number, r.name).first.flatMap { value(path, of: $0) }
    case .path(nil, let path), .uppercase(let path): return value(path, of: number)
    }
  }
}

extension GraphLevel {
  /// Checks what is derived, where all that the context shows is stored.
  func checkDerived(_ stored: GraphReference, _ when: String) throws {
    if !stored.design.kinds.contains(.derived) { return }
    for (number, node) in stored.nodes.sorted(by: { $0.key < $1.key }) {
      for attribute in stored.design.derived(of: node.entity) {
        let value = attribute.plain(try object(number).get(attribute.name))
        let expected = stored.derived(attribute, of: number)
        if value == expected { continue }
        let text = "\(attribute.name) (\(attribute.form)) of \(number) is \(value?.description ?? "nil")"
        throw CambiumError(.coreData, "\(text), not \(expected?.description ?? "nil"), \(when)")
      }
    }
  }
}
