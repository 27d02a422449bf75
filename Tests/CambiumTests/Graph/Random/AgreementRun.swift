import CambiumTesting
import Testing

@testable import Cambium

/// One run of ``AgreementTests``.
final class AgreementRun {
  static let steps = 150

  private let seed: UInt64
  private let design: AgreementKind
  /// Steps that are left out. Each has its own chance, so that the others stay as they are.
  private let without: Set<Int>
  private let container: PersistentContainer
  private let store: PersistentStore
  private let contexts: [ManagedObjectContext]
  private var random: SplitMix64
  private var known: PersistentHistoryToken?
  private(set) var log: [String] = []

  init(seed: UInt64, without: Set<Int> = []) throws {
    (self.seed, self.without) = (seed, without)
    design = try AgreementKind(seed: seed)
    random = SplitMix64(seed: seed)
    container = PersistentContainer(name: "agreement", managedObjectModel: design.model)
    let description = PersistentStoreDescription(type: .inMemory)
    description.tracksHistory = true
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let root = container.newBackgroundContext()
    let children = (0..<2).map { _ in ManagedObjectContext(concurrencyType: .privateQueue, parent: root) }
    contexts = [root, container.newBackgroundContext()] + children
    // What a save wrote is read when the context goes on, as it is after saves of many objects.
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
      try pinOrUnpin(step)
      try lookBeside(step)
      random = SplitMix64(seed: seed &* 1_000_003 &+ UInt64(step))
      let number = [0, 0, 1, 1, 2, 3][random.below(6)]
      do {
        if let problem = try self.step(contexts[number], number) { return problem }
      } catch let error as CambiumError where error.code == .managedObjectReferentialIntegrity {
        // Others have deleted it.
        log.append("   gone")
      } catch let error as CambiumError where error.code == .validationRelationshipDeniedDelete {
        log.append("   denied")
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

  /// Has a context read a generation from now on, or the newest commits again, at times.
  private func pinOrUnpin(_ step: Int) throws {
    guard design.pins else { return }
    var random = SplitMix64(seed: seed &* 7_368_787 &+ UInt64(step))
    guard random.oneIn(12) else { return }
    let number = random.below(2)
    let isPinned = random.oneIn(2)
    log.append("\(number) \(isPinned ? "pin" : "unpin")")
    try contexts[number].setQueryGenerationFrom(isPinned ? .current : nil)
  }

  /// Has a context go on to the newest commit without reading any objects, at times.
  private func lookBeside(_ step: Int) throws {
    guard design.keeps else { return }
    var random = SplitMix64(seed: seed &* 5_915_587 &+ UInt64(step))
    guard random.oneIn(6) else { return }
    let number = random.below(2)
    log.append("\(number) counts \(try contexts[number].count(for: FetchRequest<ManagedObject>(entityName: "Node")))")
  }

  /// An object that the context has, or that another has saved, whose row the context may have read long ago, or never.
  private func kept(by context: ManagedObjectContext, _ entity: String) -> ManagedObject? {
    let ids = contexts.flatMap { $0.registeredObjects }.map { $0.objectID }.filter { !$0.isTemporaryID }
    let known = Set(ids).sorted { $0.reference < $1.reference }.map { context.object(with: $0) }
    let new = context.insertedObjects.sorted { $0.objectID.reference < $1.objectID.reference }
    let all = (known + new).filter { !$0.isDeleted && (entity == "Node" || $0.entity.name == entity) }
    return all.isEmpty ? nil : random.pick(all)
  }

  /// An object of a context, of those that a fetch finds; or another, at times.
  private func some(of context: ManagedObjectContext, _ entity: String = "Node", onlyStored: Bool = false) throws
    -> ManagedObject?
  {
    if design.keeps, !onlyStored, random.oneIn(2) { return kept(by: context, entity) }
    let found = try context.all(entity).filter { !$0.isDeleted && !(onlyStored && $0.objectID.isTemporaryID) }
      .sorted { $0.objectID.reference < $1.objectID.reference }
    return found.isEmpty ? nil : random.pick(found)
  }

  private func change(_ context: ManagedObjectContext, _ number: Int) throws {
    let kind = random.below(8)
    if kind < 2 {
      let code = random.oneIn(3) ? "c\(random.below(4))" : nil
      let owner = try design.isRich && random.oneIn(3) ? some(of: context) : nil
      let made = try context.make(owner == nil ? "Node" : "Leaf", ["name": "n\(log.count)", "code": code])
      log.append("\(number) insert \(name(made))\(owner.map { ", a leaf of \(name($0))" } ?? "")")
      if let owner { try made.set(owner, forKey: "owner") }
      return
    }
    guard let object = try some(of: context), var other = try some(of: context) else { return }
    switch kind {
    case 2:
      log.append("\(number) delete \(name(object))")
      context.delete(object)
    case 3, 4:
      let key = random.pick(design.toOne(of: object))
      if design.destination(of: key) == "Leaf" {
        guard let leaf = try some(of: context, "Leaf") else { return }
        other = leaf
      }
      let target = random.oneIn(5) ? nil : other
      log.append("\(number) \(name(object)).\(key) = \(target.map(name) ?? "nil")")
      try object.set(target, forKey: key)
    case 5, 6:
      let key = random.pick(design.toMany(of: object))
      if design.destination(of: key) == "Leaf" {
        guard let leaf = try some(of: context, "Leaf") else { return }
        other = leaf
      }
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
    let stored = try stored()
    for (number, context) in contexts.enumerated() {
      if context.parent == nil { try context.setQueryGenerationFrom(nil) }
      if context.hasChanges { return "\(number) has changes in the end" }
      context.refreshAllObjects()
      let shown = try state(context)
      if shown != stored { return "\(number) shows\n\(shown)\nstored is\n\(stored)" }
    }
    return nil
  }

  /// What is stored by now.
  func stored() throws -> [String] {
    let fresh = container.newBackgroundContext()
    return try state(fresh)
  }

  private func state(_ context: ManagedObjectContext) throws -> [String] {
    try context.all("Node").map { object in
      let relationships = try (design.toOne(of: object) + design.toMany(of: object)).map { key in
        let ids = try object.objectIDs(forRelationshipNamed: key).map { $0.uriRepresentation().lastPathComponent }
        return key + ":" + ids.sorted().joined(separator: ",")
      }
      return "\(name(object)) \(object.value(forKey: "name") ?? "nil") \(relationships.joined(separator: " "))"
    }.sorted()
  }
}
