import Cambium
import Testing

/// Delete rules applied by a save to what others have led to the deleted object meanwhile.
@Suite struct LateDeleteRulesTests {
  @Test func otherContextsAreToldWhatRulesDeletedInASave() throws {
    let model = try ManagedObjectModel {
      Entity("P") {
        Attribute("name", .string)
        ToMany("kids", "K", inverse: "p", deleteRule: .cascade)
      }
      Entity("K") {
        Attribute("name", .string)
        ToOne("p", "P", inverse: "kids")
      }
    }
    let container = try memoryContainer(model)
    let c1 = container.newBackgroundContext()
    let p = try c1.make("P", ["name": "p"])
    let k = try c1.make("K", ["name": "k"])
    try c1.save()
    let kid = k.objectID
    let c = container.newBackgroundContext()
    let third = container.newBackgroundContext()
    let k3 = third.object(with: kid)
    #expect(k3.value(forKey: "name") as? String == "k")
    nonisolated(unsafe) var told: ObjectIDNotification?
    let token = c.observe { n in
      if n.kind == .didSave { told = n.objectIDs }
    }
    c.delete(c.object(with: p.objectID))
    k.setValue(p, forKey: "p")
    try c1.save()
    try c.save()
    #expect(told?.deletedObjectIDs.contains(kid) == true, "didSave names what the delete rules deleted in the save")
    if let told { third.mergeChanges(fromContextDidSave: told) }
    #expect(k3.value(forKey: "name") == nil, "a context that merges didSave knows that the object is gone")
    withExtendedLifetime(token) {}
  }
  /// An object that is refreshed forgets what was led to it; its deletion does not: nothing is saved that leads to what
  /// is gone.
  @Test(arguments: [DeleteRule.cascade, .nullify], [true, false])
  func whatIsRefreshedForgetsNoRule(rule: DeleteRule, isNew: Bool) throws {
    let model = try ManagedObjectModel {
      Entity("P") {
        Attribute("name", .string)
        ToMany("kids", "K", inverse: "p", deleteRule: rule)
      }
      Entity("K") {
        Attribute("name", .string)
        ToOne("p", "P", inverse: "kids")
      }
    }
    let container = try memoryContainer(model)
    let c = container.newBackgroundContext()
    let p = try c.make("P", ["name": "p"])
    var k = try c.make("K", ["name": "k"])
    try c.save()
    if isNew { k = try c.make("K", ["name": "new"]) }
    k.setValue(p, forKey: "p")
    c.refresh(p, mergeChanges: false)
    c.delete(p)
    try c.save()
    let reading = container.newBackgroundContext()
    #expect(try reading.fetch(FetchRequest<ManagedObject>(entityName: "P")).isEmpty)
    let kids = try reading.fetch(FetchRequest<ManagedObject>(entityName: "K"))
    #expect(kids.count == (rule == .cascade ? 0 : 1) + (isNew ? 1 : 0))
    #expect(kids.allSatisfy { $0.value(forKey: "p") == nil })
  }
}
