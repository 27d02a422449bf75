import CambiumTesting
import Testing

@testable import Cambium

/// In which order a save calls and tells: hooks, what is derived, validation, notifications, what is written.
@Suite struct SaveOrderTests {
  final class Leg: ManagedObject {
    @Managed var name: String?
    @Managed var minutes: Int
    @Managed var upper: String?
    var calls = Locked<[String]>([])

    private func note(_ what: String) { calls.withLock { $0.append("\(what) \(name ?? "")") } }

    override func willSave() {
      note("willSave")
      // Once: a save calls it until nothing changes any more.
      if minutes == 0 { minutes = 90 }
    }
    override func validateForInsert() throws {
      note("insert \(upper ?? "-")")
      try super.validateForInsert()
    }
    override func validateForUpdate() throws {
      note("update \(upper ?? "-")")
      try super.validateForUpdate()
    }
    override func validateForDelete() throws {
      note("delete")
      try super.validateForDelete()
    }
    override func didSave() { note("didSave\(objectID.isTemporaryID ? " temporary" : "")") }
  }

  @Test func aSaveGoesInOrder() throws {
    let model = try ManagedObjectModel {
      Entity("Leg", class: Leg.self) {
        Attribute("name", .string)
        Attribute("minutes", .integer32, optional: false, default: 0)
        Attribute("upper", .string, derived: "uppercase:(name)")
      }
    }
    let container = try memoryContainer(model)
    let context = container.newBackgroundContext()
    let calls = Locked<[String]>([])
    func made(_ name: String) -> Leg {
      let leg = Leg(context: context)
      leg.calls = calls
      leg.name = name
      return leg
    }
    let (old, gone) = (made("old"), made("gone"))
    try context.save()
    calls.withLock { $0 = [] }
    let observation = context.observe { told in calls.withLock { $0.append("\(told.kind)") } }
    old.name = "older"
    context.delete(gone)
    let new = made("new")
    try context.save()
    withExtendedLifetime((observation, new)) {}
    #expect(
      calls.withLock { $0 } == [
        // The event until now, then what the hooks have changed.
        "objectsDidChange", "willSave", "willSave gone", "willSave new", "willSave older", "willSave new",
        "objectsDidChange",
        "delete gone", "insert NEW new", "update OLDER older",
        "didSave gone", "didSave new", "didSave older", "didSave",
      ])
  }

  /// What went wrong in calls that cannot throw is kept up to a number.
  @Test func errorsAreKeptUpToANumber() throws {
    let context = try memoryContainer().newBackgroundContext()
    let pilot = try context.make("Pilot", ["name": "Ada"])
    for number in 0..<250 { pilot.setValue(1, forKey: "nothing\(number)") }
    #expect(context.recordedErrors.count == 100 && context.recordedErrors.first?.key == "nothing0")
    #expect(context.lostChanges.count == 100)
    #expect(cambiumError { try context.save() }?.key == "nothing0")
    try context.save()
  }

  final class Hasty: ManagedObject {
    @Managed var name: String?
    var hook: ((Hasty) -> Void)?
    override func validateForInsert() throws { hook?(self) }
    override func validateForUpdate() throws { hook?(self) }
    override func validateForDelete() throws { hook?(self) }
  }

  enum Kind: CaseIterable { case insertion, update, deletion }

  /// What is taken back while it is validated is not saved all the same, nor by a child into its parent.
  @Test(arguments: Kind.allCases, [true, false]) func validationDoesNotChangeWhatIsSaved(kind: Kind, isChild: Bool)
    throws
  {
    for rollsBack in kind == .deletion ? [true] : [true, false] {
      let model = try ManagedObjectModel { Entity("Hasty", class: Hasty.self) { Attribute("name", .string) } }
      let container = try memoryContainer(model)
      let root = container.newBackgroundContext()
      let context = isChild ? ManagedObjectContext(concurrencyType: .privateQueue, parent: root) : root
      func all(_ context: ManagedObjectContext) throws -> [String?] {
        try context.all("Hasty").map { $0.value(forKey: "name") as? String }
      }
      let object = Hasty(context: context)
      object.name = "a"
      if kind != .insertion { try context.save() }
      if kind == .update { object.name = "b" }
      if kind == .deletion { context.delete(object) }
      object.hook = { object in
        guard let context = object.managedObjectContext else { return }
        if rollsBack { context.rollback() } else { context.delete(object) }
      }
      #expect(cambiumError { try context.save() }?.code == .persistentStoreSave)
      object.hook = nil
      try context.save()
      try root.save()
      let isThere = kind == .deletion || kind == .update && rollsBack
      #expect(try all(container.newBackgroundContext()) == (isThere ? ["a"] : []))
      #expect(try all(context) == (isThere ? ["a"] : []) && all(root).count == (isThere ? 1 : 0))
    }
  }
}
