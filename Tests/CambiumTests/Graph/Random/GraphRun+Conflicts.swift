import CambiumTesting
import Testing

@testable import Cambium

// Conflicts: a level has unsaved changes, and what it saves into is changed by others. What must come of that is said
// by rules rather than by one more implementation of merging: of attributes each value, of relationships what must be
// there, what may, and what must not.
extension GraphRun {
  static let policies: [MergePolicy] = [
    .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
  ]

  func meetConflict() throws {
    let place = levels.count - 1
    let level = levels[place]
    level.endEvent()
    for _ in 0..<Int.random(in: 1...4, using: &random) { try change(level) }
    try repair(level)
    level.endEvent()
    // This reads each object: only of what was read can others have changed anything.
    try level.check(when)
    // One that was deleted, and was brought back after that was saved below, is another object with the same number.
    if level.objects.contains(where: { level.base.nodes[$0] != nil && $1.isInserted }) { return }
    var merge = GraphMerge(base: level.base, mine: level.state, theirs: level.base)
    for (number, object) in level.objects where !object.isDeleted { merge.touched[number] = Set(object.changedKeys) }
    merge.isInParent = place > 0
    merge.theirs = try place == 0 ? changeStore(level.base) : changeParent(levels[place - 1])
    let goes = merge.deletedHere
    if merge.theirs.isDenied(merge.theirs.doomed(by: Array(goes)), stored: merge.theirs) {
      // What is denied by what others have done is tried in a test of its own.
      return try goOn(from: merge.theirs)
    }

    let stored = levels[0].base
    if merge.theirs.leads(to: goes.filter { stored.nodes[$0] == nil }) {
      // What was never saved, and is led to by what no rule takes out, is an error of its own when that is saved.
      return try goOn(from: merge.theirs)
    }

    note("first save")
    note(
      "base \(merge.base.text)\nmine \(merge.mine.text)\ntheirs \(merge.theirs.text)\ntouched "
        + "\(merge.touched.filter { !$0.value.isEmpty })")
    var policy = MergePolicy.error
    level.context.mergePolicy = .error
    let numbers = Dictionary(level.objects.map { (ObjectIdentifier($1), $0) }) { first, _ in first }
    do { try level.context.save() } catch let error as CambiumError where isOfRules(error) || merge.denies(error) {
      return try endRefused(merge)
    } catch let error as CambiumError where error.code == .managedObjectMerge {
      try #require(!error.conflicts.isEmpty, "\(error), \(when)")
      for conflict in error.conflicts {
        // What was deleted here is known by its number no longer.
        let number = numbers[ObjectIdentifier(conflict.sourceObject)]
        try #require(number != nil || conflict.sourceObject.isDeleted, "\(conflict.sourceObject), \(when)")
        if let number { merge.conflicts.insert(number) }
      }
      count("conflict refused")
      if place == 0 {
        // Nothing has happened.
        try level.check("refused, \(when)")
        try checkStore(merge.theirs, "refused, \(when)")
      }
      policy = try #require(Self.policies.randomElement(using: &random))
      level.context.mergePolicy = policy
      defer { level.context.mergePolicy = .error }
      note("second save by \(policy.mergeType)")
      do { try level.context.save() } catch let error as CambiumError where isOfRules(error) || merge.denies(error) {
        return try endRefused(merge)
      }
      note("saved")
      count("conflict \(place == 0 ? "" : "with a parent ")\(policy.mergeType)")
    }
    try #require(!level.context.hasChanges && level.context.recordedErrors.isEmpty, "\(when)")
    let result: GraphReference
    if place == 0 {
      let reader = try another(merge.theirs)
      result = try reader.read("merged by \(policy.mergeType), \(when)")
      try reader.checkDerived(result, "merged by \(policy.mergeType), \(when)")
      try checkSoundness()
    } else {
      try levels[place - 1].findObjects()
      result = try levels[place - 1].read("merged by \(policy.mergeType), \(when)")
    }
    if let problem = merge.problem(with: result, policy.mergeType) {
      note("result \(result.text)")
      throw CambiumError(.coreData, "\(problem), by \(policy.mergeType), \(when)")
    }
    try goOn(from: result)
  }

  /// What others have done makes what was done here break the model's rules: nothing has happened.
  private func endRefused(_ merge: GraphMerge) throws {
    count("conflict refused by \(design.kinds.contains(.rules) ? "" : "delete ")rules")
    if merge.isInParent {
      try levels[levels.count - 2].check("refused by rules, \(when)")
    } else {
      try checkStore(merge.theirs, "refused by rules, \(when)")
    }
    try goOn(from: merge.theirs)
  }

  /// The last level has nothing unsaved, and what it saves into is so.
  private func goOn(from state: GraphReference) throws {
    note("goOn")
    let level = levels[levels.count - 1]
    level.context.rollback()
    if levels.count == 1 {
      level.context.refreshAllObjects()
      try moveOn(to: state)
    } else {
      let parent = levels[levels.count - 2]
      parent.state = state
      parent.hasTakenChanges = true
      parent.forgetUndo()
      try parent.findObjects()
      try level.follow(state)
    }
    try level.check("after a conflict, \(when)")
  }

  /// Another context, or a batch, changes the store.
  private func changeStore(_ base: GraphReference) throws -> GraphReference {
    let other = try another(base)
    if chance(3) {
      try runBatch(other, replaces: false)
    } else {
      for _ in 0..<Int.random(in: 1...6, using: &random) { try change(other) }
      try saveElsewhere(other)
    }
    return other.state
  }

  private func changeParent(_ parent: GraphLevel) throws -> GraphReference {
    parent.endEvent()
    for _ in 0..<Int.random(in: 1...6, using: &random) { try change(parent) }
    parent.endEvent()
    return parent.state
  }
}

/// A conflict, and what must come of it.
struct GraphMerge {
  let base: GraphReference
  let mine: GraphReference
  var theirs: GraphReference
  /// The properties that were changed here, by object.
  var touched: [Int: Set<String>] = [:]
  /// Whether the conflict is a child's with its parent.
  var isInParent = false
  /// The objects that the policy decides about.
  var conflicts: Set<Int> = []

  init(base: GraphReference, mine: GraphReference, theirs: GraphReference) {
    (self.base, self.mine, self.theirs) = (base, mine, theirs)
  }

  var deletedHere: Set<Int> { Set(base.nodes.keys).subtracting(mine.nodes.keys) }
  var deletedThere: Set<Int> { Set(base.nodes.keys).subtracting(theirs.nodes.keys) }

  /// What is wrong with a result; nil if nothing is.
  func problem(with result: GraphReference, _ policy: MergePolicy.MergePolicyType) -> String? {
    existenceProblem(result, policy) ?? conflictProblem() ?? valueProblem(result, policy) ?? linkProblem(result, policy)
      ?? orderProblem(result, policy)
  }

  private func existenceProblem(_ result: GraphReference, _ policy: MergePolicy.MergePolicyType) -> String? {
    let gone = deletedHere.union(deletedThere)
    for number in gone where result.nodes[number] != nil { return "\(number) was deleted, and is there" }
    // What others have put under an object that is deleted here goes with it, if nothing was done here that speaks
    // against it.
    let under = theirs.doomed(by: Array(deletedHere)).subtracting(gone)
    for number in under {
      let isNew = theirs.relationships(number).contains { r in
        guard theirs.design.inverse(r)?.rule == .cascade else { return false }
        let before = Set(base.links(number, r.name))
        return theirs.links(number, r.name).contains { deletedHere.contains($0) && !before.contains($0) }
      }
      // What is put back as it was takes back what others have led elsewhere.
      let isTakenBack =
        policy == .overwrite && mine.pairs.contains { ($0.a == number || $0.b == number) && leadsBack($0, in: mine) }
      if isNew, !isTakenBack, mine.nodes[number] == base.nodes[number], result.nodes[number] != nil {
        return "\(number) was put under a deleted object, and is there"
      }
    }
    let mayGo = under.union(mine.doomed(by: Array(under))).union(doomedByAny(gone))
    for number in Set(mine.nodes.keys).union(theirs.nodes.keys) where result.nodes[number] == nil {
      if !gone.contains(number), !mayGo.contains(number) { return "\(number) is lost" }
    }
    for number in result.nodes.keys where mine.nodes[number] == nil && theirs.nodes[number] == nil {
      return "\(number) came from nowhere"
    }
    return nil
  }

  /// What what either side has would take with some objects.
  private func doomedByAny(_ numbers: Set<Int>) -> Set<Int> {
    var result = numbers
    while true {
      let more = result.union(theirs.doomed(by: Array(result))).union(mine.doomed(by: Array(result)))
      if more == result { return result }
      result = more
    }
  }

  /// Whether an error is that a rule denies what is deleted here, or what goes with it by what either side has done.
  func denies(_ error: CambiumError) -> Bool {
    guard error.code == .validationRelationshipDeniedDelete else { return false }
    let doomed = doomedByAny(deletedHere)
    return mine.isDenied(doomed, stored: theirs) || theirs.isDenied(doomed, stored: theirs)
  }

  /// What both sides have changed must be a conflict.
  private func conflictProblem() -> String? {
    for (number, node) in mine.nodes {
      guard let before = base.nodes[number], !conflicts.contains(number) else { continue }
      let names = Set(base.design.attributes(of: node.entity).map { $0.name })
      guard touched[number]?.contains(where: { names.contains($0) }) == true else { continue }
      guard let there = theirs.nodes[number] else {
        return "\(number) was deleted and changed, and that is no conflict"
      }
      if there.values != before.values { return "\(number) was changed twice, and that is no conflict" }
    }
    return nil
  }

  private func valueProblem(_ result: GraphReference, _ policy: MergePolicy.MergePolicyType) -> String? {
    for (number, node) in result.nodes {
      guard let here = mine.nodes[number], let there = theirs.nodes[number], let before = base.nodes[number] else {
        let only = mine.nodes[number] ?? theirs.nodes[number]
        if node.values != only?.values {
          return "the values of \(number) are \(node.values), not \(only?.values ?? [:])"
        }
        continue
      }
      for name in base.design.attributes(of: node.entity).map({ $0.name }) {
        let isTouched = touched[number]?.contains(name) == true
        var expected = isTouched ? here.values[name] : there.values[name]
        if conflicts.contains(number) {
          switch policy {
          case .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump:
            guard there.values[name] != before.values[name], isTouched else { break }
            expected = GraphValue.merged(
              here.values[name], there.values[name], base: before.values[name],
              keepsMine: policy == .mergeByPropertyObjectTrump)
          case .overwrite: expected = here.values[name]
          case .rollback: expected = there.values[name]
          default: break
          }
        }
        if node.values[name] != expected {
          return "\(name) of \(number) is \(node.values[name] as Any), not \(expected as Any)"
        }
      }
    }
    return nil
  }

  /// The objects of a link, each with the relationship that leads to the other one.
  private func ends(of link: GraphReference.Link) -> [(Int, GraphReference.Relationship)] {
    guard let r = base.design.relationship(link.r) else { return [] }
    return [(link.a, r)] + (base.design.inverse(r).map { [(link.b, $0)] } ?? [])
  }

  /// Whether a side has something else in the place of a link: at an end that leads to one object only. What was
  /// changed here and changed back is changed all the same.
  private func isInTheWay(_ side: GraphReference, _ link: GraphReference.Link, isHere: Bool) -> Bool {
    ends(of: link).contains { number, r in
      if r.isToMany { return false }
      return side.links(number, r.name) != base.links(number, r.name)
        || (isHere && touched[number]?.contains(r.name) == true)
    }
  }

  /// Whether an end of a link that leads to one object only has led to one that is put back as it was, with its other
  /// sides.
  private func leadsBack(_ link: GraphReference.Link, in side: GraphReference) -> Bool {
    ends(of: link).contains { number, r in
      !r.isToMany && side.links(number, r.name).contains { conflicts.contains($0) }
    }
  }

  /// Whether a link is of lists that a child puts into its parent as a whole.
  private func isPushedWhole(_ link: GraphReference.Link) -> Bool {
    let ends = ends(of: link)
    return isInParent && ends.allSatisfy { $1.isToMany }
      && ends.contains { $1.isOrdered && touched[$0]?.contains($1.name) == true }
  }

  private func linkProblem(_ result: GraphReference, _ policy: MergePolicy.MergePolicyType) -> String? {
    let (before, here, there, now) = (base.pairs, mine.pairs, theirs.pairs, result.pairs)
    for link in before.union(here).union(there).union(now) {
      guard result.nodes[link.a] != nil, result.nodes[link.b] != nil else { continue }
      if isPushedWhole(link) { continue }
      let isDecided = conflicts.contains(link.a) || conflicts.contains(link.b)
      let (was, isHere, isThere, isNow) = (
        before.contains(link), here.contains(link), there.contains(link), now.contains(link)
      )
      if isNow, !isHere, !isThere { return "\(link) came from nowhere" }
      if isHere, isThere, !isNow { return "\(link) is lost, which both have" }
      if isHere == was, isThere != was {
        if policy == .overwrite, isDecided || leadsBack(link, in: mine) { continue }
        if isThere, !isNow, !isInTheWay(mine, link, isHere: true) { return "\(link) is lost, which others made" }
        if !isThere, isNow, !isInTheWay(mine, link, isHere: true) { return "\(link) is there, which others removed" }
      }
      if isThere == was, isHere != was {
        if policy == .rollback, isDecided { continue }
        if policy == .rollback, leadsBack(link, in: base) { continue }
        if isHere, !isNow, !isInTheWay(theirs, link, isHere: false) { return "\(link) is lost, which was made here" }
        if !isHere, isNow { return "\(link) is there, which was removed here" }
      }
    }
    return nil
  }

  private func orderProblem(_ result: GraphReference, _ policy: MergePolicy.MergePolicyType) -> String? {
    for number in result.nodes.keys where base.nodes[number] != nil {
      for r in result.relationships(number) where r.isOrdered {
        let (was, here) = (base.links(number, r.name), mine.links(number, r.name))
        let (there, now) = (theirs.links(number, r.name), result.links(number, r.name))
        if was == here, policy != .overwrite, Set(now) == Set(there), now != there {
          return "\(r.name) of \(number) is in the order \(now), not \(there)"
        }
        if was == there, policy != .rollback, Set(now) == Set(here), now != here {
          return "\(r.name) of \(number) is in the order \(now), not \(here)"
        }
      }
    }
    return nil
  }
}
