@testable import Cambium

// The rules of the model, as a save checks them.
extension GraphReference {
  /// A property of an object that breaks a rule.
  struct Violation: Hashable {
    let number: Int
    let key: String
    let code: CambiumError.Code
  }

  /// All that breaks a rule.
  var violations: Set<Violation> {
    if !design.kinds.contains(.rules) { return [] }
    var result = Set<Violation>()
    for number in nodes.keys { result.formUnion(violations(of: number)) }
    return result
  }

  /// What a save must find: what breaks a rule and is not stored like that. Batches and others' saves may have left
  /// what breaks one, which nobody looks at until it is changed.
  func violations(since base: GraphReference) -> Set<Violation> {
    violations.filter { violation in
      guard let node = nodes[violation.number], let before = base.nodes[violation.number] else { return true }
      let attribute = violation.key.split(separator: ".").first.map { String($0) } ?? ""
      return node.values[attribute] != before.values[attribute]
        || node.links[violation.key] != before.links[violation.key]
    }
  }

  private func violations(of number: Int) -> [Violation] {
    guard let node = nodes[number] else { return [] }
    var result: [Violation] = []
    func add(_ key: String, _ code: CambiumError.Code) {
      result.append(Violation(number: number, key: key, code: code))
    }
    func check(_ attribute: GraphDesign.Attribute, _ value: GraphValue?, _ path: String) {
      guard let value else {
        if attribute.isRequired { add(path, .validationMissingMandatoryProperty) }
        return
      }
      for element in attribute.elements { check(element, value.elements[element.name], path + "." + element.name) }
    }
    for attribute in design.attributes(of: node.entity) {
      check(attribute, node.values[attribute.name], attribute.name)
    }
    for r in design.relationships(of: node.entity) {
      let count = links(number, r.name).count
      if count == 0 {
        if r.counts.isOptional || r.isToMany && r.counts.minimum == 0 { continue }
        add(r.name, r.isToMany ? .validationRelationshipLacksMinimumCount : .validationMissingMandatoryProperty)
      } else if r.isToMany, count < r.counts.minimum {
        add(r.name, .validationRelationshipLacksMinimumCount)
      } else if r.isToMany, r.counts.maximum > 0, count > r.counts.maximum {
        add(r.name, .validationRelationshipExceedsMaximumCount)
      }
    }
    return result
  }
}
