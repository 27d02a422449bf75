import Cambium
import CambiumTesting
import Foundation
import Synchronization
import Testing

/// Results that follow the saves: what is told, applied to the old results, gives what a fetch gives.
@Suite struct FetchedResultsTests {
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Note", class: Note.self) {
        Attribute("text", .string)
        Attribute("number", .integer32, optional: false, default: 0)
        Attribute("group", .string)
        ToOne("folder", "Folder", inverse: "notes")
      }
      Entity("Reminder", parent: "Note", class: Reminder.self) { Attribute("due", .date) }
      Entity("Folder", class: Folder.self) {
        Attribute("name", .string)
        ToMany("notes", "Note", inverse: "folder", deleteRule: .cascade)
      }
    }
  }

  private func request(_ format: String? = nil, _ sort: [FetchSortDescriptor], limit: Int = 0) throws -> FetchRequest<
    Note
  > {
    let request = FetchRequest<Note>(entityName: "Note")
    request.predicate = try format.map { try FetchPredicate(format: $0) }
    request.sortDescriptors = sort
    request.fetchLimit = limit
    return request
  }

  @Test func sectionsAndPlaces() throws {
    let context = try memoryContainer(Self.model()).viewContext
    let notes = (0..<6).map { number in
      let note = Note(context: context)
      (note.number, note.group) = (number, number == 5 ? nil : number % 2 == 0 ? "even" : "odd")
      return note
    }
    try context.save()
    let controller = FetchedResultsController(
      fetchRequest: try request(
        nil, [FetchSortDescriptor(key: "group"), FetchSortDescriptor(key: "number", ascending: false)]),
      managedObjectContext: context, sectionNameKeyPath: "group")
    #expect(controller.fetchedObjects == nil)
    #expect(controller.sections.isEmpty)
    try controller.performFetch()
    #expect(controller.sections.map(\.name) == ["", "even", "odd"])
    #expect(controller.sections.map(\.numberOfObjects) == [1, 3, 2])
    #expect(controller.fetchedObjects == [5, 4, 2, 0, 3, 1].map { notes[$0] })
    #expect(controller.object(at: IndexPath(indexes: [1, 2])) === notes[0])
    #expect(controller.indexPath(forObject: notes[3]) == IndexPath(indexes: [2, 0]))
    for place in [[], [0], [0, 1], [3, 0], [-1, 0], [0, 0, 0]] {
      #expect(controller.object(at: IndexPath(indexes: place)) == nil)
    }

    // One difference per save that concerns the results; of two that change places, the one that was saved moves.
    let recorder = Recorder(controller.sections)
    controller.delegate = recorder
    notes[2].number = 10
    context.delete(notes[5])
    try context.save()
    let even = { IndexPath(indexes: [$0, $1]) }
    #expect(recorder.told == ["will", "section 0 delete ", "delete [0, 0] -", "move [1, 1] [0, 0]", "did"])
    #expect(controller.indexPath(forObject: notes[2]) == even(0, 0))
    recorder.told = []
    _ = Folder(context: context)
    try context.save()
    #expect(recorder.told.isEmpty)
    notes[2].text = "changed"
    notes[1].group = "new"
    try context.save()
    #expect(
      recorder.told == ["will", "section 1 insert new", "update [0, 0] [0, 0]", "move [1, 1] [1, 0]", "did"])
    #expect(context.recordedErrors.isEmpty)

    let wrong = FetchedResultsController(
      fetchRequest: try request(nil, []), managedObjectContext: context, sectionNameKeyPath: "nothing")
    #expect(cambiumError { try wrong.performFetch() }?.key == "nothing")
    #expect(wrong.fetchedObjects == nil)
  }

  @Test func snapshots() async throws {
    let container = try memoryContainer(Self.model())
    let context = container.newBackgroundContext()
    let request = try request("number > 1", [FetchSortDescriptor(key: "number")])
    var controller: FetchedResultsController? = FetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "number")
    let sequence = try #require(controller?.snapshots())
    var early = sequence.makeAsyncIterator()
    try context.performAndWait { try controller?.performFetch() }
    #expect(await early.next()?.sections == [])
    let other = container.newBackgroundContext()
    let ids = try other.performAndWait {
      let notes = (7..<9).map { number in
        let note = Note(context: other)
        note.number = number
        return note
      }
      try other.save()
      return notes.map { $0.objectID }
    }
    let first = try #require(await early.next())
    #expect(first.objectIDs == ids && first.count == 2 && first.sections.map { $0.name } == ["7", "8"])
    // Who comes later begins with what there is, and who is slow gets the newest.
    var late = try #require(controller?.snapshots()).makeAsyncIterator()
    #expect(await late.next() == first)
    for number in [10, 11] {
      try context.performAndWait {
        (context.object(with: ids[0]) as? Note)?.number = number
        try context.save()
      }
    }
    for snapshot in [await early.next(), await late.next()] {
      #expect(snapshot?.objectIDs == ids.reversed() && snapshot?.sections.last?.name == "11")
    }
    controller = nil
    #expect(await early.next() == nil)
  }

  @Test func differencesOfAnotherContext() async throws {
    let container = try memoryContainer(Self.model())
    let context = container.newBackgroundContext()
    let request = try request("number > 1", [FetchSortDescriptor(key: "number")])
    let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
    try context.performAndWait { try controller.performFetch() }
    var differences = controller.differences().makeAsyncIterator()
    let other = container.newBackgroundContext()
    let id = try other.performAndWait {
      _ = Note(context: other)
      let note = Note(context: other)
      note.number = 7
      try other.save()
      return note.objectID
    }
    #expect(await differences.next()?.changes == [.insert(id, at: IndexPath(indexes: [0, 0]))])
    try other.performAndWait {
      (other.object(with: id) as? Note)?.number = 8
      try other.save()
    }
    let place = IndexPath(indexes: [0, 0])
    #expect(await differences.next()?.changes == [.update(id, at: place, newIndexPath: place)])
    context.performAndWait { #expect(controller.fetchedObjects?.map(\.number) == [8]) }
    try other.performAndWait {
      other.delete(other.object(with: id))
      try other.save()
    }
    let last = await differences.next()
    #expect(last?.changes == [.delete(id, at: place)])
    #expect(last?.deletedSections == [0])
  }

  /// What was changed past all contexts counts when it is merged.
  @Test func mergedChanges() throws {
    let container = try memoryContainer(Self.model())
    let context = container.viewContext
    let notes = (0..<4).map { number in
      let note = Note(context: context)
      note.number = number
      return note
    }
    try context.save()
    let controller = FetchedResultsController(
      fetchRequest: try request("number < 10", [FetchSortDescriptor(key: "number")]), managedObjectContext: context)
    try controller.performFetch()
    let recorder = Recorder(controller.sections)
    controller.delegate = recorder
    var update = BatchUpdateRequest(entityName: "Note")
    update.predicate = try FetchPredicate(format: "number > 1")
    update.propertiesToUpdate = ["number": try FetchExpression(format: "number * 4 - 8")]
    try container.newBackgroundContext().execute(update)
    #expect(recorder.told.isEmpty)
    var notification = ObjectIDNotification()
    notification.updatedObjectIDs = [notes[2].objectID, notes[3].objectID]
    context.mergeChanges(fromContextDidSave: notification)
    // 2 and 3 became 0 and 4.
    #expect(controller.fetchedObjects == [0, 2, 1, 3].map { notes[$0] })
    #expect(recorder.told == ["will", "move [0, 2] [0, 1]", "update [0, 3] [0, 3]", "did"])
    #expect(recorder.sections == [[0, 2, 1, 3].map { notes[$0] }])
    #expect(controller.fetchedObjects?.map(\.number) == [0, 0, 1, 4])
  }

  /// A save costs what it saved: of a thousand objects, one that changed is compared with ten or so.
  @Test func othersAreNotComparedAgain() throws {
    let context = try memoryContainer(Self.model()).viewContext
    let notes = (0..<1000).map { number in
      let note = Note(context: context)
      note.text = "text \((number * 7) % 1000 + 1000)"
      return note
    }
    try context.save()
    let comparisons = Comparisons()
    let order = FetchSortComparator(name: "counted") { a, b in
      comparisons.count.add(1, ordering: .relaxed)
      return a == b ? .orderedSame : a < b ? .orderedAscending : .orderedDescending
    }
    let controller = FetchedResultsController(
      fetchRequest: try request("number < 5", [FetchSortDescriptor(key: "text", comparator: order)]),
      managedObjectContext: context)
    try controller.performFetch()
    let recorder = Recorder(controller.sections)
    controller.delegate = recorder
    #expect(comparisons.count.load(ordering: .relaxed) > 1000)
    comparisons.count.store(0, ordering: .relaxed)
    notes[0].text = "text 1500x"
    try context.save()
    #expect(recorder.told == ["will", "move [0, 0] [0, 500]", "did"])
    notes[0].number = 6
    try context.save()
    #expect(recorder.told.suffix(3) == ["will", "delete [0, 500] -", "did"])
    #expect(1...30 ~= comparisons.count.load(ordering: .relaxed))
    #expect(controller.fetchedObjects?.count == 999)
  }

  /// The context of the results and another change, delete, insert, and relate at random, some of it rolled back.
  @Test(arguments: [1, 2, 3, 4, 5, 6, 154] as [UInt64])
  func randomSaves(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let container = try memoryContainer(Self.model())
    let context = container.newBackgroundContext()
    let other = container.newBackgroundContext()
    context.mergePolicy = .mergeByPropertyObjectTrump
    other.mergePolicy = .mergeByPropertyObjectTrump
    let byNumber = FetchSortDescriptor(key: "number", ascending: false)
    let byText = FetchSortDescriptor(key: "text", comparator: .caseInsensitive)
    let byGroup = FetchSortDescriptor(key: "group")
    let controllers: [(FetchedResultsController<Note>, Recorder)] = try [
      (try request(nil, [byGroup, byNumber]), "group"), (try request("number > 4", [byText, byNumber]), nil),
      (try request("number > 2 AND text != nil", [byGroup, byText]), "group"), (try request(nil, []), nil),
      (try request(nil, [byNumber]), "group"), (try request(nil, [byNumber], limit: 5), nil),
      (try request("folder.name == 'a'", [byNumber]), "folder.name"),
      (try request(nil, [FetchSortDescriptor(key: "folder.name"), byText]), "folder.name"),
    ].map { request, sections in
      let controller = FetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections)
      try context.performAndWait { try controller.performFetch() }
      let recorder = Recorder([])
      controller.delegate = recorder
      return (controller, recorder)
    }

    func change(_ context: ManagedObjectContext) throws {
      let notes = try context.fetch(FetchRequest<Note>(entityName: "Note"))
      let folders = try context.fetch(FetchRequest<Folder>(entityName: "Folder"))
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let note = notes.filter { !$0.isDeleted }.randomElement(using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1, 2:
          let new = Bool.random(using: &random) ? Note(context: context) : Reminder(context: context)
          new.number = Int.random(in: 0..<10, using: &random)
          new.group = ["x", "y", nil].randomElement(using: &random) ?? nil
        case 3, 4: if let note { context.delete(note) }
        case 5: note?.text = ["a", "B", "b", "c", nil].randomElement(using: &random) ?? nil
        case 6, 7: note?.number = Int.random(in: 0..<10, using: &random)
        case 8: note?.group = ["x", "y", "z", nil].randomElement(using: &random) ?? nil
        case 9: note?.folder = folders.filter { !$0.isDeleted }.randomElement(using: &random)
        case 10:
          (folders.randomElement(using: &random) ?? Folder(context: context)).name = ["a", "b"].randomElement(
            using: &random)
        default: if Int.random(in: 0..<4, using: &random) == 0, let folder = folders.first { context.delete(folder) }
        }
      }
    }

    for round in 0..<150 {
      let own = Bool.random(using: &random)
      try (own ? context : other).performAndWait {
        let context = own ? context : other
        try change(context)
        if Int.random(in: 0..<3, using: &random) == 0 { context.processPendingChanges() }
        if Int.random(in: 0..<8, using: &random) == 0 { context.rollback() }
        try context.save()
      }
      // Unsaved changes of the results' context while another saves.
      if Int.random(in: 0..<4, using: &random) == 0 { try context.performAndWait { try change(context) } }
      try context.performAndWait {
        for (number, (controller, recorder)) in controllers.enumerated() {
          context.processPendingChanges()
          controller.processPendingChanges()
          let shown = controller.sections.map { $0.objects }
          #expect(recorder.sections == shown, "round \(round), controller \(number)")
          #expect(recorder.names == controller.sections.map(\.name))
          let fetched: [Note]
          do { fetched = try context.fetch(controller.fetchRequest) } catch let error as CambiumError
            where error.code == .managedObjectReferentialIntegrity && context.hasChanges
          { continue }
          let inSections = controller.sections.flatMap { section in
            fetched.filter { object in
              let name = controller.sectionNameKeyPath.flatMap { object.value(forKeyPath: $0) as? String }
              return (name ?? "") == section.name
            }
          }
          #expect(shown.flatMap { $0 } == inSections, "round \(round), controller \(number)")
          #expect(inSections.count == fetched.count)
        }
        // Only an unsaved relationship to what the other has deleted cannot be fetched by; the save after it makes up
        // for it.
        #expect(context.recordedErrors.allSatisfy { $0.code == .managedObjectReferentialIntegrity })
      }
    }
    #expect(controllers.allSatisfy { $0.1.changeCount > 0 })
  }
}

private final class Comparisons: Sendable {
  let count = Atomic(0)
}

/// Follows a controller by what it tells alone.
private final class Recorder: FetchedResultsControllerDelegate {
  var told: [String] = []
  var sections: [[Note]]
  var names: [String]
  var changeCount = 0
  private var taken: [IndexPath] = []
  private var put: [(IndexPath, Note)] = []
  private var deletedSections: [Int] = []
  private var insertedSections: [(Int, String)] = []

  init(_ sections: [FetchedResultsSection<Note>]) {
    self.sections = sections.map { $0.objects }
    names = sections.map { $0.name }
  }

  func controllerWillChangeContent<Result>(_ controller: FetchedResultsController<Result>) { told.append("will") }

  func controller<Result>(
    _ controller: FetchedResultsController<Result>, didChange sectionInfo: FetchedResultsSection<Result>,
    atSectionIndex sectionIndex: Int, for type: FetchedResultsChangeType
  ) {
    told.append("section \(sectionIndex) \(type) \(sectionInfo.name)")
    if type == .delete {
      deletedSections.append(sectionIndex)
    } else {
      insertedSections.append((sectionIndex, sectionInfo.name))
    }
  }

  func controller<Result>(
    _ controller: FetchedResultsController<Result>, didChange anObject: Result, at indexPath: IndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    func text(_ path: IndexPath?) -> String { path.map { "\(Array($0))" } ?? "-" }
    told.append("\(type) \(text(indexPath)) \(text(newIndexPath))")
    changeCount += 1
    guard type != .update, let note = anObject as? Note else { return }
    if let indexPath {
      taken.append(indexPath)
      #expect(sections[indexPath[0]][indexPath[1]] === note)
    }
    if let newIndexPath { put.append((newIndexPath, note)) }
  }

  func controllerDidChangeContent<Result>(_ controller: FetchedResultsController<Result>) {
    told.append("did")
    for path in taken.sorted(by: { $0.lexicographicallyPrecedes($1) }).reversed() {
      sections[path[0]].remove(at: path[1])
    }
    for section in deletedSections.reversed() {
      #expect(sections[section].isEmpty)
      sections.remove(at: section)
      names.remove(at: section)
    }
    for (section, name) in insertedSections {
      sections.insert([], at: section)
      names.insert(name, at: section)
    }
    for (path, note) in put.sorted(by: { $0.0.lexicographicallyPrecedes($1.0) }) {
      sections[path[0]].insert(note, at: path[1])
    }
    (taken, put, deletedSections, insertedSections) = ([], [], [], [])
  }
}

private class Note: ManagedObject {
  @Managed var text: String?
  @Managed var number: Int
  @Managed var group: String?
  @Managed var folder: Folder?
}

private final class Reminder: Note {
  @Managed var due: Date?
}

private final class Folder: ManagedObject {
  @Managed var name: String?
  @Managed var notes: Set<Note>
}
