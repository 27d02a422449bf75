import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Random changes of a graph in a context, children, their children, and another context of the store, with undo, redo,
/// rollback, refresh, saves and merges: each level is compared with plain values that went through the same, and the store with
/// what was saved, by other contexts, by the engine's check, and opened again.
///
/// `CAMBIUM_SEED` and `CAMBIUM_GRAPH_OPERATIONS` say where chance begins, and how many operations there are.
@Suite(.serialized) struct GraphModelTests {
  /// A context with what it should show.
  private final class Level {
    let context: ManagedObjectContext
    let undo = ContextUndoManager()
    /// What the parent, or the store, has.
    var base: GraphReference
    var state: GraphReference
    /// The state when the last event ended.
    var eventState: GraphReference
    var undoStates: [GraphReference] = []
    var redoStates: [GraphReference] = []
    var objects: [Int: ManagedObject] = [:]
    /// Whether a child has saved. What it deletes, brings back and saves again is another object here.
    var hasTakenChanges = false

    init(_ context: ManagedObjectContext, _ base: GraphReference) throws {
      self.context = context
      self.base = base
      (state, eventState) = (base, base)
      undo.levelsOfUndo = 12
      context.undoManager = undo
      try findObjects()
    }

    /// Objects as a fetch gives them.
    func findObjects() throws {
      objects = [:]
      for entity in ["A", "B"] {
        for object in try context.all(entity) {
          let number = try #require(try object.get("tag", as: Int.self))
          try #require(objects.updateValue(object, forKey: number) == nil, "\(entity) \(number) is there twice")
        }
      }
    }

    func object(_ number: Int) throws -> ManagedObject { try #require(objects[number], "there is no \(number)") }

    func endEvent() {
      context.processPendingChanges()
      guard state != eventState else { return }
      undoStates.append(eventState)
      if undoStates.count > undo.levelsOfUndo { undoStates.removeFirst() }
      redoStates = []
      eventState = state
    }

    func forgetUndo() {
      context.processPendingChanges()
      undo.removeAllActions()
      (undoStates, redoStates) = ([], [])
      eventState = state
    }

    /// Takes over a newer base. There are no unsaved changes.
    func follow(_ base: GraphReference) throws {
      context.refreshAllObjects()
      (self.base, state) = (base, base)
      forgetUndo()
      try findObjects()
    }

    func check(_ when: String) throws {
      try GraphModelTests.check(objects, state, when)
      let isChanged = state != base
      // Changes that come to nothing are changes all the same.
      if isChanged { try #require(context.hasChanges, "\(when)") }
    }
  }

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("A") {
        Attribute("tag", .integer64)
        Attribute("value", .integer64)
        ToOne("one", "B", inverse: "oneBack")
        ToMany("many", "B", inverse: "manyBack", deleteRule: .cascade)
        ToMany("list", "B", inverse: "listBack", ordered: true)
        ToMany("web", "B", inverse: "webBack")
        ToMany("friends", "A", inverse: "friends")
        ToMany("orderedWeb", "B", inverse: "orderedWebBack", ordered: true)
        ToOne("next", "A", inverse: "previous")
        ToMany("previous", "A", inverse: "next")
        Index("byValue", "value")
      }
      Entity("B") {
        Attribute("tag", .integer64)
        Attribute("value", .integer64)
        ToOne("oneBack", "A", inverse: "one")
        ToOne("manyBack", "A", inverse: "many")
        ToOne("listBack", "A", inverse: "list")
        ToMany("webBack", "A", inverse: "web")
        ToMany("orderedWebBack", "A", inverse: "orderedWeb", ordered: true)
      }
    }
  }

  /// Compares objects with the reference; the inverses agree there by construction.
  private static func check(_ objects: [Int: ManagedObject], _ state: GraphReference, _ when: String) throws {
    for (number, node) in state.nodes {
      let object = try #require(objects[number], "\(node.entity) \(number) is missing, \(when)")
      try #require(!object.isDeleted, "\(node.entity) \(number), \(when)")
      let value = try object.get("value", as: Int.self)
      try #require(value == node.value, "value of \(number), \(when)")
      for r in GraphReference.relationships(of: node.entity) {
        var numbers: [Int] = []
        for id in try object.objectIDs(forRelationshipNamed: r.name) {
          let other = try #require(object.managedObjectContext).object(with: id)
          numbers.append(try #require(try other.get("tag", as: Int.self), "\(r.name) of \(number) dangles, \(when)"))
        }
        if !r.isOrdered { numbers.sort() }
        try #require(numbers == node.links[r.name] ?? [], "\(r.name) of \(number), \(when)")
      }
    }
  }

  /// What a new context finds in the store.
  private static func checkStore(_ coordinator: PersistentStoreCoordinator, _ state: GraphReference, _ when: String)
    throws
  {
    let context = ManagedObjectContext(concurrencyType: .privateQueue, persistentStoreCoordinator: coordinator)
    let level = try Level(context, state)
    try #require(Set(level.objects.keys) == Set(state.nodes.keys), "\(when)")
    try level.check(when)
  }

  private final class Run {
    var random: SplitMix64
    let seed: UInt64
    let model: ManagedObjectModel
    let directory: TemporaryDirectory?
    var container: PersistentContainer
    /// The root, its child, and so on.
    var levels: [Level] = []
    var next = 0
    var step = 0
    var counts: [String: Int] = [:]

    init(seed: UInt64, isInFile: Bool) throws {
      self.seed = seed
      random = SplitMix64(seed: seed)
      model = try GraphModelTests.model()
      directory = isInFile ? try TemporaryDirectory() : nil
      container = try memoryContainer(model)
      try open(GraphReference())
    }

    func open(_ state: GraphReference) throws {
      levels = []
      if let directory {
        // The store is closed with the last container that has it.
        container = try memoryContainer(model)
        container = try directory.container(model: try GraphModelTests.model()) { $0.durability = .none }
      }
      levels = [try Level(container.newBackgroundContext(), state)]
      levels[0].context.mergePolicy = .error
    }

    var when: String { "step \(step) of seed \(seed), level \(levels.count - 1)" }

    func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    func count(_ what: String) { counts[what, default: 0] += 1 }

    // MARK: Changes

    func change(_ level: Level) throws {
      let a = level.state.numbers("A")
      let b = level.state.numbers("B")
      let all = a + b
      switch Int.random(in: 0..<16, using: &random) {
      case 0..<3 where all.count < 36, _ where all.count < 4:
        next += 1
        let entity = chance(2) ? "A" : "B"
        let value = chance(4) ? nil : Int.random(in: 0..<10, using: &random)
        let object = try level.context.make(entity, ["tag": next, "value": value])
        level.objects[next] = object
        level.state.insert(next, entity, value: value)
        count("insert")
      case 3, 4:
        guard let number = all.randomElement(using: &random) else { return }
        level.context.delete(try level.object(number))
        level.state.delete(number)
        count("delete")
      case 5, 6:
        guard let number = all.randomElement(using: &random) else { return }
        let value = chance(5) ? nil : Int.random(in: 0..<10, using: &random)
        try level.object(number).set(value, forKey: "value")
        level.state.set(value, of: number)
        count("set")
      default: try relate(level, all, a, b)
      }
    }

    private func relate(_ level: Level, _ all: [Int], _ a: [Int], _ b: [Int]) throws {
      guard let number = all.randomElement(using: &random), let node = level.state.nodes[number],
        let r = GraphReference.relationships(of: node.entity).randomElement(using: &random)
      else { return }
      let others = r.destination == "A" ? a : b
      guard let other = others.randomElement(using: &random) else { return }
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

    func undoOrRedo(_ level: Level) throws {
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
      try level.context.save()
      level.base = level.state
      try #require(!level.context.hasChanges, "\(when)")
      count("save")
      if place > 0 {
        let parent = levels[place - 1]
        parent.state = level.state
        parent.hasTakenChanges = true
        parent.endEvent()
        try parent.findObjects()
        if chance(2) { try parent.check("pushed, \(when)") }
      } else {
        let coordinator = container.persistentStoreCoordinator
        if chance(2) { try GraphModelTests.checkStore(coordinator, level.state, "saved, \(when)") }
        if chance(30), let store = coordinator.persistentStores.first {
          let report = try store.engine.check()
          try #require(report.isSound, "\(report.problems), \(when)")
        }
      }
      if chance(2) { try level.check("saved, \(when)") }
    }

    /// Another context saves, and the levels, which have no changes, take it in.
    func mergeFromElsewhere() throws {
      let root = levels[0]
      let other = try Level(
        ManagedObjectContext(
          concurrencyType: .privateQueue, persistentStoreCoordinator: container.persistentStoreCoordinator), root.base)
      let told = Told()
      let observation = other.context.observe { told.note($0) }
      for _ in 0..<Int.random(in: 1...4, using: &random) { try change(other) }
      try other.context.save()
      withExtendedLifetime(observation) {}
      if let saved = told.saved { root.context.mergeChanges(fromContextDidSave: saved) }
      (root.base, root.state) = (other.state, other.state)
      root.forgetUndo()
      try root.findObjects()
      try follow(0)
      count("merge")
      try root.check("merged, \(when)")
    }

    func operate() throws {
      let level = levels[levels.count - 1]
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<72: try change(level)
      case 72..<82: level.endEvent()
      case 82..<89: for _ in 0..<Int.random(in: 1...4, using: &random) { try undoOrRedo(level) }
      case 89..<92: try save()
      case 92:
        level.context.rollback()
        level.state = level.base
        level.forgetUndo()
        try level.findObjects()
        count("rollback")
        try level.check("rolled back, \(when)")
      case 93:
        if let number = level.state.nodes.keys.sorted().randomElement(using: &random) {
          level.context.refresh(try level.object(number), mergeChanges: true)
          count("refresh")
        }
      case 94 where levels.count < 4:
        level.endEvent()
        let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: level.context)
        levels.append(try Level(child, level.state))
        count("child")
        try levels[levels.count - 1].check("a new child, \(when)")
      case 95, 96:
        // What it has not saved goes with a child.
        if levels.count > 1 { levels.removeLast() }
      case 97 where levels.count > 1:
        // Something happens above a child that has no changes.
        level.context.rollback()
        let upper = levels[levels.count - 2]
        if chance(2) { try change(upper) } else { try undoOrRedo(upper) }
        try follow(levels.count - 2)
        try level.check("followed, \(when)")
        count("follow")
      case 98:
        for level in levels.reversed() { level.context.rollback() }
        try mergeFromElsewhere()
      case 99 where directory != nil && chance(4):
        let saved = levels[0].base
        try open(saved)
        count("reopen")
        try levels[0].check("reopened, \(when)")
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

  @Test(arguments: [false, true]) func allLevelsAreAsTheReference(isInFile: Bool) throws {
    let seed = testSeed(isInFile ? 20_261_122 : 7)
    let operations = testCount("CAMBIUM_GRAPH_OPERATIONS", debug: 6_000, release: 200_000) / 2
    print("a graph \(isInFile ? "in a file" : "in memory"), \(operations) operations from seed \(seed)")
    var run = try Run(seed: seed, isInFile: isInFile)
    var counts: [String: Int] = [:]
    for step in 0..<operations {
      // Begun anew from time to time, from a seed that can be asked for by itself.
      if step > 0, step % 5000 == 0 {
        counts.merge(run.counts) { $0 + $1 }
        run = try Run(seed: run.seed &+ 1, isInFile: isInFile)
      }
      run.step = step % 5000
      do { try run.operate() } catch {
        Issue.record("\(error), \(run.when)")
        return
      }
    }
    counts.merge(run.counts) { $0 + $1 }
    print(counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
    for kind in ["insert", "delete", "set", "relate", "undo", "redo", "save", "child", "rollback", "refresh", "follow"]
    {
      #expect(counts[kind, default: 0] > operations / 2000, "\(kind) is not tried")
    }
    #expect(counts["merge", default: 0] > 0)
    if isInFile { #expect(counts["reopen", default: 0] > 0) }
  }
}
