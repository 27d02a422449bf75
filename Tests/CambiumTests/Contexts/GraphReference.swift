/// A graph of objects as plain values: what the contexts of ``GraphModelTests`` are compared with. Objects are numbers.
struct GraphReference: Equatable {
  struct Node: Equatable {
    var entity: String
    var value: Int?
    /// What each relationship leads to: in order if it is ordered, else ascending.
    var links: [String: [Int]] = [:]
  }

  struct Relationship {
    var name: String
    var entity: String
    var inverse: String
    var destination: String
    var isToMany: Bool
    var isOrdered: Bool
    var cascades: Bool
  }

  static let relationships: [Relationship] = {
    func pair(
      _ a: (String, Bool, Bool), _ b: (String, Bool, Bool), cascades: Bool = false, isWithin: Bool = false
    ) -> [Relationship] {
      [
        Relationship(
          name: a.0, entity: "A", inverse: b.0, destination: isWithin ? "A" : "B", isToMany: a.1, isOrdered: a.2,
          cascades: cascades),
        Relationship(
          name: b.0, entity: isWithin ? "A" : "B", inverse: a.0, destination: "A", isToMany: b.1, isOrdered: b.2,
          cascades: false),
      ]
    }
    return pair(("one", false, false), ("oneBack", false, false))
      + pair(("many", true, false), ("manyBack", false, false), cascades: true)
      + pair(("list", true, true), ("listBack", false, false)) + pair(("web", true, false), ("webBack", true, false))
      + pair(("orderedWeb", true, true), ("orderedWebBack", true, true))
      + pair(("next", false, false), ("previous", true, false), isWithin: true)
      + [
        Relationship(
          name: "friends", entity: "A", inverse: "friends", destination: "A", isToMany: true, isOrdered: false,
          cascades: false)
      ]
  }()

  static func relationships(of entity: String) -> [Relationship] { relationships.filter { $0.entity == entity } }

  private static let byName = Dictionary(relationships.map { ($0.name, $0) }) { first, _ in first }

  private(set) var nodes: [Int: Node] = [:]

  func numbers(_ entity: String) -> [Int] { nodes.filter { $0.value.entity == entity }.keys.sorted() }

  func links(_ number: Int, _ name: String) -> [Int] { nodes[number]?.links[name] ?? [] }

  mutating func insert(_ number: Int, _ entity: String, value: Int?) {
    nodes[number] = Node(entity: entity, value: value)
  }

  mutating func set(_ value: Int?, of number: Int) { nodes[number]?.value = value }

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
    guard links(a, r.name).contains(b), let inverse = Self.byName[r.inverse] else { return }
    unlink(a, r, b)
    unlink(b, inverse, a)
  }

  /// Brings two objects together, on both sides; a to-one side lets go of what it led to.
  mutating func add(_ b: Int, to a: Int, _ r: Relationship) {
    guard !links(a, r.name).contains(b), let inverse = Self.byName[r.inverse] else { return }
    if !r.isToMany { for old in links(a, r.name) { remove(old, from: a, r) } }
    if !inverse.isToMany { for old in links(b, inverse.name) { remove(a: old, holding: b, r) } }
    link(a, r, b)
    link(b, inverse, a)
  }

  private mutating func remove(a: Int, holding b: Int, _ r: Relationship) { remove(b, from: a, r) }

  mutating func set(_ destinations: [Int], of a: Int, _ r: Relationship) {
    for old in links(a, r.name) where !destinations.contains(old) { remove(old, from: a, r) }
    for new in destinations { add(new, to: a, r) }
    if r.isOrdered, !destinations.isEmpty { nodes[a]?.links[r.name] = destinations }
  }

  mutating func delete(_ number: Int) {
    guard let node = nodes[number] else { return }
    var doomed: [Int] = []
    for r in Self.relationships(of: node.entity) {
      for other in links(number, r.name) {
        if r.cascades { doomed.append(other) }
        remove(other, from: number, r)
      }
    }
    nodes[number] = nil
    for other in doomed { delete(other) }
  }
}
