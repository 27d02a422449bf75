import CambiumEngine
import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Changed attributes of overlays, whose values lie behind what every overlay has as far as there is room.
@Suite struct ObjectOverlayTests {
  /// Of memory of its own, of some bytes that are in the value, or of neither.
  private static func value(_ random: inout SplitMix64) -> Value {
    let number = Int64.random(in: 0..<1_000, using: &random)
    switch number % 6 {
    case 0: return .null
    case 1: return .integer(number)
    case 2: return .string("a text of more than fifteen bytes, \(number)")
    case 3: return .binary([UInt8](repeating: UInt8(number % 251), count: 40))
    case 4: return .composite(["name": .string("another one that is long, \(number)"), "number": .integer(number)])
    default: return .list([.string("\(number)"), .double(Double(number))])
    }
  }

  @Test(arguments: [0, 1, 5, 32, 50]) func attributesAreADictionary(room: Int) {
    var random = SplitMix64(seed: testSeed(20_261_127 + UInt64(room)))
    for round in 0..<60 {
      let overlay = ObjectOverlay.make(room: room)
      var expected: [Int: Value] = [:]
      let places = round % 2 == 0 ? 45 : max(room, 3)
      for _ in 0..<120 {
        let place = Int.random(in: 0..<places, using: &random)
        let new = Self.value(&random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 4:
          overlay.removeAttribute(at: place)
          expected[place] = nil
        case 1:
          overlay.attributeChanges[place] = new
          expected[place] = new
        case 2:
          overlay.attributeChanges.removeValue(forKey: place)
          expected[place] = nil
        case 3 where place % 5 == 0:
          let before = overlay.attributeChanges
          overlay.attributeChanges = [:]
          #expect(!overlay.changesAttributes && overlay.hasNoChanges)
          if place % 2 == 0 { expected = [:] } else { overlay.attributeChanges = before }
        default:
          overlay.setAttribute(new, at: place)
          expected[place] = new
        }
        #expect(overlay.changedAttribute(at: place) == expected[place])
        #expect(overlay.changesAttribute(at: place) == (expected[place] != nil))
        #expect(overlay.changesAttributes == !expected.isEmpty && overlay.hasNoChanges == expected.isEmpty)
      }
      let sorted = expected.sorted { $0.key < $1.key }
      var seen: [Int] = []
      var values: [Value] = []
      overlay.forEachAttribute { (place, value) in
        seen.append(place)
        values.append(value)
      }
      #expect(seen == sorted.map { $0.key } && values == sorted.map { $0.value })
      let copy = overlay.attributeChanges
      #expect(copy.keys == seen && copy.values == values)
      // What was copied is not changed along.
      for place in 0..<places { overlay.setAttribute(.null, at: place) }
      #expect(copy.values == values && overlay.attributeChanges.count == places)
    }
  }

  /// What else is in an overlay stays as it is while attributes come and go.
  @Test func whatIsBesideStays() {
    let overlay = ObjectOverlay.make(room: 3)
    overlay.fields.pointee.changeOrder = 7
    overlay.fields.pointee.savePlace = 8
    overlay.transients = ["t": 1]
    overlay.toOneChanges.updateValue(nil, forKey: 2)
    overlay.eventState = .absent
    for place in [2, 0, 40, 1, 2] {
      overlay.setAttribute(.string("a text that has memory of its own \(place)"), at: place)
    }
    overlay.attributeChanges = [:]
    #expect(overlay.fields.pointee.changeOrder == 7 && overlay.fields.pointee.savePlace == 8)
    #expect(overlay.transients["t"] as? Int == 1 && overlay.toOneChanges.contains(2) && overlay.hasEventState)
    #expect(!overlay.isWithoutMore && !overlay.hasNoChanges && !overlay.isIdle)
  }

  /// New objects of an entity with more attributes than overlays have room for: set in any order, undone, redone,
  /// saved, read again.
  @Test func manyAttributesOfNewObjects() throws {
    let names = (0..<45).map { "a\($0)" }
    let model = ManagedObjectModel()
    let entity = EntityDescription()
    entity.name = "Wide"
    entity.properties = names.enumerated().map { place, name in
      let attribute = AttributeDescription()
      attribute.name = name
      attribute.attributeType = .string
      attribute.isOptional = true
      if place % 11 == 3 { attribute.defaultValue = "default \(place)" }
      return attribute
    }
    model.entities = [entity]
    let directory = try TemporaryDirectory()
    var random = SplitMix64(seed: testSeed(20_261_128))
    var expected: [String: [String?]] = [:]
    do {
      let context = try directory.container(model: model).newBackgroundContext()
      let undo = ContextUndoManager()
      context.undoManager = undo
      try context.performAndWait {
        for number in 0..<20 {
          let object = try context.insertNewObject(forEntityName: "Wide")
          var values = (0..<45).map { $0 % 11 == 3 ? "default \($0)" : nil }
          func set(_ count: Int) throws {
            for _ in 0..<count {
              let place = Int.random(in: 1..<45, using: &random)
              values[place] =
                Int.random(in: 0..<6, using: &random) == 0
                ? nil : "text number \(place) of \(number), in its own memory"
              try object.set(values[place], forKey: names[place])
            }
          }
          try object.set("n\(number)", forKey: "a0")
          values[0] = "n\(number)"
          try set(60)
          context.processPendingChanges()
          let before = values
          undo.beginUndoGrouping()
          try set(20)
          context.processPendingChanges()
          undo.endUndoGrouping()
          let after = values
          undo.undo()
          #expect(names.map { object.value(forKey: $0) as? String } == before)
          undo.redo()
          #expect(names.map { object.value(forKey: $0) as? String } == after)
          if number % 2 == 0 {
            undo.undo()
            values = before
          }
          #expect(Set(object.changedValues().keys).isSuperset(of: names.filter { object.value(forKey: $0) != nil }))
          expected["n\(number)"] = values
        }
        try context.save()
      }
    }
    let context = try directory.container(model: model).viewContext
    let found = try context.all("Wide")
    #expect(found.count == 20)
    for object in found {
      let name = try #require(object.value(forKey: "a0") as? String)
      #expect(names.map { object.value(forKey: $0) as? String } == expected[name])
    }
  }
}
