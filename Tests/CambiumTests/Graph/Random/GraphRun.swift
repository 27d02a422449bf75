import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Contexts of a store of a random model, to which random things happen.
final class GraphRun {
  var random: SplitMix64
  let seed: UInt64
  let design: GraphDesign
  let directory: TemporaryDirectory?
  var container: PersistentContainer
  /// The root, its child, and so on.
  var levels: [GraphLevel] = []
  var next = 0
  var step = 0
  var counts: [String: Int] = [:]
  /// What takes in nothing but what history tells, and how far it has come.
  var follower: GraphLevel?
  var token: PersistentHistoryToken?
  /// What was done last, for who has to find out what went wrong.
  private(set) var log: [String] = []

  init(seed: UInt64, isInFile: Bool, kinds: GraphKinds = []) throws {
    self.seed = seed
    random = SplitMix64(seed: seed)
    design = GraphDesign(&random, seed: seed, kinds: kinds.drawn(seed))
    directory = isInFile ? try TemporaryDirectory() : nil
    container = PersistentContainer(name: "memory", managedObjectModel: try design.model())
    try load { _ in PersistentStoreDescription(type: .inMemory) }
    try open(GraphReference(design))
  }

  private func load(_ description: (_ configuration: String?) -> PersistentStoreDescription) throws {
    container.persistentStoreDescriptions = design.configurations.map { configuration in
      let description = description(configuration)
      description.configuration = configuration
      description.tracksHistory = design.kinds.contains(.history)
      return description
    }
    try container.loadPersistentStores()
  }

  func open(_ state: GraphReference) throws {
    levels = []
    follower = nil
    if let directory {
      // The store is closed with the last container that has it.
      container = try memoryContainer(try design.model())
      container = PersistentContainer(name: "file", managedObjectModel: try design.model())
      try load { configuration in
        let file = directory.url.appendingPathComponent((configuration ?? "all") + ".cambium")
        let description = PersistentStoreDescription(url: file)
        description.durability = .none
        return description
      }
    }
    levels = [try GraphLevel(container.newBackgroundContext(), state)]
    try startHistory()
  }

  var when: String { "step \(step) of seed \(seed), level \(levels.count - 1)" }

  func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

  func count(_ what: String) {
    counts[what, default: 0] += 1
    note(what)
  }

  func note(_ what: String) {
    if log.count > 60 { log.removeFirst(20) }
    log.append("\(step): \(what)")
  }

  /// A context of its own on the store.
  func another(_ state: GraphReference) throws -> GraphLevel {
    try GraphLevel(
      ManagedObjectContext(
        concurrencyType: .privateQueue, persistentStoreCoordinator: container.persistentStoreCoordinator), state)
  }

  /// What a new context finds in the store.
  func checkStore(_ state: GraphReference, _ when: String) throws {
    let level = try another(state)
    try #require(Set(level.objects.keys) == Set(state.nodes.keys), "\(when)")
    try level.check(when)
    try level.checkDerived(state, when)
  }

  func checkSoundness() throws {
    for store in container.persistentStoreCoordinator.persistentStores {
      let report = try store.engine.check()
      try #require(
        report.isSound && report.relationships.isEmpty, "\(report.problems), \(report.relationships), \(when)")
    }
  }

  // MARK: Changes

  func change(_ level: GraphLevel) throws {
    let all = level.state.nodes.keys.sorted()
    switch Int.random(in: 0..<16, using: &random) {
    case 0..<3 where all.count < 36, _ where all.count < 4:
      guard let entity = design.entities.randomElement(using: &random) else { return }
      try insert(entity.name, in: level)
    case 3, 4:
      guard let number = all.randomElement(using: &random) else { return }
      if level.state.isDenied(level.state.doomed(by: [number]), stored: level.stored) { return }
      if design.kinds.contains(.dangling) { try letGo(level.state.doomed(by: [number]), in: level) }
      level.context.delete(try level.object(number))
      note("delete \(number)")
      level.state.delete(number)
      count("delete")
    case 5, 6:
      guard let number = all.randomElement(using: &random) else { return }
      try set(number, in: level)
    default:
      guard let number = all.randomElement(using: &random) else { return }
      try relate(number, in: level)
    }
  }

  /// Takes objects that are going to be deleted out of what no rule takes them out of, as applications have to. What
  /// others lead there meanwhile leads to nothing all the same.
  private func letGo(_ doomed: Set<Int>, in level: GraphLevel) throws {
    for (number, node) in level.state.nodes.sorted(by: { $0.key < $1.key }) where !doomed.contains(number) {
      for r in design.relationships(of: node.entity) where design.mayDangle(r) {
        for other in level.state.links(number, r.name) where doomed.contains(other) {
          let object = try level.object(number)
          if r.isToMany {
            try object.remove(try level.object(other), fromRelationship: r.name)
          } else {
            try object.set(nil, forKey: r.name)
          }
          level.state.remove(other, from: number, r)
        }
      }
    }
  }

  func randomValues(_ entity: String) -> [String: GraphValue] {
    var values: [String: GraphValue] = [:]
    for attribute in design.attributes(of: entity) where !chance(attribute.isRequired ? 12 : 4) {
      values[attribute.name] = attribute.random(&random)
    }
    return values
  }

  @discardableResult
  func insert(_ entity: String, code: String? = nil, in level: GraphLevel) throws -> Int {
    next += 1
    let values = randomValues(entity)
    let code = code ?? (chance(4) ? nil : "c\(next)")
    let object = try level.context.make(entity, ["tag": next, "code": code])
    for attribute in design.attributes(of: entity) {
      guard let value = values[attribute.name] else { continue }
      try object.set(attribute.value(value), forKey: attribute.name)
    }
    level.objects[next] = object
    level.state.insert(next, entity, code: code, design.completed(values, entity))
    count("insert")
    return next
  }

  func set(_ number: Int, in level: GraphLevel) throws {
    guard let node = level.state.nodes[number],
      let attribute = design.attributes(of: node.entity).randomElement(using: &random)
    else { return }
    if !attribute.elements.isEmpty, chance(2) { return try setElement(attribute, of: number, in: level) }
    let value = chance(attribute.isRequired ? 12 : 5) ? nil : attribute.random(&random)
    try level.object(number).set(attribute.value(value), forKey: attribute.name)
    level.state.set(value, attribute.name, of: number)
    count("set")
  }

  private func setElement(_ attribute: GraphDesign.Attribute, of number: Int, in level: GraphLevel) throws {
    guard let part = attribute.parts.dropFirst().randomElement(using: &random) else { return }
    let path = [attribute.name] + part.path
    let value = chance(part.attribute.isRequired ? 12 : 5) ? nil : part.attribute.random(&random)
    try level.object(number).set(part.attribute.value(value), forKeyPath: path.joined(separator: "."))
    level.state.set(value, path, of: number)
    note("set \(path) of \(number)")
    count("set element")
  }

  func relate(_ number: Int, in level: GraphLevel) throws {
    guard let node = level.state.nodes[number],
      let r = design.relationships(of: node.entity).randomElement(using: &random)
    else { return }
    let others = level.state.numbers(r.destination)
    guard let other = others.randomElement(using: &random) else { return }
    note("relate \(number).\(r.name) to \(other)")
    let object = try level.object(number)
    switch Int.random(in: 0..<5, using: &random) {
    case 0 where r.isToMany:
      let present = level.state.links(number, r.name)
      let gone = present.randomElement(using: &random) ?? other
      try object.remove(try level.object(gone), fromRelationship: r.name)
      level.state.remove(gone, from: number, r)
    case 1 where r.isToMany:
      let some = others.filter { _ in chance(5) }.shuffled(using: &random)
      try object.set(try some.map { try level.object($0) }, forKey: r.name)
      level.state.set(some, of: number, r)
    case _ where r.isToMany:
      try object.add(try level.object(other), toRelationship: r.name)
      level.state.add(other, to: number, r)
    case 0, 1:
      try object.set(nil, forKey: r.name)
      level.state.set([], of: number, r)
    default:
      try object.set(try level.object(other), forKey: r.name)
      level.state.add(other, to: number, r)
    }
    count("relate")
  }

  // MARK: What else happens

  /// Deeper levels without changes follow what one above them did.
  func follow(_ place: Int) throws {
    for deeper in levels.indices where deeper > place { try levels[deeper].follow(levels[deeper - 1].state) }
  }

  func undoOrRedo(_ level: GraphLevel) throws {
    // To take out what is gone is a change that the reference knows nothing of.
    if design.kinds.contains(.dangling) { return }
    level.endEvent()
    let undoes = chance(2)
    if undoes {
      try #require(level.undo.canUndo == !level.undoStates.isEmpty, "\(when)")
      level.context.undo()
      guard let state = level.undoStates.popLast() else { return }
      level.redoStates.append(level.state)
      level.state = state
    } else {
      try #require(level.undo.canRedo == !level.redoStates.isEmpty, "\(when)")
      level.context.redo()
      guard let state = level.redoStates.popLast() else { return }
      level.undoStates.append(level.state)
      level.state = state
    }
    level.eventState = level.state
    count(undoes ? "undo" : "redo")
    note(level.state.text)
    // Objects that came back are the instances they were, those that left are not known by their numbers any more.
    let before = level.objects
    try level.findObjects()
    for (number, object) in level.objects {
      if let known = before[number], !level.hasTakenChanges { try #require(known === object, "\(number), \(when)") }
    }
    if chance(2) { try level.check("after \(undoes ? "undo" : "redo"), \(when)") }
  }

  func save() throws {
    let place = levels.count - 1
    let level = levels[place]
    level.endEvent()
    // What the parent changed by itself is an event of its own.
    if place > 0 { levels[place - 1].endEvent() }
    note("saves \(place) \(level.state.text), over \(level.base.text)")
    if try !saveIfAllowed(level) {
      try level.check("refused, \(when)")
      if place == 0 { try checkStore(level.base, "refused, \(when)") } else { try levels[place - 1].check(when) }
      // What is wrong may wait.
      if chance(2) { return }
      try repair(level)
      level.endEvent()
      note("saves again \(level.state.text)")
      // What was stored so and was changed all the same may still be against it.
      if try !saveIfAllowed(level) { return }
    }
    level.base = level.state
    try #require(!level.context.hasChanges, "\(when)")
    count("save")
    if place > 0 {
      try takeIn(level.state)
    } else {
      try followHistory()
      try level.checkDerived(level.state, "saved, \(when)")
      // Drawn as ever, so that kept seeds go on to mean the same runs.
      _ = chance(2)
      try checkStore(level.state, "saved, \(when)")
      if chance(8) { try checkSoundness() }
    }
    if chance(2) { try level.check("saved, \(when)") }
  }

  /// The parent of the last level has what that has saved.
  func takeIn(_ state: GraphReference) throws {
    let parent = levels[levels.count - 2]
    parent.state = state
    parent.hasTakenChanges = true
    parent.endEvent()
    try parent.findObjects()
    if chance(2) { try parent.check("pushed, \(when)") }
  }

  /// What a rule denies is not deleted.
  func deleteInVain(_ level: GraphLevel) throws {
    // What was never saved would be led to, which is an error of its own.
    if design.kinds.contains(.dangling) { return }
    let stored = level.stored
    let denied = level.state.nodes.keys.sorted().filter {
      level.state.isDenied(level.state.doomed(by: [$0]), stored: stored)
    }
    guard let number = denied.randomElement(using: &random) else { return }
    level.endEvent()
    if level !== levels[0] { levels[levels.count - 2].endEvent() }
    level.context.delete(try level.object(number))
    let error = cambiumError { try level.context.save() }
    let errors = error?.code == .validationMultipleErrors ? error?.detailedErrors ?? [] : [error].compactMap { $0 }
    try #require(!errors.isEmpty, "\(number) was deleted, \(when)")
    // In a store, the transaction denies, which comes behind all other rules.
    let isDenied = errors.contains { $0.code == .validationRelationshipDeniedDelete }
    try #require(isDenied || level === levels[0], "\(errors), \(when)")
    for error in errors {
      try #require(error.code == .validationRelationshipDeniedDelete || isOfRules(error), "\(error), \(when)")
    }
    count("denied")
    if chance(2) {
      try level.rollback()
    } else {
      level.context.undo()
      level.forgetUndo()
      try level.findObjects()
    }
    try level.check("denied, \(when)")
  }

  /// An object whose attributes alone are changed is what it was, and nothing else is.
  private func refreshWithoutChanges(_ level: GraphLevel) throws {
    level.endEvent()
    let possible = level.objects.filter { number, object in
      guard let node = level.base.nodes[number], !object.isDeleted, !object.isInserted else { return false }
      let names = design.attributes(of: node.entity).map { $0.name }
      return !object.changedKeys.isEmpty && object.changedKeys.allSatisfy { names.contains($0) }
    }
    guard let number = possible.keys.sorted().randomElement(using: &random) else { return }
    level.context.refresh(try level.object(number), mergeChanges: false)
    level.state.nodes[number]?.values = level.base.nodes[number]?.values ?? [:]
    // What was done to it cannot be taken back one by one any more.
    level.forgetUndo()
    count("refresh without changes")
    try level.check("refreshed without changes, \(when)")
  }

  /// The levels without unsaved changes.
  func rollbackAll() throws {
    for level in levels.reversed() { level.context.rollback() }
    levels[0].state = levels[0].base
    levels[0].forgetUndo()
    try levels[0].findObjects()
    try follow(0)
  }

  /// Another context saves, and the levels, which have no changes, take it in.
  func mergeFromElsewhere() throws {
    try rollbackAll()
    let root = levels[0]
    let other = try another(root.base)
    let told = Told()
    let observation = other.context.observe { told.note($0) }
    for _ in 0..<Int.random(in: 1...4, using: &random) { try change(other) }
    try saveElsewhere(other)
    withExtendedLifetime(observation) {}
    if let saved = told.saved { root.context.mergeChanges(fromContextDidSave: saved) }
    try moveOn(to: other.state)
    count("merge")
    try root.check("merged, \(when)")
  }

  /// The root, which has no unsaved changes, shows a newer state of the store by now.
  func moveOn(to state: GraphReference) throws {
    let root = levels[0]
    (root.base, root.state) = (state, state)
    root.forgetUndo()
    try root.findObjects()
    try followHistory()
    try follow(0)
  }

  func operate() throws {
    let level = levels[levels.count - 1]
    switch Int.random(in: 0..<400, using: &random) {
    case 0..<284: try change(level)
    case 284..<324: level.endEvent()
    case 324..<352: for _ in 0..<Int.random(in: 1...4, using: &random) { try undoOrRedo(level) }
    case 352..<362: try save()
    case 362..<365:
      try level.rollback()
      count("rollback")
      try level.check("rolled back, \(when)")
    case 365..<369:
      if design.kinds.contains(.refreshes), chance(2) {
        try refreshWithoutChanges(level)
      } else if let number = level.state.nodes.keys.sorted().randomElement(using: &random) {
        level.context.refresh(try level.object(number), mergeChanges: true)
        count("refresh")
      }
    case 369..<372 where levels.count < 4:
      level.endEvent()
      let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: level.context)
      levels.append(try GraphLevel(child, level.state))
      count("child")
      try levels[levels.count - 1].check("a new child, \(when)")
    case 372..<377:
      // What it has not saved goes with a child.
      if levels.count > 1 { levels.removeLast() }
    case 377..<380 where levels.count > 1:
      // Something happens above a child that has no changes.
      level.context.rollback()
      let upper = levels[levels.count - 2]
      if chance(2) { try change(upper) } else { try undoOrRedo(upper) }
      try follow(levels.count - 2)
      try level.check("followed, \(when)")
      count("follow")
    case 380, 381: try mergeFromElsewhere()
    case 382 where directory != nil:
      let saved = levels[0].base
      try open(saved)
      count("reopen")
      try levels[0].check("reopened, \(when)")
    case 383..<388: try meetConflict()
    case 388, 389: try upsert()
    case 390, 391: try runBatch()
    case 392, 393: try deleteInVain(level)
    case 394, 395: try level.checkRequests(when, &random)
    default: try level.check(when)
    }
  }
}

private final class Told: @unchecked Sendable {
  // `@unchecked`: used by one thread.
  var saved: ObjectIDNotification?
  func note(_ notification: ContextNotification) {
    if notification.kind == .didSave { saved = notification.objectIDs }
  }
}
