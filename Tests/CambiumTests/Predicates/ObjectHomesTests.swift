import Cambium
import Foundation
import Testing

/// Objects of two stores with the same entity and row: a predicate that names one of them does not mean the other.
@Suite struct ObjectHomesTests {
  final class Note: ManagedObject, FetchPaths {
    struct Paths: Sendable {
      let other = FetchPath<Note, Note>("other")
      let others = FetchCollection<Note, Note>("others")
    }
    static let paths = Paths()
  }

  private static func container(_ directory: TemporaryDirectory, tracking: Bool = false) throws -> PersistentContainer {
    let model = try ManagedObjectModel {
      Entity("Note", class: Note.self) {
        Attribute("name", .string)
        ToOne("other", "Note", inverse: "others")
        ToMany("others", "Note", inverse: "other")
        Fetched("alike", "Note", where: "SELF != $FETCH_SOURCE AND name == $FETCH_SOURCE.name")
        Fetched("same", "Note", where: "SELF == $FETCH_SOURCE OR SELF == $FETCH_SOURCE.other")
      }
      Configuration("one", "Note")
      Configuration("two", "Note")
    }
    let container = PersistentContainer(name: "homes", managedObjectModel: model)
    container.persistentStoreDescriptions = ["one", "two"].map { name in
      let description = PersistentStoreDescription(url: directory.url.appendingPathComponent(name + ".cambium"))
      description.configuration = name
      description.tracksHistory = tracking
      return description
    }
    try container.loadPersistentStores()
    return container
  }

  /// Two notes in each store, the second leading to the first; the rows are the same in both.
  private static func notes(_ context: ManagedObjectContext, _ stores: [PersistentStore]) throws -> [[Note]] {
    var notes: [[Note]] = []
    for store in stores {
      var pair: [Note] = []
      for number in 0..<2 {
        let note = try #require(context.insertNewObject(forEntityName: "Note") as? Note)
        try note.set("note \(number)", forKey: "name")
        context.assign(note, to: store)
        try context.save()
        pair.append(note)
      }
      try pair[1].set(pair[0], forKey: "other")
      try context.save()
      notes.append(pair)
    }
    let rows = notes.map { $0.map { $0.objectID.uriRepresentation().lastPathComponent } }
    #expect(rows[0] == rows[1], "the rows are to be the same")
    return notes
  }

  @Test(arguments: [false, true]) func predicatesNameObjectsOfOneStore(pending: Bool) throws {
    let directory = try TemporaryDirectory()
    let container = try Self.container(directory)
    let context = container.newBackgroundContext()
    let notes = try Self.notes(context, container.persistentStoreCoordinator.persistentStores)
    // With changes that are not saved, what is fetched is looked at in memory as well.
    if pending { for note in notes.joined() { try note.set("changed", forKey: "name") } }

    func found(_ predicate: FetchPredicate) throws -> Set<ManagedObjectID> {
      let request = FetchRequest<Note>(entityName: "Note")
      request.predicate = predicate
      let found = Set(try context.fetch(request).map { $0.objectID })
      #expect(try context.count(for: request) == found.count, "\(predicate)")
      // Object by object it is the same.
      for note in notes.joined() {
        #expect(try predicate.evaluate(with: note) == found.contains(note.objectID), "\(predicate), \(note)")
      }
      return found
    }
    let all = Set(notes.joined().map { $0.objectID })
    for pair in notes {
      let (first, second) = (pair[0], pair[1])
      let rest = all.subtracting([first.objectID])
      #expect(try found(FetchPredicate(format: "SELF == %@", first)) == [first.objectID])
      #expect(try found(FetchPredicate(format: "SELF == %@", first.objectID)) == [first.objectID])
      #expect(try found(FetchPredicate(format: "SELF != %@", first)) == rest)
      #expect(try found(FetchPredicate(format: "SELF IN %@", [first, second])) == [first.objectID, second.objectID])
      #expect(try found(FetchPredicate(format: "SELF IN %@", Set([first]))) == [first.objectID])
      #expect(try found(FetchPredicate(format: "NOT SELF IN %@", [first.objectID])) == rest)
      #expect(try found(FetchPredicate(format: "other == %@", first)) == [second.objectID])
      #expect(try found(FetchPredicate(format: "ANY others == %@", second)) == [first.objectID])
      let open = try FetchPredicate(format: "SELF == $note AND name != nil")
      #expect(try found(open.withSubstitutionVariables(["note": first])) == [first.objectID])
      let plain = try FetchPredicate(format: "SELF == %@", first)
      #expect(try found(.not(.or([plain]))) == rest)
      #expect(try found(.and([FetchPredicate(value: true), plain])) == [first.objectID])
      // And as conditions in Swift.
      #expect(try found(Note.paths.other == first) == [second.objectID])
      #expect(try found(!(Note.paths.other == first)) == all.subtracting([second.objectID]))
      #expect(try found(Note.paths.other.in([first])) == [second.objectID])
      let contains = Note.paths.others.contains(second)
      #expect(try found(contains && contains) == [first.objectID])
      #expect(try found(Note.paths.others.any { $0 == second }) == [first.objectID])
      // Fetched properties name the object that they are asked of.
      let same = try #require(second.value(forKey: "same") as? [ManagedObject])
      #expect(Set(same.map { $0.objectID }) == [second.objectID, first.objectID])
      let alike = try #require(second.value(forKey: "alike") as? [ManagedObject])
      let name = second.value(forKey: "name") as? String
      let named = notes.joined().filter { $0 !== second && $0.value(forKey: "name") as? String == name }
      #expect(!named.isEmpty && Set(alike.map { $0.objectID }) == Set(named.map { $0.objectID }))
    }
    // One of each store: both are meant, each where it is.
    let ones = notes.map { $0[0] }
    #expect(try found(FetchPredicate(format: "SELF IN %@", ones)) == Set(ones.map { $0.objectID }))
    // Equal are predicates that name the same objects.
    let predicates = try notes.map { try FetchPredicate(format: "SELF == %@", $0[0]) }
    #expect(predicates[0] != predicates[1])
    #expect(try predicates[0] == FetchPredicate(format: "SELF == %@", notes[0][0]))
  }

  @Test func historyIsAskedForObjectsOfOneStore() throws {
    let directory = try TemporaryDirectory()
    let container = try Self.container(directory, tracking: true)
    let context = container.newBackgroundContext()
    let notes = try Self.notes(context, container.persistentStoreCoordinator.persistentStores)
    for note in notes.joined() {
      let request = FetchRequest<PersistentHistoryChange>()
      request.predicate = try FetchPredicate(format: "changedObjectID == %@", note)
      let found = try context.execute(PersistentHistoryChangeRequest.fetchHistory(withFetch: request)).changes
      #expect(!found.isEmpty && found.allSatisfy { $0.changedObjectID == note.objectID })
      #expect(found.contains { $0.changeType == .insert })
    }
  }
}
