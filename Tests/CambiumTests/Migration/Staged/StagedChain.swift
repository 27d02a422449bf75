import CambiumEngine
import CambiumKernel
import CambiumTesting
import Foundation

@testable import Cambium
@testable import CambiumEngineTests

/// A random chain of versions of a model, with stages between them and handlers in some of these.
struct StagedChain {
  /// A handler's work: one attribute of all objects of an entity gets a value. Doing it again changes nothing.
  struct Work {
    var entity: String
    var attribute: String
    var type: AttributeType
    var value: Value
  }

  enum Part {
    /// From each of the versions to the next.
    case lightweight([Int])
    /// From a version to the next, with what the handlers do.
    case custom(Int, will: Work?, did: Work?)
  }

  var definitions: [SchemaDefinition] = []
  var models: [ManagedObjectModel] = []
  var checksums: [String] = []
  var parts: [Part] = []
  /// The version that the store has, and the one that it is to get.
  var start = 0
  var target = 0
  /// Whether the manager is given the models that no custom stage names.
  var knowsModels = true

  /// nil if no chain came of it.
  init?(_ random: inout SplitMix64) {
    var model = RandomModel(seed: random.next())
    guard add(model.definition) else { return nil }
    let count = 3 + random.below(6)
    var tries = 0
    while definitions.count < count, tries < 60 {
      tries += 1
      var next = model.changed()
      let last = definitions[definitions.count - 1]
      // Most steps are such that can be inferred.
      if !random.oneIn(25), !Self.isInferable(last, next.definition) { continue }
      // An attribute goes, and in the next version another type has its name: two steps, and none.
      if random.oneIn(3), let (entity, name) = Self.plainAttribute(next.definition, &random) {
        next.definition.entities[entity].attributes.removeAll { $0.name == name }
        guard add(next.definition) else { continue }
        next.definition.entities[entity].attributes.append(AttributeSchema(name, .integer64))
      }
      guard add(next.definition) else { continue }
      model = next
    }
    guard definitions.count >= 3 else { return nil }
    split(&random)
    start = random.oneIn(3) ? random.below(definitions.count) : 0
    target = random.oneIn(6) ? random.below(definitions.count) : definitions.count - 1
    knowsModels = !random.oneIn(4)
    // Now and then somebody forgot the first stage, or the last. (Whatever no stage lists comes after the last
    // lightweight one.)
    let isNewest = target == definitions.count - 1
    if random.oneIn(20), parts.count > 1, isNewest { parts.removeFirst() }
    if random.oneIn(20), parts.count > 1, isNewest, case .custom = parts[parts.count - 2] {
      parts.removeLast()
    }
  }

  private mutating func add(_ definition: SchemaDefinition) -> Bool {
    let model = ManagedObjectModel(definition: definition)
    guard let schema = try? Schema(definition), let checksum = try? model.versionChecksum,
      checksum == schema.versionChecksum, !checksums.contains(checksum), (try? model.takeIntoUse()) != nil
    else { return false }
    definitions.append(schema.definition)
    models.append(model)
    checksums.append(checksum)
    return true
  }

  static func isInferable(_ source: SchemaDefinition, _ destination: SchemaDefinition) -> Bool {
    NaiveMigration(source, destination).refusals().isEmpty
  }

  /// An attribute, no number, that no key is made of.
  private static func plainAttribute(
    _ definition: SchemaDefinition, _ random: inout SplitMix64
  ) -> (entity: Int, name: String)? {
    var keys: Set<String> = []
    for entity in definition.entities {
      for index in entity.indexes {
        keys.formUnion(index.elements.flatMap { $0.path.split(separator: ".").map(String.init) })
        // Conditions have the form "name != nil".
        if let name = index.partialPredicate?.split(separator: " ").first { keys.insert(String(name)) }
      }
      for constraint in entity.uniquenessConstraints {
        keys.formUnion(constraint.paths.flatMap { $0.split(separator: ".").map(String.init) })
      }
    }
    let candidates = definition.entities.indices.flatMap { entity in
      definition.entities[entity].attributes
        .filter { !$0.type.isNumeric && $0.type != .composite && !keys.contains($0.name) }.map { (entity, $0.name) }
    }
    return candidates.isEmpty ? nil : random.pick(candidates)
  }

  // MARK: Stages

  private mutating func split(_ random: inout SplitMix64) {
    var place = 0
    var isAfterCustom = false
    while place < definitions.count - 1 {
      if random.oneIn(2) {
        parts.append(
          .custom(
            place, will: random.oneIn(4) ? nil : work(place, &random),
            did: random.oneIn(3) ? nil : work(place + 1, &random)))
        place += 1
        isAfterCustom = true
        continue
      }
      // The version that a custom stage leads to departs without being listed again.
      if isAfterCustom { place += 1 }
      isAfterCustom = false
      let most = definitions.count - place
      var versions = Array(place..<(place + 1 + random.below(min(most, 4))))
      // The last version may be listed or not, unless there is nothing else to list.
      if versions.count > 1, versions.last == definitions.count - 1, random.oneIn(2) { versions.removeLast() }
      parts.append(.lightweight(versions))
      place = versions[versions.count - 1] + 1
    }
  }

  private func work(_ version: Int, _ random: inout SplitMix64) -> Work? {
    let model = NaiveModel(definitions[version])
    let types: Set<AttributeType> = [.integer16, .integer32, .integer64, .double, .string, .boolean, .date]
    let unique = Set(definitions[version].entities.flatMap { $0.uniquenessConstraints.flatMap { $0.paths } })
    let candidates = definitions[version].entities.flatMap { entity in
      model.attributes(entity).filter { types.contains($0.type) && !unique.contains($0.name) }.map { (entity.name, $0) }
    }
    if candidates.isEmpty { return nil }
    let (entity, attribute) = random.pick(candidates)
    return Work(
      entity: entity, attribute: attribute.name, type: attribute.type,
      value: RandomModel.value(attribute.type, &random))
  }

  func reference(_ version: Int) -> ManagedObjectModelReference {
    ManagedObjectModelReference(model: models[version], versionChecksum: checksums[version])
  }

  /// The manager; `pass` is called wherever the process may end.
  func manager(_ pass: @escaping () throws -> Void) throws -> StagedMigrationManager {
    func handler(_ work: Work?) -> CustomMigrationStage.Handler? {
      guard let work else { return nil }
      return { manager, _ in
        let context = manager.container?.newBackgroundContext()
        try pass()
        try context?.performAndWait {
          let objects = try context?.all(work.entity) ?? []
          for (n, object) in objects.enumerated() {
            try object.set(work.value.foundation(type: work.type, objects: nil), forKey: work.attribute)
            if n % 3 == 2 {
              try context?.save()
              try pass()
            }
          }
          try context?.save()
        }
        try pass()
      }
    }
    let stages = parts.map { part -> MigrationStage in
      switch part {
      case .lightweight(let versions): return LightweightMigrationStage(versions.map { checksums[$0] })
      case .custom(let version, let will, let did):
        let stage = CustomMigrationStage(migratingFrom: reference(version), to: reference(version + 1))
        stage.label = "\(version) to \(version + 1)"
        stage.willMigrateHandler = handler(will)
        stage.didMigrateHandler = handler(did)
        return stage
      }
    }
    return try StagedMigrationManager(stages, models: knowsModels ? models.indices.map { reference($0) } : [])
  }
}

/// The way through stages once more, on objects in memory.
struct NaiveStages {
  enum End {
    case reached
    /// The store's version, or the coordinator's, is in no stage.
    case unknown
    case backwards
    case notInferable
    case blocked
  }

  let chain: StagedChain
  private(set) var store: NaiveStore
  /// The version.
  private(set) var place: Int
  private(set) var end = End.reached
  /// How often it went version by version.
  private(set) var singleSteps = 0
  private var custom: [Int: (will: StagedChain.Work?, did: StagedChain.Work?)] = [:]

  init(_ chain: StagedChain, _ store: NaiveStore) {
    self.chain = chain
    self.store = store
    place = chain.start
    var known: Set<Int> = []
    var endsLightweight = false
    for part in chain.parts {
      switch part {
      case .lightweight(let versions):
        known.formUnion(versions)
        endsLightweight = true
      case .custom(let version, let will, let did):
        custom[version] = (will, did)
        known.formUnion([version, version + 1])
        endsLightweight = false
      }
    }
    if place == chain.target { return }
    if !known.contains(place) || !(known.contains(chain.target) || endsLightweight) {
      end = .unknown
      return
    }
    if place > chain.target {
      end = .backwards
      return
    }
    walk()
  }

  private func isInferable(_ from: Int, _ to: Int) -> Bool {
    StagedChain.isInferable(chain.definitions[from], chain.definitions[to])
  }

  /// Where one jump leads.
  private func jump(_ from: Int) -> Int {
    if custom[from] != nil { return from + 1 }
    var to = from + 1
    while to < chain.target, custom[to] == nil { to += 1 }
    return to
  }

  private func isPassable(_ start: Int) -> Bool {
    var place = start
    while place < chain.target {
      let to = jump(place)
      if isInferable(place, to) {
        place = to
      } else if to > place + 1, chain.knowsModels, isInferable(place, place + 1) {
        place += 1
      } else {
        return false
      }
    }
    return true
  }

  private mutating func walk() {
    while place < chain.target {
      guard isPassable(place) else {
        end = .notInferable
        return
      }
      var to = jump(place)
      if !isInferable(place, to) {
        to = place + 1
        singleSteps += 1
      }
      perform(custom[place]?.will)
      if let next = migrated(to) {
        store = next
      } else if to > place + 1, chain.knowsModels, isPassable(place + 1), isInferable(place, place + 1),
        let next = migrated(place + 1)
      {
        singleSteps += 1
        store = next
        to = place + 1
      } else {
        end = .blocked
        return
      }
      let work = custom[place]?.did
      place = to
      perform(work)
    }
  }

  private func migrated(_ to: Int) -> NaiveStore? {
    guard case .migrated(let result) = NaiveMigration(chain.definitions[place], chain.definitions[to]).migrate(store)
    else { return nil }
    return result
  }

  private mutating func perform(_ work: StagedChain.Work?) {
    guard let work else { return }
    let family = NaiveModel(chain.definitions[place]).family(work.entity)
    for (row, object) in store.objects where family.contains(object.entity) {
      store.objects[row]?.attributes[work.attribute] = work.value
    }
  }
}
