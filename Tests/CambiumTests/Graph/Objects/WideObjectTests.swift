import CambiumEngine
import CambiumTesting
import Foundation
import Synchronization
import Testing

@testable import Cambium

/// Entities with more attributes than overlays have room for, and rows of more layouts than a block has at first.
@Suite struct WideObjectTests {
  /// The attributes of `Base`, and then of `Wide`, which inherits them.
  private static let names = (0..<45).map { "a\($0)" }

  private static func wideModel() throws -> ManagedObjectModel {
    func attributes(_ places: Range<Int>) -> [AttributeDescription] {
      places.map { AttributeDescription(names[$0], .string) }
    }
    let (base, wide) = (EntityDescription("Base"), EntityDescription("Wide"))
    base.properties = attributes(0..<20)
    base.uniquenessConstraints = [["a0"]]
    wide.properties = attributes(20..<45)
    wide.superentityName = "Base"
    let model = ManagedObjectModel()
    model.entities = [base, wide]
    return model
  }

  private static func values(_ object: ManagedObject) -> [String?] { names.map { object.value(forKey: $0) as? String } }

  /// Some values, of memory of their own, in no order; the name is the first.
  private static func set(
    _ object: ManagedObject, _ name: String, _ text: String, _ random: inout SplitMix64
  ) throws -> [String?] {
    var values = [String?](repeating: nil, count: 45)
    values[0] = name
    try object.set(name, forKey: "a0")
    for place in (1..<45).shuffled(using: &random).prefix(30) {
      values[place] = "\(text) of the attribute at \(place), 🛩️"
      try object.set(values[place], forKey: names[place])
    }
    return values
  }

  @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite, .mergeByPropertyStoreTrump, .rollback])
  func newObjectsGiveWay(policy: MergePolicy) throws {
    var random = SplitMix64(seed: testSeed(20_261_129))
    let directory = try TemporaryDirectory()
    var expected: [String: [String?]] = [:]
    do {
      let container = try directory.container(model: Self.wideModel())
      let writing = container.newBackgroundContext()
      var stored: [String: [String?]] = [:]
      try writing.performAndWait {
        for n in 0..<12 {
          let object = try writing.insertNewObject(forEntityName: "Wide")
          stored["n\(n)"] = try Self.set(object, "n\(n)", "stored", &random)
        }
        try writing.save()
      }
      let context = container.newBackgroundContext()
      context.mergePolicy = policy
      expected = stored
      try context.performAndWait {
        for n in 6..<18 {
          let object = try context.insertNewObject(forEntityName: "Wide")
          let new = try Self.set(object, "n\(n)", "new", &random)
          guard let old = stored["n\(n)"] else {
            expected["n\(n)"] = new
            continue
          }
          switch policy.mergeType {
          case .mergeByPropertyObjectTrump: expected["n\(n)"] = zip(new, old).map { $0 ?? $1 }
          case .overwrite: expected["n\(n)"] = new
          default: break
          }
        }
        try context.save()
        #expect(!context.hasChanges)
      }
    }
    let context = try directory.container(model: Self.wideModel()).viewContext
    let found = try context.all("Wide")
    #expect(found.count == expected.count)
    for object in found { #expect(Self.values(object) == expected[object.value(forKey: "a0") as? String ?? ""]) }
  }

  /// By a child, its parent, and the parent's parent; what is taken back on the way stays away.
  @Test func newObjectsGoUp() throws {
    var random = SplitMix64(seed: testSeed(20_261_130))
    let container = try memoryContainer(Self.wideModel())
    let top = container.newBackgroundContext()
    let middle = ManagedObjectContext(concurrencyType: .privateQueue, parent: top)
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: middle)
    var expected: [String: [String?]] = [:]
    try child.performAndWait {
      for n in 0..<10 {
        let object = try child.insertNewObject(forEntityName: "Wide")
        expected["n\(n)"] = try Self.set(object, "n\(n)", "child", &random)
      }
      try child.save()
      // Changed once more, and taken back.
      for object in try child.all("Wide") { _ = try Self.set(object, "other", "taken back", &random) }
      child.rollback()
      for object in try child.all("Wide") {
        #expect(Self.values(object) == expected[object.value(forKey: "a0") as? String ?? ""])
        try object.set(nil, forKey: "a31")
        try object.set("last, in memory of its own", forKey: "a44")
      }
      try child.save()
    }
    for key in expected.keys {
      expected[key]?[31] = nil
      expected[key]?[44] = "last, in memory of its own"
    }
    try middle.performAndWait { try middle.save() }
    try top.performAndWait { try top.save() }
    let reading = container.newBackgroundContext()
    try reading.performAndWait {
      let found = try reading.all("Wide")
      #expect(found.count == 10)
      for object in found { #expect(Self.values(object) == expected[object.value(forKey: "a0") as? String ?? ""]) }
    }
  }

  /// Rows of a hundred entities among each other, some longer than a block, read by several threads at once, which keep
  /// every seventh object when their context has gone.
  @Test func rowsOfManyEntitiesReadByThreads() throws {
    let model = ManagedObjectModel()
    let base = EntityDescription("Thing")
    base.properties = [AttributeDescription("number", .integer64), AttributeDescription("text", .string)]
    model.entities = [base]
    for n in 0..<100 {
      let entity = EntityDescription("Thing\(n)")
      entity.superentityName = "Thing"
      entity.properties = [AttributeDescription("own\(n)", n % 2 == 0 ? .string : .double)]
      model.entities.append(entity)
    }
    @Sendable func text(_ n: Int) -> String {
      let size = n % 97 == 0 ? 9_000 : n % 31 == 0 ? 1_020 : n % 13
      return String(repeating: ["a", "é", "e\u{301}", "🧑‍🚀", "\u{0}"][n % 5], count: size)
    }
    let container = try memoryContainer(model)
    let writing = container.newBackgroundContext()
    try writing.performAndWait {
      for n in 0..<6_000 {
        let kind = n * 37 % 101
        let object = try writing.insertNewObject(forEntityName: kind == 100 ? "Thing" : "Thing\(kind)")
        try object.set(n, forKey: "number")
        try object.set(text(n), forKey: "text")
        if kind < 100 { try object.set(kind % 2 == 0 ? "own \(n)" : Double(n), forKey: "own\(kind)") }
      }
      try writing.save()
    }
    let kept = Locked<[Int: String]>([:])
    let wrong = Atomic(0)
    let done = DispatchGroup()
    for thread in 0..<4 {
      done.enter()
      Thread.detachNewThread {
        defer { done.leave() }
        var held: [ManagedObject] = []
        do {
          let context = container.newBackgroundContext()
          try context.performAndWait {
            let found = try context.all("Thing")
            if found.count != 6_000 { wrong.add(1, ordering: .relaxed) }
            for object in found {
              guard let n = object.value(forKey: "number") as? Int else { continue }
              let kind = n * 37 % 101
              let own = kind < 100 ? object.value(forKey: "own\(kind)") : nil
              let isRight = kind == 100 || own as? String == "own \(n)" || own as? Double == Double(n)
              let isSame = (object.value(forKey: "text") as? String).map { Array($0.utf8) } == Array(text(n).utf8)
              if !isRight || !isSame { wrong.add(1, ordering: .relaxed) }
              if n % 7 == thread { held.append(object) }
            }
          }
        } catch { wrong.add(1, ordering: .relaxed) }
        // The rows of these keep their blocks, and nobody else the context.
        for object in held {
          guard let n = object.value(forKey: "number") as? Int else { continue }
          kept.withLock { $0[n] = object.value(forKey: "text") as? String }
        }
      }
    }
    done.wait()
    #expect(wrong.load(ordering: .relaxed) == 0)
    kept.withLock { kept in
      #expect(kept.count > 3_000)
      for (n, found) in kept { #expect(Array(found.utf8) == Array(text(n).utf8)) }
    }
  }
}
