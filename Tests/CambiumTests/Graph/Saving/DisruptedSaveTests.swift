import Cambium
import Testing

/// A class whose hooks do to the context what nobody expects of them.
final class DisruptiveObject: ManagedObject {
  enum Hook: CaseIterable {
    case willSave, didSave, validateForInsert, validateForUpdate, validateForDelete, prepareForDeletion, awakeFromInsert
  }

  /// What is done, by which hook, and at which of its calls; each test sets it, and they run one after the other.
  nonisolated(unsafe) static var act: ((DisruptiveObject) -> Void)?
  nonisolated(unsafe) static var hook = Hook.willSave
  nonisolated(unsafe) static var callsLeft = 0
  nonisolated(unsafe) static var hasActed = false

  private func called(_ hook: Hook) {
    guard hook == Self.hook, let act = Self.act else { return }
    Self.callsLeft -= 1
    if Self.callsLeft != 0 { return }
    Self.act = nil
    Self.hasActed = true
    act(self)
  }

  @Managed var name: String?

  override func awakeFromInsert() { called(.awakeFromInsert) }
  override func willSave() { called(.willSave) }
  override func didSave() { called(.didSave) }
  override func prepareForDeletion() { called(.prepareForDeletion) }
  override func validateForInsert() throws {
    called(.validateForInsert)
    try super.validateForInsert()
  }
  override func validateForUpdate() throws {
    called(.validateForUpdate)
    try super.validateForUpdate()
  }
  override func validateForDelete() throws {
    called(.validateForDelete)
    try super.validateForDelete()
  }
}

/// Saves whose objects reset, roll back, refresh, delete and save within their own hooks: whatever becomes of the save,
/// nothing dangles, and the context and the store are of use afterwards.
@Suite(.serialized) struct DisruptedSaveTests {
  private static var acts: [(name: String, act: (DisruptiveObject) -> Void)] {
    [
      ("reset", { $0.managedObjectContext?.reset() }),
      ("roll back", { $0.managedObjectContext?.rollback() }),
      ("refresh all", { $0.managedObjectContext?.refreshAllObjects() }),
      ("refresh itself", { $0.managedObjectContext?.refresh($0, mergeChanges: false) }),
      ("delete itself", { $0.managedObjectContext?.delete($0) }),
      (
        "delete all",
        { object in
          guard let context = object.managedObjectContext else { return }
          for other in context.registeredObjects { context.delete(other) }
        }
      ),
      ("save", { try? $0.managedObjectContext?.save() }),
      (
        "insert and lead away",
        { object in
          guard let context = object.managedObjectContext else { return }
          let other = DisruptiveObject(context: context)
          other.name = "came"
          object.setValue(other, forKey: "owner")
        }
      ),
      ("set", { $0.name = "other" }),
    ]
  }

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("D", class: DisruptiveObject.self) {
        Attribute("name", .string)
        ToOne("owner", "D", inverse: "things")
        ToMany("things", "D", inverse: "owner", deleteRule: .cascade)
      }
    }
  }

  @Test(arguments: DisruptiveObject.Hook.allCases)
  func nothingDangles(hook: DisruptiveObject.Hook) throws {
    defer { DisruptiveObject.act = nil }
    var acted = 0
    for (name, act) in Self.acts {
      // Of the first object, one in the middle, and another.
      for call in [1, 4, 9] {
        let container = try memoryContainer(Self.model())
        let context = container.newBackgroundContext()
        try context.performAndWait {
          for i in 0..<12 {
            let owner = DisruptiveObject(context: context)
            owner.name = "owner \(i)"
            for j in 0..<2 {
              let thing = DisruptiveObject(context: context)
              thing.name = "thing \(i) \(j)"
              thing.setValue(owner, forKey: "owner")
            }
          }
          try context.save()
          let owners = try context.fetch(FetchRequest<DisruptiveObject>(entityName: "D")).filter {
            $0.value(forKey: "owner") == nil
          }
          #expect(owners.count == 12)
          (DisruptiveObject.act, DisruptiveObject.hook, DisruptiveObject.callsLeft) = (act, hook, call)
          DisruptiveObject.hasActed = false
          for i in 0..<12 {
            let new = DisruptiveObject(context: context)
            new.name = "new \(i)"
            // Whatever a hook has done to those that there were.
            if owners[i].managedObjectContext != nil { new.setValue(owners[i], forKey: "owner") }
            if i % 3 == 0 { owners[i].name = "changed \(i)" }
          }
          for i in 0..<12 where i % 4 == 1 { context.delete(owners[i]) }
          // It may be refused: what a hook does is the application's affair.
          try? context.save()
          DisruptiveObject.act = nil
          if DisruptiveObject.hasActed { acted += 1 }
          context.rollback()
          let late = DisruptiveObject(context: context)
          late.name = "late"
          try context.save()
        }
        let reading = container.newBackgroundContext()
        try reading.performAndWait {
          let all = try reading.fetch(FetchRequest<DisruptiveObject>(entityName: "D"))
          #expect(all.filter { $0.name == "late" }.count == 1, "\(hook), \(name), call \(call)")
          for object in all {
            let owner = object.value(forKey: "owner") as? DisruptiveObject
            if let owner {
              #expect(
                all.contains { $0 === owner }, "\(hook), \(name), call \(call): \(object) leads to what is gone")
              let things = owner.value(forKey: "things") as? Set<ManagedObject>
              #expect(things?.contains(object) == true, "\(hook), \(name), call \(call)")
            }
          }
        }
      }
    }
    // Each hook was called as often as the test takes it to be.
    #expect(acted >= Self.acts.count * 2)
  }
}
