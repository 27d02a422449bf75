import Foundation
import Testing

@testable import Cambium

/// A context with what it should show.
final class GraphLevel {
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
  /// What the parent, or the store, has of the objects that are here: not those that only share a number with one
  /// there, having been deleted below, brought back after that was saved, and saved again.
  var stored: GraphReference {
    var result = base
    for (number, object) in objects where object.isInserted { result.nodes[number] = nil }
    return result
  }

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
    for entity in state.design.roots {
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

  func rollback() throws {
    context.rollback()
    state = base
    forgetUndo()
    try findObjects()
  }

  /// Takes over a newer base. There are no unsaved changes.
  func follow(_ base: GraphReference) throws {
    context.refreshAllObjects()
    (self.base, state) = (base, base)
    forgetUndo()
    try findObjects()
  }

  /// What the objects show: with inverses that agree, and nothing that leads to what is not there.
  func read(_ when: String) throws -> GraphReference {
    var result = GraphReference(state.design)
    for (number, object) in objects {
      if object.isDeleted || object.managedObjectContext == nil { continue }
      let entity = object.entity.name
      var values: [String: GraphValue] = [:]
      for attribute in result.design.attributes(of: entity) {
        let value = attribute.plain(try object.get(attribute.name))
        values[attribute.name] = value
        for (path, part) in attribute.parts.dropFirst() {
          let element = part.plain(try object.get(keyPath: ([attribute.name] + path).joined(separator: ".")))
          try #require(element == value?.element(path[...]), "\(attribute.name).\(path) of \(number), \(when)")
        }
      }
      let tag = try object.get("tag", as: Int.self)
      try #require(tag == number, "\(entity) \(number) is \(tag ?? -1), \(when)")
      result.insert(number, entity, code: try object.get("code", as: String.self), values)
      for r in result.design.relationships(of: entity) {
        var numbers: [Int] = []
        var isDangling = false
        for id in try object.objectIDs(forRelationshipNamed: r.name) {
          let other = context.object(with: id)
          guard !other.isDeleted, let tag = try? other.get("tag", as: Int.self) else {
            if result.design.mayDangle(r) {
              isDangling = true
              continue
            }
            throw CambiumError(.coreData, "\(r.name) of \(number) leads to nothing, \(when)")
          }
          let back = try r.inverse.map { try other.objectIDs(forRelationshipNamed: $0).contains(object.objectID) }
          try #require(back != false, "\(r.name) of \(number) leads to \(tag), which does not lead back, \(when)")
          numbers.append(tag)
        }
        if !isDangling {
          try #require(try object.count(ofRelationship: r.name) == numbers.count, "\(r.name) of \(number), \(when)")
        }
        if numbers.isEmpty { continue }
        result.nodes[number]?.links[r.name] = r.isOrdered ? numbers : numbers.sorted()
      }
    }
    return result
  }

  func check(_ when: String) throws {
    let seen = try read(when)
    if seen != state { throw CambiumError(.coreData, "\(seen.difference(from: state) ?? ""), \(when)") }
    // Changes that come to nothing are changes all the same.
    if state != base { try #require(context.hasChanges, "\(when)") }
  }

  /// What requests find, with what is not saved yet.
  func checkRequests(_ when: String, _ random: inout some RandomNumberGenerator) throws {
    for entity in state.design.entities {
      guard let (path, attribute) = state.design.leaf(of: entity.name, &random) else { continue }
      let name = path.joined(separator: ".")
      let value = Int.random(in: 0..<10, using: &random)
      let found = try context.all(entity.name, "%K == %@", [name, attribute.value(.number(value))])
      let numbers = try found.compactMap { try $0.get("tag", as: Int.self) }.sorted()
      let expected = state.numbers(entity.name).filter { state.value(path, of: $0) == .number(value) }
      try #require(numbers == expected, "\(entity.name).\(name) == \(value), \(when)")
      let one = FetchRequest<ManagedObject>(entityName: entity.name)
      one.predicate = try FetchPredicate(format: "%K == %@", name, attribute.value(.number(value)))
      var walked: [Int] = []
      try context.enumerate(one, batchSize: 1 + value, allowEscapingMutations: true) { object in
        let number = try object.get("tag", as: Int.self) ?? -1
        try #require(objects[number] === object, "another object, \(when)")
        walked.append(number)
      }
      try #require(walked.sorted() == expected, "\(entity.name).\(name) == \(value), gone through, \(when)")
      guard
        let r = state.design.relationships(of: entity.name).filter({ $0.isToMany && !state.design.mayDangle($0) })
          .randomElement(using: &random)
      else { continue }
      let number = Int.random(in: 0..<4, using: &random)
      let request = FetchRequest<ManagedObject>(entityName: entity.name)
      request.predicate = try FetchPredicate(format: "\(r.name).@count == %@", number)
      let count = state.numbers(entity.name).count { state.links($0, r.name).count == number }
      try #require(try context.count(for: request) == count, "\(r.name).@count == \(number), \(when)")
    }
  }
}
