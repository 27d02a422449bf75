import CambiumTesting
import Testing

@testable import Cambium

// Batch requests, and objects that must be unique: what comes of either is known exactly.
extension GraphRun {
  /// A batch by the root, which takes it in.
  func runBatch() throws {
    try rollbackAll()
    let root = levels[0]
    try runBatch(root)
    root.context.refreshAllObjects()
    try moveOn(to: root.state)
    try root.check("after a batch, \(when)")
    if chance(4) { try checkSoundness() }
  }

  /// A batch by a context without changes. The state of the level is what the store has then, which the context may not
  /// show.
  ///
  /// - Parameter replaces: Whether an object may take the place of one with the same code.
  func runBatch(_ level: GraphLevel, replaces: Bool = true) throws {
    guard let entity = design.entities.randomElement(using: &random) else { return }
    switch Int.random(in: 0..<3, using: &random) {
    case 0: try batchInsert(entity.name, level, replaces)
    case 1: try batchUpdate(entity.name, level)
    default: try batchDelete(entity.name, level)
    }
  }

  private func batchInsert(_ entity: String, _ level: GraphLevel, _ replaces: Bool) throws {
    let policy = try #require((Self.policies + [.error]).randomElement(using: &random))
    let before = level.state
    var rows: [[String: Any]] = []
    var expected = level.state
    var isRefused = false
    var count = 0
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      next += 1
      let values = randomValues(entity)
      var code: String? = "c\(next)"
      var existing: Int?
      if replaces, design.isUnique(entity), chance(3) {
        existing = expected.numbers(entity).filter { expected.nodes[$0]?.code != nil }.randomElement(using: &random)
        code = existing.flatMap { expected.nodes[$0]?.code } ?? code
      }
      var row: [String: Any] = ["tag": next]
      row["code"] = code
      for attribute in design.attributes(of: entity) {
        if let value = values[attribute.name] { row[attribute.name] = attribute.value(value) }
      }
      // To-one relationships whose other side is derived.
      var link: (GraphDesign.Relationship, Int)?
      let possible = design.relationships(of: entity).filter { r in
        design.inverse(r).map { !r.isToMany && $0.isToMany && !$0.isOrdered } ?? !r.isToMany
      }
      if let r = possible.randomElement(using: &random), chance(2),
        let other = before.numbers(r.destination).randomElement(using: &random)
      {
        row[r.name] = try level.object(other).objectID
        link = (r, other)
      }
      rows.append(row)
      if let existing {
        switch policy.mergeType {
        case .error: isRefused = true
        case .mergeByPropertyObjectTrump, .overwrite:
          for (name, value) in values { expected.set(value, name, of: existing) }
          if let link { expected.add(alias(link.1, before, expected), to: existing, link.0) }
          expected.rename(existing, next)
          count += 1
        default: break
        }
      } else {
        expected.insert(next, entity, code: code, design.completed(values, entity))
        if let link { expected.add(alias(link.1, before, expected), to: next, link.0) }
        count += 1
      }
    }
    var request = BatchInsertRequest(entityName: entity, objects: rows)
    request.resultType = .count
    level.context.mergePolicy = policy
    defer { level.context.mergePolicy = .error }
    let error = try executing { count = try level.context.execute(request).count }
    if isRefused {
      try #require(error?.code == .managedObjectConstraintMerge, "\(when)")
      self.count("batch insert refused")
    } else {
      if let error { throw error }
      level.state = expected
      self.count("batch insert")
    }
  }

  /// What an object is known by after a batch has given it another number: its code stays.
  private func alias(_ number: Int, _ before: GraphReference, _ after: GraphReference) -> Int {
    if after.nodes[number] != nil { return number }
    let code = before.nodes[number]?.code
    let entity = before.nodes[number]?.entity
    return after.nodes.first { $0.value.code == code && $0.value.entity == entity }?.key ?? number
  }

  private func executing(_ body: () throws -> Void) throws -> CambiumError? {
    do {
      try body()
      return nil
    } catch let error as CambiumError { return error }
  }

  private func batchUpdate(_ entity: String, _ level: GraphLevel) throws {
    let attributes = design.attributes(of: entity)
    let (path, asked) = try #require(design.leaf(of: entity, &random))
    let set = try #require(attributes.randomElement(using: &random))
    let value = Int.random(in: 0..<10, using: &random)
    var request = BatchUpdateRequest(entityName: entity)
    request.resultType = .count
    request.predicate = try FetchPredicate(
      format: "%K <= %@", argumentArray: [path.joined(separator: "."), asked.value(.number(value))])
    let matches = level.state.numbers(entity).filter { number in
      guard let known = level.state.value(path, of: number)?.number else { return false }
      return known <= value
    }
    let new = set.random(&random)
    if set.type == .integer64 || set.type == .integer32, chance(2) {
      request.propertiesToUpdate = [set.name: try FetchExpression(format: "\(set.name) + 1")]
      for number in matches {
        let old = level.state.nodes[number]?.values[set.name]
        level.state.set(old?.number.map { .number($0 + 1) }, set.name, of: number)
      }
      count("batch update by expression")
    } else {
      request.propertiesToUpdate = [set.name: set.value(new) as Any]
      for number in matches { level.state.set(new, set.name, of: number) }
    }
    try #require(try level.context.execute(request).count == matches.count, "\(when)")
    count("batch update")
  }

  private func batchDelete(_ entity: String, _ level: GraphLevel) throws {
    let all = level.state.numbers(entity)
    let request: BatchDeleteRequest
    var asked: [Int]
    if chance(2) {
      asked = all.filter { _ in chance(8) }
      let denied = all.filter { level.state.isDenied(level.state.doomed(by: [$0]), stored: level.state) }
      if let number = denied.randomElement(using: &random), chance(2) { asked.append(number) }
      request = BatchDeleteRequest(objectIDs: try Set(asked).sorted().map { try level.object($0).objectID })
    } else {
      let (path, attribute) = try #require(design.leaf(of: entity, &random))
      let value = Int.random(in: 0..<10, using: &random)
      asked = all.filter { level.state.value(path, of: $0) == .number(value) }
      let fetch = FetchRequest<ManagedObject>(entityName: entity)
      fetch.predicate = try FetchPredicate(
        format: "%K == %@", argumentArray: [path.joined(separator: "."), attribute.value(.number(value))])
      request = BatchDeleteRequest(fetchRequest: fetch)
    }
    let doomed = level.state.doomed(by: asked)
    if level.state.leads(to: doomed) { return }
    let error = try executing { try level.context.execute(request) }
    if level.state.isDenied(doomed, stored: level.state) {
      try #require(error?.code == .validationRelationshipDeniedDelete, "\(when)")
      count("batch delete denied")
    } else {
      if let error { throw error }
      level.state.remove(doomed)
      count("batch delete")
    }
  }

  // MARK: Unique objects

  /// The root inserts an object with the code of another one: a stored one that it knows, one that another context has
  /// saved since, or one of the same save.
  func upsert() throws {
    try rollbackAll()
    let root = levels[0]
    let unique = design.entities.map { $0.name }.filter { design.isUnique($0) && !design.countsRelationships($0) }
    guard let entity = unique.randomElement(using: &random) else { return }
    var expected = root.base
    var stored = root.base
    var code = "u\(next)"
    var existing: Int?
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      let known = root.state.nodes.filter { $0.value.entity == entity && $0.value.code != nil }.keys.sorted()
      guard let number = known.randomElement(using: &random) else { return }
      existing = number
      code = root.state.nodes[number]?.code ?? code
    case 1:
      let other = try another(root.base)
      existing = try insert(entity, code: code, in: other)
      if let existing { try relate(existing, toNewOf: other) }
      try saveElsewhere(other)
      expected = other.state
      stored = other.state
    default: break
    }
    let isOfSameSave = existing == nil
    if isOfSameSave { existing = try insert(entity, code: code, in: root) }
    guard let existing, isOfSameSave || expected.nodes[existing] != nil else { return try rollbackAll() }
    let number = try insert(entity, code: code, in: root)
    try repair(root)
    if isOfSameSave { expected.nodes[existing] = root.state.nodes[existing] }
    expected.nodes[number] = root.state.nodes[number]
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      guard let r = design.relationships(of: entity).randomElement(using: &random),
        let other = root.state.numbers(r.destination).randomElement(using: &random), other != number, other != existing
      else { continue }
      if r.isToMany {
        try root.object(number).add(try root.object(other), toRelationship: r.name)
      } else {
        try root.object(number).set(try root.object(other), forKey: r.name)
      }
      root.state.add(other, to: number, r)
      expected.add(other, to: number, r)
    }
    let policy = try #require(Self.policies.randomElement(using: &random))
    let error = cambiumError { try root.context.save() }
    if design.kinds.contains(.rules), let error, isOfRules(error) || error.code == .managedObjectMerge {
      // What was repaired elsewhere is in the way.
      root.context.rollback()
      root.context.refreshAllObjects()
      return try moveOn(to: stored)
    }
    try #require(error?.code == .managedObjectConstraintMerge, "\(error as Any), \(when)")
    try #require(error?.constraintConflicts.count == 1, "\(when)")
    try checkStore(stored, "refused, \(when)")
    root.context.mergePolicy = policy
    defer { root.context.mergePolicy = .error }
    try root.context.save()
    expected.absorb(number, into: existing, policy.mergeType)
    count("upsert \(policy.mergeType)")
    try checkStore(expected, "upserted by \(policy.mergeType), \(when)")
    if chance(2) { try checkSoundness() }
    root.context.refreshAllObjects()
    try moveOn(to: expected)
    try root.check("upserted by \(policy.mergeType), \(when)")
  }

  /// Gives a new object a new partner.
  private func relate(_ number: Int, toNewOf level: GraphLevel) throws {
    guard let node = level.state.nodes[number],
      let r = design.relationships(of: node.entity).randomElement(using: &random)
    else { return }
    let other = try insert(r.destination, in: level)
    if r.isToMany {
      try level.object(number).add(try level.object(other), toRelationship: r.name)
    } else {
      try level.object(number).set(try level.object(other), forKey: r.name)
    }
    level.state.add(other, to: number, r)
  }
}
