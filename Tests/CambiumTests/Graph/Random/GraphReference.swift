@testable import Cambium

/// A graph of objects as plain values: what the contexts of ``GraphModelTests`` are compared with. Objects are numbers.
struct GraphReference: Equatable {
  typealias Relationship = GraphDesign.Relationship

  struct Node: Equatable {
    var entity: String
    /// What `code` is, which may have to be unique.
    var code: String?
    /// What attributes have; those that have nothing are missing.
    var values: [String: GraphValue] = [:]
    /// What each relationship leads to: in order if it is ordered, else ascending.
    var links: [String: [Int]] = [:]
  }

  let design: GraphDesign
  var nodes: [Int: Node] = [:]

  init(_ design: GraphDesign) { self.design = design }

  static func == (a: GraphReference, b: GraphReference) -> Bool { a.nodes == b.nodes }

  /// The objects of an entity and those that inherit from it, ascending.
  func numbers(_ entity: String) -> [Int] {
    nodes.filter { design.isKind($0.value.entity, of: entity) }.keys.sorted()
  }

  func relationships(_ number: Int) -> [Relationship] {
    nodes[number].map { design.relationships(of: $0.entity) } ?? []
  }

  func links(_ number: Int, _ name: String) -> [Int] { nodes[number]?.links[name] ?? [] }

  mutating func insert(_ number: Int, _ entity: String, code: String?, _ values: [String: GraphValue]) {
    nodes[number] = Node(entity: entity, code: code, values: values)
  }

  mutating func set(_ value: GraphValue?, _ name: String, of number: Int) { nodes[number]?.values[name] = value }

  /// Sets an element; composites on the way come into being.
  mutating func set(_ value: GraphValue?, _ path: [String], of number: Int) {
    let present = nodes[number]?.values[path[0]]
    nodes[number]?.values[path[0]] = GraphValue.replacing(path.dropFirst(), of: present, with: value)
  }

  /// What an attribute, or an element, has.
  func value(_ path: [String], of number: Int) -> GraphValue? {
    nodes[number]?.values[path[0]]?.element(path.dropFirst())
  }

  private mutating func link(_ a: Int, _ r: Relationship, _ b: Int) {
    var links = links(a, r.name)
    if links.contains(b) { return }
    links.append(b)
    nodes[a]?.links[r.name] = r.isOrdered ? links : links.sorted()
  }

  private mutating func unlink(_ a: Int, _ r: Relationship, _ b: Int) {
    let links = links(a, r.name).filter { $0 != b }
    nodes[a]?.links[r.name] = links.isEmpty ? nil : links
  }

  /// Takes two objects apart, on both sides.
  mutating func remove(_ b: Int, from a: Int, _ r: Relationship) {
    guard links(a, r.name).contains(b) else { return }
    unlink(a, r, b)
    if let inverse = design.inverse(r) { unlink(b, inverse, a) }
  }

  /// Brings two objects together, on both sides; a to-one side lets go of what it led to.
  mutating func add(_ b: Int, to a: Int, _ r: Relationship) {
    guard !links(a, r.name).contains(b) else { return }
    if !r.isToMany { for old in links(a, r.name) { remove(old, from: a, r) } }
    guard let inverse = design.inverse(r) else { return link(a, r, b) }
    if !inverse.isToMany { for old in links(b, inverse.name) { remove(b, from: old, r) } }
    link(a, r, b)
    link(b, inverse, a)
  }

  mutating func set(_ destinations: [Int], of a: Int, _ r: Relationship) {
    for old in links(a, r.name) where !destinations.contains(old) { remove(old, from: a, r) }
    for new in destinations { add(new, to: a, r) }
    if r.isOrdered, !destinations.isEmpty { nodes[a]?.links[r.name] = destinations }
  }

  // MARK: Deleting

  /// What goes with some objects by the rules.
  func doomed(by numbers: [Int]) -> Set<Int> {
    var result = Set(numbers.filter { nodes[$0] != nil })
    var pending = Array(result)
    while let number = pending.popLast() {
      for r in relationships(number) where r.rule == .cascade {
        for other in links(number, r.name) where result.insert(other).inserted { pending.append(other) }
      }
    }
    return result
  }

  /// Whether a rule denies the deletion of just these; nothing denies that of what is not stored yet.
  func isDenied(_ doomed: Set<Int>, stored: GraphReference) -> Bool {
    doomed.contains { number in
      stored.nodes[number] != nil
        && relationships(number).contains { r in
          r.rule == .deny && links(number, r.name).contains { !doomed.contains($0) }
        }
    }
  }

  /// Deletes just these. What led to them and was left alone leads to nothing, which is as good as nowhere.
  mutating func remove(_ doomed: Set<Int>) {
    for number in doomed {
      for r in relationships(number) { for other in links(number, r.name) { remove(other, from: number, r) } }
      nodes[number] = nil
    }
    if !design.kinds.contains(.dangling) { return }
    for (number, node) in nodes {
      for (name, links) in node.links where links.contains(where: { doomed.contains($0) }) {
        let kept = links.filter { !doomed.contains($0) }
        nodes[number]?.links[name] = kept.isEmpty ? nil : kept
      }
    }
  }

  /// Whether something that is left would lead to objects that are deleted, since no rule takes it out.
  func leads(to doomed: Set<Int>) -> Bool {
    guard design.kinds.contains(.dangling) else { return false }
    return nodes.contains { number, _ in
      !doomed.contains(number)
        && relationships(number).contains { r in
          design.mayDangle(r) && links(number, r.name).contains { doomed.contains($0) }
        }
    }
  }

  mutating func delete(_ number: Int) { remove(doomed(by: [number])) }

  // MARK: Unique objects

  /// Has an object take over what a policy wants of another one, which goes; see ``MergePolicy/MergePolicyType``.
  mutating func absorb(_ new: Int, into old: Int, _ policy: MergePolicy.MergePolicyType) {
    guard let node = nodes[new] else { return }
    let takesValues = policy == .mergeByPropertyObjectTrump || policy == .overwrite
    if takesValues {
      for attribute in design.attributes(of: node.entity) {
        let value = node.values[attribute.name]
        if value != nil || policy == .overwrite { nodes[old]?.values[attribute.name] = value }
      }
    }
    for r in design.relationships(of: node.entity).sorted(by: { $0.name < $1.name }) {
      let destinations = links(new, r.name).map { $0 == new ? old : $0 }
      for other in links(new, r.name) { remove(other, from: new, r) }
      let areChildren = design.inverse(r).map { !$0.isToMany } ?? false
      if policy == .overwrite {
        set(destinations, of: old, r)
      } else if takesValues || (areChildren && r.isToMany) {
        for destination in destinations { add(destination, to: old, r) }
      }
    }
    nodes[new] = nil
    // What objects are known by is a value like others.
    if takesValues { rename(old, new) }
  }

  mutating func rename(_ old: Int, _ new: Int) {
    guard let node = nodes.removeValue(forKey: old) else { return }
    nodes[new] = node
    for number in nodes.keys {
      for (name, links) in nodes[number]?.links ?? [:] where links.contains(old) {
        let renamed = links.map { $0 == old ? new : $0 }
        nodes[number]?.links[name] = design.relationship(name)?.isOrdered == true ? renamed : renamed.sorted()
      }
    }
  }

  // MARK: Comparing

  /// Two objects that a relationship brings together.
  struct Link: Hashable {
    let a: Int
    let r: String
    let b: Int
  }

  /// Each pair of objects that are related, seen from the side whose name comes last (from both, if it is its own
  /// inverse).
  var pairs: Set<Link> {
    var result = Set<Link>()
    for (number, node) in nodes {
      for (name, links) in node.links {
        guard let r = design.relationship(name), r.name >= r.inverse ?? "" else { continue }
        for other in links { result.insert(Link(a: number, r: name, b: other)) }
      }
    }
    return result
  }

  /// All of it, for who has to find out what went wrong.
  var text: String {
    nodes.sorted { $0.key < $1.key }.map { number, node in
      let links = node.links.sorted { $0.key < $1.key }.map { "\($0)\($1)" }.joined(separator: " ")
      return "\(node.entity)\(number) \(node.values.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }) \(links)"
    }.joined(separator: "; ")
  }

  /// The first difference, for who has to find out.
  func difference(from other: GraphReference) -> String? {
    for number in Set(nodes.keys).union(other.nodes.keys).sorted() where nodes[number] != other.nodes[number] {
      let (here, there) = (nodes[number], other.nodes[number])
      guard let here, let there else { return "\(number) is \(here == nil ? "missing" : "there all the same")" }
      return "\(number) is \(here), and should be \(there)"
    }
    return nil
  }
}
