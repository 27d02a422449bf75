import CambiumTesting
import Testing

@testable import Cambium

/// Two contexts of one store, and two children of one of them, do at random what changes relationships, while what they have read grows old:
/// whatever they save, nothing in the store leads one way or nowhere, and in the end all show what is stored.
///
/// `CAMBIUM_AGREEMENTS` says how many runs there are, `CAMBIUM_SEED` with which they begin.
@Suite struct AgreementTests {
  private static let toOne = ["next", "previous", "parent", "boss"]
  private static let toMany = ["children", "friends", "friendOf", "likes", "likedBy", "tags", "tagged", "staff"]

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Node") {
        Attribute("name", .string)
        Attribute("code", .string)
        ToOne("next", "Node", inverse: "previous")
        ToOne("previous", "Node", inverse: "next")
        ToOne("parent", "Node", inverse: "children")
        ToMany("children", "Node", inverse: "parent", ordered: true, deleteRule: .cascade)
        ToMany("friends", "Node", inverse: "friendOf", ordered: true)
        ToMany("friendOf", "Node", inverse: "friends")
        ToMany("likes", "Node", inverse: "likedBy", ordered: true)
        ToMany("likedBy", "Node", inverse: "likes", ordered: true)
        ToMany("tags", "Node", inverse: "tagged")
        ToMany("tagged", "Node", inverse: "tags")
        ToOne("boss", "Node", inverse: "staff")
        ToMany("staff", "Node", inverse: "boss")
        Unique("code")
      }
    }
  }

  @Test func relationshipsAgree() throws {
    let first = testSeed(20_261_127)
    let count = testCount("CAMBIUM_AGREEMENTS", short: 150, full: 1500)
    print("agreement from seed \(first)")
    let model = try Self.model()
    var steps = 0
    for n in 0..<UInt64(count) {
      let run = try Run(model, seed: first &+ n)
      if try run.problem() != nil {
        Issue.record("seed \(first &+ n): \(try Self.shortest(model, seed: first &+ n))")
        return
      }
      steps += run.log.count
    }
    #expect(steps > count * 60)
  }

  /// What goes wrong by as few steps as can be found, and these.
  private static func shortest(_ model: ManagedObjectModel, seed: UInt64) throws -> String {
    var left = Set<Int>()
    var found = ""
    func fails(without left: Set<Int>) throws -> Bool {
      let run = try Run(model, seed: seed, without: left)
      guard let problem = try run.problem() else { return false }
      found = "\(problem)\n\(run.log.joined(separator: "\n"))"
      return true
    }
    _ = try fails(without: [])
    var size = 40
    while size > 0 {
      var isShorter = false
      for start in stride(from: 0, to: Run.steps, by: size) {
        let some = Set(start..<min(start + size, Run.steps)).subtracting(left)
        if some.isEmpty { continue }
        if try fails(without: left.union(some)) {
          left.formUnion(some)
          isShorter = true
        }
      }
      if size > 1 { size /= 2 } else if !isShorter { size = 0 }
    }
    return found
  }

  private final class Run {
    static let steps = 150

    private let seed: UInt64
    /// Steps that are left out. Each has its own chance, so that the others stay as they are.
    private let without: Set<Int>
    private let container: PersistentContainer
    private let store: PersistentStore
    private let contexts: [ManagedObjectContext]
    private var random: SplitMix64
    private var known: PersistentHistoryToken?
    private(set) var log: [String] = []

    init(_ model: ManagedObjectModel, seed: UInt64, without: Set<Int> = []) throws {
      (self.seed, self.without) = (seed, without)
      random = SplitMix64(seed: seed)
      container = PersistentContainer(name: "agreement", managedObjectModel: model)
      let description = PersistentStoreDescription(type: .inMemory)
      description.tracksHistory = true
      container.persistentStoreDescriptions = [description]
      try container.loadPersistentStores()
      store = try #require(container.persistentStoreCoordinator.persistentStores.first)
      let root = container.newBackgroundContext()
      let children = (0..<2).map { _ in ManagedObjectContext(concurrencyType: .privateQueue, parent: root) }
      contexts = [root, container.newBackgroundContext()] + children
      let policies: [MergePolicy] = [
        .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback, .error,
      ]
      for context in contexts {
        context.mergePolicy = random.pick(policies)
        context.undoManager = ContextUndoManager()
      }
      log.append("policies \(contexts.map { "\($0.mergePolicy.mergeType)" })")
    }

    private func name(_ object: ManagedObject) -> String { object.objectID.uriRepresentation().lastPathComponent }

    /// What went wrong, if anything did.
    func problem() throws -> String? {
      for step in 0..<Self.steps where !without.contains(step) {
        random = SplitMix64(seed: seed &* 1_000_003 &+ UInt64(step))
        let number = [0, 0, 1, 1, 2, 3][random.below(6)]
        do {
          if let problem = try self.step(contexts[number], number) { return problem }
        } catch let error as CambiumError where error.code == .managedObjectReferentialIntegrity {
          // Others have deleted it.
          log.append("   gone")
        }
        for context in contexts {
          let errors = context.recordedErrors.filter { $0.code != .managedObjectReferentialIntegrity }
          if let error = errors.first { return "noted: \(error)" }
        }
      }
      return try end()
    }

    private func step(_ context: ManagedObjectContext, _ number: Int) throws -> String? {
      switch random.below(20) {
      case 0..<10: try change(context, number)
      case 10:
        log.append("\(number) event")
        context.processPendingChanges()
      case 11:
        log.append("\(number) undo")
        context.undo()
      case 12:
        log.append("\(number) redo")
        context.redo()
      case 13:
        guard random.oneIn(3) else { break }
        log.append("\(number) rollback")
        context.rollback()
      case 14: try refresh(context, number)
      case 15 where number < 2: try takeInHistory(context, number)
      case 16:
        guard random.oneIn(4), let object = try some(of: contexts[1], onlyStored: true) else { break }
        log.append("batch delete \(name(object))")
        try contexts[1].execute(BatchDeleteRequest(objectIDs: [object.objectID]))
      default: return try save(context, number)
      }
      return nil
    }

    /// An object of a context, of those that a fetch finds.
    private func some(of context: ManagedObjectContext, onlyStored: Bool = false) throws -> ManagedObject? {
      let found = try context.all("Node").filter { !$0.isDeleted && !(onlyStored && $0.objectID.isTemporaryID) }
        .sorted { $0.objectID.reference < $1.objectID.reference }
      return found.isEmpty ? nil : random.pick(found)
    }

    private func change(_ context: ManagedObjectContext, _ number: Int) throws {
      let kind = random.below(8)
      if kind < 2 {
        let code = random.oneIn(3) ? "c\(random.below(4))" : nil
        log.append("\(number) insert \(name(try context.make("Node", ["name": "n\(log.count)", "code": code])))")
        return
      }
      guard let object = try some(of: context), let other = try some(of: context) else { return }
      switch kind {
      case 2:
        log.append("\(number) delete \(name(object))")
        context.delete(object)
      case 3, 4:
        let key = random.pick(AgreementTests.toOne)
        let target = random.oneIn(5) ? nil : other
        log.append("\(number) \(name(object)).\(key) = \(target.map(name) ?? "nil")")
        try object.set(target, forKey: key)
      case 5, 6:
        let key = random.pick(AgreementTests.toMany)
        if random.oneIn(3) {
          log.append("\(number) \(name(object)).\(key) -= \(name(other))")
          try object.remove(other, fromRelationship: key)
        } else {
          log.append("\(number) \(name(object)).\(key) += \(name(other))")
          try object.add(other, toRelationship: key)
        }
      default:
        log.append("\(number) name \(name(object))")
        try object.set("n\(log.count)", forKey: "name")
      }
    }

    private func refresh(_ context: ManagedObjectContext, _ number: Int) throws {
      if random.oneIn(2) {
        log.append("\(number) refresh all")
        return context.refreshAllObjects()
      }
      let all = context.registeredObjects.sorted { $0.objectID.reference < $1.objectID.reference }
      guard !all.isEmpty else { return }
      let (object, mergesChanges) = (random.pick(all), !random.oneIn(3))
      log.append("\(number) refresh \(name(object)) \(mergesChanges)")
      context.refresh(object, mergeChanges: mergesChanges)
    }

    private func takeInHistory(_ context: ManagedObjectContext, _ number: Int) throws {
      log.append("\(number) merge history")
      let request = PersistentHistoryChangeRequest.fetchHistory(after: known)
      for transaction in try context.execute(request).transactions {
        context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
      }
      if random.oneIn(2) { known = try container.persistentStoreCoordinator.currentPersistentHistoryToken() }
    }

    private func save(_ context: ManagedObjectContext, _ number: Int) throws -> String? {
      do {
        try context.save()
        log.append("\(number) saved")
      } catch let error as CambiumError {
        log.append("\(number) save: \(error.code)")
        if random.oneIn(2) {
          log.append("\(number) rollback")
          context.rollback()
        }
      }
      return number < 2 ? try disagreement() : nil
    }

    private func disagreement() throws -> String? {
      let report = try store.check()
      return report.isSound && report.looseRelationships.isEmpty
        ? nil : "\(report.findings) \(report.looseRelationships)"
    }

    /// Saves all, as far as that can be done, and compares what the contexts show.
    private func end() throws -> String? {
      for number in [2, 3, 0, 1] {
        let context = contexts[number]
        log.append("\(number) last save")
        do { try context.save() } catch { context.rollback() }
      }
      if let problem = try disagreement() { return problem }
      let fresh = container.newBackgroundContext()
      let stored = try state(fresh)
      for (number, context) in contexts.enumerated() {
        if context.hasChanges { return "\(number) has changes in the end" }
        context.refreshAllObjects()
        let shown = try state(context)
        if shown != stored { return "\(number) shows\n\(shown)\nstored is\n\(stored)" }
      }
      return nil
    }

    private func state(_ context: ManagedObjectContext) throws -> [String] {
      try context.all("Node").map { object in
        let relationships = try (AgreementTests.toOne + AgreementTests.toMany).map { key in
          let ids = try object.objectIDs(forRelationshipNamed: key).map { $0.uriRepresentation().lastPathComponent }
          return key + ":" + ids.sorted().joined(separator: ",")
        }
        return "\(name(object)) \(object.value(forKey: "name") ?? "nil") \(relationships.joined(separator: " "))"
      }.sorted()
    }
  }
}
