import Foundation
import Testing

@testable import Cambium

/// Objects and identifiers of other contexts, entities and stores, where only those of one's own can be meant.
@Suite struct ForeignObjectTests {
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Person") {
        Attribute("name", .string)
        Attribute("object", .objectID)
        ToMany("pets", "Pet", inverse: "owner")
        ToMany("cars", "Car", inverse: "owner")
        ToMany("friends", "Person", inverse: "friends")
      }
      Entity("Pet") { ToOne("owner", "Person", inverse: "pets") }
      Entity("Car") { ToOne("owner", "Person", inverse: "cars") }
    }
  }

  @Test func anIdentifierIsOfAnObjectThatIsSaved() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: Self.model())
    let context = container.newBackgroundContext()
    let pet = try context.make("Pet", [:])
    let person = try context.make("Person", ["name": "Ada", "object": pet.objectID])
    let error = cambiumError { try context.save() }
    #expect(error?.code == .managedObjectReferentialIntegrity && error?.key == "object")
    try context.obtainPermanentIDs(for: [pet])
    try person.set(pet.objectID, forKey: "object")
    try context.save()
    let fresh = container.newBackgroundContext()
    #expect(try fresh.all("Person").first?.get("object") as? ManagedObjectID == pet.objectID)
    // A change as well.
    let other = try context.make("Pet", [:])
    try person.set(other.objectID, forKey: "object")
    #expect(cambiumError { try context.save() }?.key == "object")
    try person.set(nil, forKey: "object")
    try context.save()
    // And a batch.
    let unsaved = try context.make("Pet", [:])
    let request = BatchInsertRequest(entityName: "Person", objects: [["object": unsaved.objectID]])
    #expect(cambiumError { _ = try context.execute(request) }?.code == .invalidArgument)
  }

  @Test func anIdentifierIsOfTheSameStore() throws {
    let directory = try TemporaryDirectory()
    let model = try Self.model()
    let context = try directory.container("a", model: model).newBackgroundContext()
    let elsewhere = try directory.container("b", model: model).newBackgroundContext()
    let pet = try elsewhere.make("Pet", [:])
    try elsewhere.save()
    let person = try context.make("Person", [:])
    #expect(cambiumError { try person.set(pet.objectID, forKey: "object") }?.code == .invalidArgument)
    person.setPrimitiveValue(pet.objectID, forKey: "object")
    #expect(try person.get("object") == nil && context.recordedErrors.last?.key == "object")
    let request = BatchInsertRequest(entityName: "Person", objects: [["object": pet.objectID]])
    #expect(cambiumError { _ = try context.execute(request) }?.code == .invalidArgument)
  }

  @Test func onlyOnesOwnObjectsAreTakenOut() throws {
    let container = try memoryContainer(Self.model())
    let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
    let person = try context.make("Person", ["name": "Ada"])
    let friend = try context.make("Person", ["name": "Bea"])
    let (pet, car) = (try context.make("Pet", ["owner": person]), try context.make("Car", ["owner": person]))
    try person.add(friend, toRelationship: "friends")
    try context.save()
    let (theirs, theirFriend) = (other.object(with: pet.objectID), other.object(with: friend.objectID))
    #expect(cambiumError { try person.remove(theirs, fromRelationship: "pets") }?.code == .invalidArgument)
    #expect(cambiumError { try person.remove(theirFriend, fromRelationship: "friends") }?.code == .invalidArgument)
    person.mutableSetValue(forKey: "pets").remove(theirs)
    #expect(!other.hasChanges && !context.hasChanges)
    // One of another entity is not in it, though it has an owner as well.
    try person.remove(car, fromRelationship: "pets")
    #expect(try car.get("owner") as? ManagedObject === person && !context.hasChanges)
    try person.remove(pet, fromRelationship: "pets")
    try person.remove(friend, fromRelationship: "friends")
    #expect(try pet.get("owner") == nil && person.count(ofRelationship: "friends") == 0)
  }

  /// Of a context that is gone, or was reset, it is another context's all the same.
  @Test(arguments: [false, true]) func whatHasNoContextIsNotTakenOut(isReset: Bool) throws {
    let container = try memoryContainer(Self.model())
    let context = container.newBackgroundContext()
    let person = try context.make("Person", ["name": "Ada"])
    let (friend, pet) = (try context.make("Person", ["name": "Ben"]), try context.make("Pet", [:]))
    try person.add(friend, toRelationship: "friends")
    try person.add(pet, toRelationship: "pets")
    try context.save()
    var other: ManagedObjectContext? = container.newBackgroundContext()
    let theirFriend = try #require(try other?.all("Person", "name == 'Ben'").first)
    let theirPet = try #require(try other?.all("Pet").first)
    #expect(try theirPet.get("owner") is ManagedObject)
    if isReset { other?.reset() }
    other = nil
    #expect(theirPet.managedObjectContext == nil)
    for (object, key) in [(theirFriend, "friends"), (theirPet, "pets")] {
      #expect(cambiumError { try person.remove(object, fromRelationship: key) }?.code == .invalidArgument)
    }
    #expect(!context.hasChanges)
    // What is deleted has no context either, and is not among them any more.
    context.delete(pet)
    try context.save()
    try person.remove(pet, fromRelationship: "pets")
    #expect(try person.count(ofRelationship: "pets") == 0 && person.count(ofRelationship: "friends") == 1)
  }

  @Test func whatWasTakenBackIsNotAmongThem() throws {
    let context = try memoryContainer(Self.model()).newBackgroundContext()
    let pet = try context.make("Pet", [:])
    context.rollback()
    let person = try context.make("Person", [:])
    try person.remove(pet, fromRelationship: "pets")
    person.mutableSetValue(forKey: "pets").remove(pet)
    try context.save()
  }
}
