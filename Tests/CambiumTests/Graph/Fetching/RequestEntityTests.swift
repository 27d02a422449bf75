import Cambium
import Foundation
import Testing

private class Craft: ManagedObject { @Managed var name: String }
private final class Glider: Craft {}
private final class Stop: ManagedObject { @Managed var name: String }

/// Which entity a request of a class means, and that its objects are of the class.
@Suite struct RequestEntityTests {
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Craft", class: Craft.self) { Attribute("name", .string) }
      Entity("Glider", parent: "Craft", class: Glider.self) {}
      // Called otherwise than its class.
      Entity("Place", class: Stop.self) { Attribute("name", .string) }
      Entity("Plain") { Attribute("name", .string) }
    }
  }

  private func context(_ directory: TemporaryDirectory) throws -> ManagedObjectContext {
    let context = try directory.container(model: Self.model()).viewContext
    for entity in ["Craft", "Glider", "Place", "Plain"] { try context.make(entity, ["name": entity]) }
    try context.save()
    return context
  }

  @Test func theClassNamesTheEntity() throws {
    let directory = try TemporaryDirectory()
    let context = try context(directory)
    #expect(try context.fetch(FetchRequest<Stop>()).map { $0.name } == ["Place"])
    #expect(try context.fetch(FetchRequest<Craft>()).map { $0.name } == ["Craft", "Glider"])
    #expect(try context.count(for: FetchRequest<Glider>()) == 1)
    #expect(try context.fetchBatches(FetchRequest<Stop>()).count == 1)
    let request = FetchRequest<Stop>()
    #expect(request.entityName == nil && request.entity == nil)
    #expect(try context.fetch(request.copy()).count == 1)
    #expect(try context.fetch(request.ofAnyObjects()).map { $0.entity.name } == ["Place"])
    #expect(try context.execute(BatchDeleteRequest(fetchRequest: request.ofAnyObjects())).count == 1)
    #expect(try context.count(for: request) == 0)
    #expect(
      cambiumError { _ = try context.fetch(FetchRequest<ManagedObject>()) }?.message.contains("entityName") == true)
    final class Unknown: ManagedObject {}
    #expect(cambiumError { _ = try context.fetch(FetchRequest<Unknown>()) }?.message.contains("'Unknown'") == true)
  }

  @Test func aRequestOfTheWrongClassIsRefused() throws {
    let directory = try TemporaryDirectory()
    let context = try context(directory)
    func refused<Result: ManagedObject>(_ request: FetchRequest<Result>) -> String? {
      cambiumError { _ = try context.fetch(request) }?.message
    }
    let told = "objects of 'Craft' are of class Craft, not Stop; did you mean entityName 'Place'?"
    #expect(refused(FetchRequest<Stop>(entityName: "Craft")) == told)
    #expect(cambiumError { _ = try context.fetchBatches(FetchRequest<Stop>(entityName: "Craft")) }?.message == told)
    #expect(
      cambiumError {
        try context.execute(AsynchronousFetchRequest(FetchRequest<Stop>(entityName: "Craft")))
      }?.message == told)
    // Also where there are no objects.
    for object in try context.all("Craft") { context.delete(object) }
    try context.save()
    #expect(refused(FetchRequest<Stop>(entityName: "Craft")) == told)
    final class Unknown: ManagedObject {}
    #expect(
      refused(FetchRequest<Unknown>(entityName: "Craft"))
        == "objects of 'Craft' are of class Craft, not Unknown; fetch Craft, or ManagedObject")
    // Objects of the subentity may be what is wanted.
    try context.make("Glider", ["name": "g"])
    #expect(try context.fetch(FetchRequest<Glider>(entityName: "Craft")).map { $0.name } == ["g"])
    #expect(try context.fetch(FetchRequest<Craft>(entityName: "Glider")).map { $0.name } == ["g"])
    // An entity without a class gets the one that is asked for.
    #expect(try context.fetch(FetchRequest<ManagedObject>(entityName: "Plain")).count == 1)
  }
}
