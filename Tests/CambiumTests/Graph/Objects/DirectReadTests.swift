import CambiumTesting
import Foundation
import Testing

@testable import Cambium

struct DirectTexts: CompositeRepresentable, Equatable {
  var a: String?
  var b: String?
  init(_ a: String?, _ b: String?) { (self.a, self.b) = (a, b) }
  init?(compositeValues v: [String: Any]) { (a, b) = (v["a"] as? String, v["b"] as? String) }
  var compositeValues: [String: Any] { ["a": a as Any, "b": b as Any] }
  init?(compositeElements e: CompositeElements) {
    a = e["a"]
    b = e["b"]
    let none: String? = e["none"]
    if none != nil { return nil }
  }
  var compositeElements: CompositeElements? {
    var e = CompositeElements()
    e["a"] = a
    e["b"] = b
    return e
  }
}
final class DirectObject: ManagedObject {
  @Managed var s: String?
  @Managed var d: Double?
  @Managed var i: Int?
  @Managed var j: Int32?
  @Managed var k: Int16?
  @Managed var f: Bool?
  @Managed var t: Date?
  @Managed var x: Data?
  @Managed var c: DirectTexts?
  @Managed var pal: ManagedObject?
}

/// Attributes of common types are read straight from rows: always what the general way gives.
@Suite struct DirectReadTests {
  func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Composite("Texts") {
        Attribute("a", .string)
        Attribute("b", .string)
      }
      Entity("T", class: DirectObject.self) {
        Attribute("s", .string)
        Attribute("d", .double)
        Attribute("i", .integer64)
        Attribute("j", .integer32)
        Attribute("k", .integer16)
        Attribute("f", .boolean)
        Attribute("t", .date)
        Attribute("x", .binary)
        Attribute("c", composite: "Texts")
        ToOne("pal", "T", inverse: "pals")
        ToMany("pals", "T", inverse: "pal")
      }
    }
  }

  func same(_ o: DirectObject) throws {
    do { try sameInner(o) } catch let e as CambiumError where e.code == .managedObjectReferentialIntegrity {}
  }
  func sameInner(_ o: DirectObject) throws {
    _ = try o.get("s")
    #expect(o.s == (try o.get("s") as? String))
    #expect(o.d == (try o.get("d") as? Double))
    #expect(o.i == (try o.get("i") as? Int))
    #expect(o.j.map { Int($0) } == (try o.get("j") as? Int))
    #expect(o.k.map { Int($0) } == (try o.get("k") as? Int))
    #expect(o.f == (try o.get("f") as? Bool))
    #expect(o.t == (try o.get("t") as? Date))
    #expect(o.x == (try o.get("x") as? Data))
    let c = try o.get("c") as? [String: Any]
    #expect((o.c?.a, o.c?.b) == (c?["a"] as? String, c?["b"] as? String))
  }

  func change(_ o: DirectObject, _ r: inout SplitMix64) {
    switch Int.random(in: 0..<9, using: &r) {
    case 0: o.s = Bool.random(using: &r) ? nil : String(repeating: "ä", count: Int.random(in: 0..<300, using: &r))
    case 1: o.d = Bool.random(using: &r) ? nil : Double.random(in: -9...9, using: &r)
    case 2: o.i = Bool.random(using: &r) ? nil : Int.random(in: Int.min...Int.max, using: &r)
    case 3: o.j = Bool.random(using: &r) ? nil : Int32.random(in: Int32.min...Int32.max, using: &r)
    case 4: o.k = Bool.random(using: &r) ? nil : Int16.random(in: Int16.min...Int16.max, using: &r)
    case 5: o.f = Bool.random(using: &r) ? nil : Bool.random(using: &r)
    case 6: o.t = Bool.random(using: &r) ? nil : Date(timeIntervalSinceReferenceDate: Double(r.next() % 1000))
    case 7: o.x = Bool.random(using: &r) ? nil : Data(count: Int(r.next() % 3000))
    default: o.c = Bool.random(using: &r) ? nil : DirectTexts(Bool.random(using: &r) ? nil : "a\(r.next())", nil)
    }
  }

  @Test func typedValuesAreTheGeneralOnes() throws {
    for seed in 0..<12 as Range<UInt64> {
      var r = SplitMix64(seed: seed)
      let directory = try TemporaryDirectory()
      let container = try directory.container(model: model())
      var root = container.newBackgroundContext()
      root.mergePolicy = .mergeByPropertyObjectTrump
      root.undoManager = ContextUndoManager()
      let other = container.newBackgroundContext()
      other.mergePolicy = .mergeByPropertyObjectTrump
      var child = ManagedObjectContext(concurrencyType: .privateQueue, parent: root)
      child.mergePolicy = .mergeByPropertyObjectTrump
      var grand = ManagedObjectContext(concurrencyType: .privateQueue, parent: child)
      grand.mergePolicy = .mergeByPropertyObjectTrump
      for _ in 0..<40 { change(DirectObject(context: root), &r) }
      try root.save()
      for step in 0..<250 {
        let contexts = [root, child, grand, other]
        let c = contexts[Int(r.next() % 4)]
        let all = try c.fetch(FetchRequest<DirectObject>(entityName: "T"))
        for o in all.shuffled(using: &r).prefix(8) { try same(o) }
        guard let o = all.randomElement(using: &r) else { break }
        switch r.next() % 14 {
        case 0, 1, 2, 3: for _ in 0..<4 { change(o, &r) }
        case 4: o.pal = all.randomElement(using: &r)
        case 5:
          do { try c.save() } catch let e as CambiumError {
            #expect(e.code != .invalidArgument, "\(e)")
            c.rollback()
          }
        case 6: c.refresh(o, mergeChanges: Bool.random(using: &r))
        case 7: c.rollback()
        case 8: c.undo()
        case 9: if step % 5 == 0 { c.delete(o) }
        case 10: change(DirectObject(context: c), &r)
        case 11: c.refreshAllObjects()
        case 12:
          let n = DirectObject(context: c)
          change(n, &r)
          try c.obtainPermanentIDs(for: [n])
          if r.next() % 2 == 0 { o.pal = n }
        default:
          if step % 40 == 0 {
            let old = all
            root = container.newBackgroundContext()
            root.mergePolicy = .mergeByPropertyObjectTrump
            root.undoManager = ContextUndoManager()
            child = ManagedObjectContext(concurrencyType: .privateQueue, parent: root)
            child.mergePolicy = .mergeByPropertyObjectTrump
            grand = ManagedObjectContext(concurrencyType: .privateQueue, parent: child)
            grand.mergePolicy = .mergeByPropertyObjectTrump
            for o in old { _ = (o.s, o.c, o.managedObjectContext, o.objectID, o.pal) }
          } else {
            c.processPendingChanges()
          }
        }
        try same(o)
      }
    }
  }

  /// Names that lie within a string, those that are too long for it, and such as can be written in two ways; given by
  /// strings of the program, and by others that are only equal to them; of a model that was made, and of one that a
  /// file has. Names whose memory is used again for others, in the same place and of the same length.
  @Test func relationshipsAreFoundByNamesInUsedMemory() throws {
    let names = ["owner", "buyer", "a"]
    let model = try ManagedObjectModel {
      Entity("Thing") { for name in names { ToOne(name, "Person", inverse: "of" + name) } }
      Entity("Person") {
        Attribute("name", .string)
        for name in names { ToMany("of" + name, "Thing", inverse: name) }
      }
    }
    let directory = try TemporaryDirectory()
    let context = try directory.container(model: model).newBackgroundContext()
    try context.performAndWait {
      let thing = try context.insertNewObject(forEntityName: "Thing")
      let people = try names.map { try context.make("Person", ["name": $0]) }
      var key = ""
      key.reserveCapacity(64)
      for round in 0..<3 {
        for (name, person) in zip(names, people) {
          key.removeAll(keepingCapacity: true)
          key += name
          let given: ManagedObject? = round == 1 ? nil : person
          thing[managed: key] = given
        }
        try context.save()
        context.refresh(thing, mergeChanges: false)
        for (name, person) in zip(names, people) {
          key.removeAll(keepingCapacity: true)
          key += name
          let found: ManagedObject? = thing[managed: key]
          #expect(found === (round == 1 ? nil : person), "\(name), \(round)")
          #expect(try person.count(ofRelationship: "of" + name) == (round == 1 ? 0 : 1))
        }
      }
    }
  }

  @Test func namesAreFoundHoweverTheyAreWritten() throws {
    let names = [
      "s", "fifteenLettersX", "sixteenLettersXY", "aVeryLongNameOfAnAttribute", "anotherLongNameOfAnAttribute",
      "caf\u{E9}",
      "eineStra\u{DF}eMitEinemLangenNamen\u{FC}", "zz",
    ]
    let model = try ManagedObjectModel {
      Composite("Texts") {
        Attribute("a", .string)
        Attribute("aVeryLongNameOfAnElement", .string)
        Attribute("caf\u{E9}", .string)
      }
      Entity("T") {
        for name in names { Attribute(name, .string) }
        Attribute("passing", .string, transient: true)
        Attribute("aLongNameOfATransientAttribute", .string, transient: true)
        Attribute("texts", composite: "Texts")
      }
    }
    /// An equal string that shares no memory, and has letters of two parts where there are any.
    func other(_ name: String) -> String {
      String(decoding: Array(name.decomposedStringWithCanonicalMapping.utf8), as: UTF8.self)
    }
    let directory = try TemporaryDirectory()
    var container = try directory.container(model: model)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      for n in 0..<5 {
        let object = try context.insertNewObject(forEntityName: "T")
        for (i, name) in names.enumerated() { object[managed: n % 2 == 0 ? name : other(name)] = "\(n) \(i)" }
        object.setValue(["a": "A\(n)", "aVeryLongNameOfAnElement": "B\(n)", "caf\u{E9}": "C\(n)"], forKey: "texts")
      }
      try context.save()
    }
    var random = SplitMix64(seed: testSeed(20_261_127))
    for isReopened in [false, true] {
      if isReopened {
        let stores = container.persistentStoreCoordinator
        for store in stores.persistentStores { try stores.remove(store) }
        container = try directory.container(model: model)
      }
      let context = container.newBackgroundContext()
      try context.performAndWait {
        let objects = try context.fetch(FetchRequest<ManagedObject>(entityName: "T"))
        #expect(objects.count == 5)
        for _ in 0..<2_000 {
          let n = Int.random(in: 0..<5, using: &random)
          let i = Int.random(in: names.indices, using: &random)
          let name = Bool.random(using: &random) ? names[i] : other(names[i])
          let text: String? = objects[n][managed: name]
          #expect(text == "\(n) \(i)", "\(name)")
          // Of what comes between, the next name must not be taken for known.
          let passing: String? = objects[n][managed: other("passing")]
          let long: String? = objects[n][managed: other("aLongNameOfATransientAttribute")]
          #expect(passing == nil && long == nil)
        }
        #expect(context.recordedErrors.isEmpty)
        let elements = try #require(try objects[3].compositeElements("texts"))
        let found = ["a", "aVeryLongNameOfAnElement", "caf\u{E9}", "none", "aVeryLongNameOfNoElement"].map {
          elements.string(other($0)) ?? nil
        }
        #expect(found == ["A3", "B3", "C3", nil, nil])
        let nothing: String? = objects[0][managed: other("aVeryLongNameOfNoAttribute")]
        #expect(nothing == nil && context.recordedErrors.count == 1)
      }
    }
  }

  /// What is read from a row is there when the object has another row, and when object, context and store are gone.
  @Test func elementsOutliveWhatTheyCameFrom() throws {
    let directory = try TemporaryDirectory()
    var container: PersistentContainer? = try directory.container(model: model())
    var elements: [(CompositeElements, Int)] = []
    try container?.newBackgroundContext().performAndWait {
      let context = try #require(container).newBackgroundContext()
      for n in 0..<300 {
        DirectObject(context: context).c = DirectTexts("text \(n), too long to lie in a string", "b\(n)")
      }
      try context.save()
      let order = [FetchSortDescriptor(key: "c.b")]
      let request = FetchRequest<DirectObject>(entityName: "T")
      request.sortDescriptors = order
      for object in try context.fetch(request) {
        let found = try #require(try object.compositeElements("c"))
        let b: String? = found["b"]
        elements.append((found, try #require(b.flatMap { Int($0.dropFirst()) })))
        object.c = DirectTexts("other", nil)
      }
      try context.save()
      context.refreshAllObjects()
      for object in try context.fetch(request) { #expect(object.c == DirectTexts("other", nil)) }
    }
    let stores = container?.persistentStoreCoordinator
    for store in stores?.persistentStores ?? [] { try stores?.remove(store) }
    container = nil
    #expect(elements.count == 300)
    for (found, n) in elements {
      let text: String? = found["a"]
      #expect(text == "text \(n), too long to lie in a string")
      var changed = found
      changed["b"] = "changed"
      let (b, a, before): (String?, String?, String?) = (changed["b"], changed["a"], found["b"])
      #expect(b == "changed" && a == text && before == "b\(n)")
    }
  }

  /// An object that does to itself, when it is read for the first time, what a reader would not expect.
  final class Restless: ManagedObject {
    nonisolated(unsafe) static var act: (Restless) -> Void = { _ in }
    @Managed var s: String?
    @Managed var c: DirectTexts?
    override func awakeFromFetch() { Self.act(self) }
  }

  @Test func objectsMayChangeWhileTheyAreFirstRead() throws {
    let model = try ManagedObjectModel {
      Composite("Texts") {
        Attribute("a", .string)
        Attribute("b", .string)
      }
      Entity("R", class: Restless.self) {
        Attribute("s", .string)
        Attribute("c", composite: "Texts")
      }
    }
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: model)
    Restless.act = { _ in }
    defer { Restless.act = { _ in } }
    let acts: [(act: (Restless) -> Void, text: String?)] = [
      ({ $0.managedObjectContext?.refresh($0, mergeChanges: false) }, "text"),
      ({ $0.managedObjectContext?.refresh($0, mergeChanges: true) }, "text"),
      ({ $0.s = "set" }, "set"),
      ({ object in _ = try? object.managedObjectContext?.fetch(FetchRequest<Restless>(entityName: "R")) }, "text"),
      ({ $0.managedObjectContext?.reset() }, nil),
      ({ $0.managedObjectContext?.refreshAllObjects() }, "text"),
    ]
    let writing = container.newBackgroundContext()
    try writing.performAndWait {
      for _ in 0..<40 {
        let object = Restless(context: writing)
        object.s = "text"
        object.c = DirectTexts("element that is long enough for memory of its own", "b")
      }
      try writing.save()
    }
    for (place, (act, text)) in acts.enumerated() {
      let context = container.newBackgroundContext()
      try context.performAndWait {
        let objects = try context.fetch(FetchRequest<Restless>(entityName: "R"))
        #expect(objects.count == 40)
        // Refreshing makes a fault again, whose reading calls this again.
        nonisolated(unsafe) var calls = 0
        Restless.act = { object in
          calls += 1
          if calls % 2 == 1 { act(object) }
        }
        for (n, object) in objects.enumerated() {
          if n % 2 == 0 {
            #expect(object.s == text, "\(place)")
          } else {
            let c = object.c
            #expect(text == nil || c?.b == "b", "\(place)")
          }
        }
        #expect(calls > 0)
        Restless.act = { _ in }
      }
    }
  }
}
