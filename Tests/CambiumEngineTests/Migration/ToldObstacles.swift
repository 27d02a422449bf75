import CambiumEngine

/// Compares what the engine tells about a migration that it does not make with what the rules say.
enum ToldObstacles {
  static func place(_ entity: String, _ property: String?) -> String {
    property.map { entity + "." + $0 } ?? entity
  }

  // MARK: What cannot be inferred

  /// What differs, in words; nil if the very changes are told that cannot be inferred, each once.
  static func difference(_ told: [MappingObstacle], _ expected: Set<NaiveMigration.Refusal>) -> String? {
    var found: Set<NaiveMigration.Refusal> = []
    for obstacle in told {
      guard let kind = kind(obstacle.reason) else { return "an unknown reason: \(obstacle.reason)" }
      let refusal = NaiveMigration.Refusal(place: place(obstacle.entity, obstacle.property), kind: kind)
      if !found.insert(refusal).inserted { return "told twice: \(refusal)" }
    }
    return found == expected ? nil : "told \(found), expected \(expected)"
  }

  /// Reasons are sentences for people; they begin, or go on, in one way for each kind.
  private static func kind(_ reason: String) -> NaiveMigration.Refusal.Kind? {
    if reason.contains("attribute types are incompatible") { return .type }
    if reason.hasPrefix("a to-many relationship becomes to-one") { return .toOne }
    if reason.hasPrefix("the relationship leads to ") { return .destination }
    return reason.hasPrefix("hierarchies cannot be merged") ? .hierarchy : nil
  }

  // MARK: What stands in the way

  /// What differs, in words; nil if all is told that stands in the way, and how many objects, and which (as many as are
  /// named).
  static func difference(
    _ told: [MigrationBlock], _ expected: [NaiveMigration.Obstacle: Set<UInt64>], _ before: NaiveStore, _ schema: Schema
  ) -> String? {
    var found: Set<NaiveMigration.Obstacle> = []
    for block in told {
      let obstacle = NaiveMigration.Obstacle(place: place(block.entity, block.property), reason: reason(block.reason))
      if !found.insert(obstacle).inserted { return "told twice: \(obstacle)" }
      guard let rows = expected[obstacle] else { return "told \(obstacle), expected \(expected)" }
      let named = Set(block.objects.map { $0.row })
      if !named.isSubset(of: rows) || named.count != block.objects.count {
        return "\(obstacle): named \(block.objects), expected some of \(rows.sorted())"
      }
      for object in block.objects where schema.entity(id: object.entity)?.name != before.objects[object.row]?.entity {
        return "\(obstacle): \(object) is of another entity"
      }
      if block.count != rows.count || named.count != min(rows.count, MigrationBlock.sampleLimit) {
        return "\(obstacle): \(block.count) objects, named \(named.sorted()), expected \(rows.sorted())"
      }
    }
    return found == Set(expected.keys) ? nil : "told \(found), expected \(expected)"
  }

  /// Those of what a plan tells that a migration tells: duplicates only if nothing else is in the way, which a plan
  /// goes on behind.
  static func first(_ told: [MigrationBlock]) -> [MigrationBlock] {
    let others = told.filter { if case .duplicate = $0.reason { false } else { true } }
    return others.isEmpty ? told : others
  }

  static func reason(_ reason: MigrationBlock.Reason) -> NaiveMigration.Obstacle.Reason {
    switch reason {
    case .missingValue: return .missingValue
    case .overflow(let type): return .overflow(type)
    case .duplicate(let paths): return .duplicate(paths)
    case .abstractEntity: return .abstractEntity
    case .ambiguousInverse: return .ambiguousInverse
    }
  }

  /// How a reason is called in counts.
  static func name(_ reason: NaiveMigration.Obstacle.Reason) -> String {
    switch reason {
    case .missingValue: return "missing value"
    case .overflow: return "overflow"
    case .duplicate: return "duplicate"
    case .abstractEntity: return "abstract entity"
    case .ambiguousInverse: return "ambiguous inverse"
    }
  }
}
