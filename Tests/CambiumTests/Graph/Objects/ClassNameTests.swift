import Foundation
import Testing

@testable import Cambium

class PlaneByName: ManagedObject {}
final class PilotByName: ManagedObject {}
/// There is one in the module `StoreWorker` as well.
final class TwiceNamed: ManagedObject {}

/// Classes that a model names by text, as Xcode's models do.
@Suite struct ClassNameTests {
  private func model(_ name: String, modules: [String] = ["CambiumTests"]) throws -> ManagedObjectModel {
    let entity = EntityDescription("Plane", properties: [AttributeDescription("tailNumber", .string)])
    entity.managedObjectClassName = name
    let model = ManagedObjectModel(entities: [entity])
    model.classModules = modules
    return model
  }

  /// The objects of the class, whichever way they are made.
  private func expectPlanes(_ model: ManagedObjectModel) throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: model)
    let made = try container.viewContext.insertNewObject(forEntityName: "Plane")
    #expect(type(of: made) == PlaneByName.self)
    try container.viewContext.save()
    let other = container.newBackgroundContext()
    #expect(try other.all("Plane").map { type(of: $0) == PlaneByName.self } == [true])
    #expect(try type(of: other.existingObject(with: made.objectID)) == PlaneByName.self)
  }

  @Test(arguments: ["PlaneByName", ".PlaneByName", "CambiumTests.PlaneByName"])
  func namesAreLookedUp(name: String) throws {
    try expectPlanes(model(name))
  }

  @Test func qualifiedNamesNeedNoModules() throws {
    try expectPlanes(model("CambiumTests.PlaneByName", modules: []))
  }

  /// The module of a class that is named as a type, or with its module, is looked into for the others.
  @Test(arguments: [false, true]) func modulesOfOtherClassesAreLookedInto(asType: Bool) throws {
    let model = try model("PlaneByName", modules: [])
    let pilot = EntityDescription("Pilot")
    if asType {
      pilot.managedObjectClass = PilotByName.self
    } else {
      pilot.managedObjectClassName = "CambiumTests.PilotByName"
    }
    model.entities.append(pilot)
    try expectPlanes(model)
  }

  /// Without a class the objects are plain ones, and the log says what to do, once.
  @Test func missingClassesAreLogged() throws {
    let container = try memoryContainer(model("NoSuchPlane"))
    let lines = try LoggedLines.collect(.store) { (lines) throws in
      let objects = try (0..<2).map { _ in try container.viewContext.insertNewObject(forEntityName: "Plane") }
      #expect(objects.allSatisfy { type(of: $0) == ManagedObject.self })
      return lines.all
    }
    let told = lines.filter { $0.contains("'NoSuchPlane'") }
    #expect(told.count == 1 && told.first?.contains("classModules") == true)
  }

  @Test func severalClassesOfANameAreRefused() throws {
    let model = try model("TwiceNamed", modules: ["CambiumTests", "CambiumTests", "StoreWorker"])
    let error = cambiumError { _ = try memoryContainer(model) }
    #expect(error?.code == .invalidModel && error?.entityName == "Plane")
    #expect(error?.message.contains("'CambiumTests.TwiceNamed' and") == true)
    #expect(error?.message.contains("'StoreWorker.TwiceNamed'") == true)
    let one = try memoryContainer(self.model("TwiceNamed", modules: ["CambiumTests", "CambiumTests"]))
    #expect(type(of: try one.viewContext.insertNewObject(forEntityName: "Plane")) == TwiceNamed.self)
  }

  /// A class that the application uses first stands for its entity, as before, where the name leads to none.
  @Test func theFirstUseFixesAClassThatIsNotFound() throws {
    let container = try memoryContainer(model("PlaneByName", modules: []))
    _ = PlaneByName(context: container.viewContext)
    #expect(type(of: try container.viewContext.insertNewObject(forEntityName: "Plane")) == PlaneByName.self)
  }
}
