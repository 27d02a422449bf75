import CambiumTesting
import Testing

@testable import Cambium

// Rules of the model: a save that breaks one fails with all that break one, and nothing has happened.
extension GraphRun {
  private static let codes: Set<CambiumError.Code> = [
    .validationMissingMandatoryProperty, .validationRelationshipLacksMinimumCount,
    .validationRelationshipExceedsMaximumCount,
  ]

  /// Saves a level, or finds out that the rules are against it: whether it was saved.
  func saveIfAllowed(_ level: GraphLevel) throws -> Bool {
    let must = try level.state.violations(since: level.base).filter { try !leadsToNothing($0, in: level) }
    let may = level.state.violations
    let numbers = Dictionary(level.objects.map { ($1.objectID, $0) }) { first, _ in first }
    do { try level.context.save() } catch let error as CambiumError where isOfRules(error) {
      let told = Set(
        errors(of: error).map { error in
          GraphReference.Violation(
            number: error.objectID.flatMap { numbers[$0] } ?? -1, key: error.key ?? "", code: error.code)
        })
      try #require(told.count == errors(of: error).count, "\(error), \(when)")
      try #require(told.isSuperset(of: must), "\(must.subtracting(told)) not told, \(when)")
      try #require(told.isSubset(of: may), "\(told.subtracting(may)) told, \(when)")
      count("refused by rules")
      return false
    }
    try #require(must.isEmpty, "saved in spite of \(must), \(when)")
    return true
  }

  /// Whether a relationship has destinations, and they are gone. Core Data leaves it to the application to let go of
  /// these, without an inverse and where its rule is to do nothing; to the rules of the model they are destinations.
  private func leadsToNothing(_ violation: GraphReference.Violation, in level: GraphLevel) throws -> Bool {
    guard let r = design.relationship(violation.key), design.mayDangle(r) else { return false }
    let count = try level.object(violation.number).count(ofRelationship: r.name)
    return count != level.state.links(violation.number, r.name).count
  }

  /// Saves a context beside the levels, whatever of its changes the rules are for.
  func saveElsewhere(_ level: GraphLevel) throws {
    try repair(level)
    // What was stored as it must not be, and was changed all the same, may still be in the way.
    if try !saveIfAllowed(level) {
      try level.rollback()
      try level.context.save()
    }
  }

  /// Whether an error is of nothing but rules of the model.
  func isOfRules(_ error: CambiumError) -> Bool {
    design.kinds.contains(.rules) && errors(of: error).allSatisfy { Self.codes.contains($0.code) }
  }

  func errors(of error: CambiumError) -> [CambiumError] {
    error.code == .validationMultipleErrors ? error.detailedErrors : [error]
  }

  /// Changes what breaks a rule until nothing does, or gives all unsaved changes up.
  func repair(_ level: GraphLevel) throws {
    for _ in 0..<40 {
      let broken = level.state.violations(since: level.base)
      guard let first = broken.min(by: { ($0.number, $0.key) < ($1.number, $1.key) }) else { return }
      try repair(first, in: level)
    }
    if level.state.violations(since: level.base).isEmpty { return }
    count("beyond repair")
    try level.rollback()
  }

  private func repair(_ violation: GraphReference.Violation, in level: GraphLevel) throws {
    let (number, key) = (violation.number, violation.key)
    guard let node = level.state.nodes[number] else { return }
    note("repair \(violation)")
    let path = key.split(separator: ".").map { String($0) }
    let attribute = design.attributes(of: node.entity).first { $0.name == path[0] }
    if let part = attribute?.parts.first(where: { $0.path == Array(path.dropFirst()) })?.attribute {
      let value = part.random(&random)
      try level.object(number).set(part.value(value), forKeyPath: key)
      return level.state.set(value, path, of: number)
    }
    guard let r = design.relationship(key) else { return }
    let object = try level.object(number)
    if violation.code == .validationRelationshipExceedsMaximumCount {
      guard let gone = level.state.links(number, key).randomElement(using: &random) else { return }
      try object.remove(try level.object(gone), fromRelationship: key)
      return level.state.remove(gone, from: number, r)
    }
    // A new one is missed nowhere.
    var other = level.state.numbers(r.destination).randomElement(using: &random)
    if other == nil || !chance(3) { other = try insert(r.destination, in: level) }
    guard let other else { return }
    if r.isToMany {
      try object.add(try level.object(other), toRelationship: key)
    } else {
      try object.set(try level.object(other), forKey: key)
    }
    level.state.add(other, to: number, r)
  }
}
