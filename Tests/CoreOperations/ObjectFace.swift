import Cambium
import Foundation

/// The operations of ``FaceOperations`` on managed objects.
struct ObjectFace: Face {
  private let container: PersistentContainer

  init() throws {
    container = PersistentContainer(name: "Faces", managedObjectModel: try faceModel())
    container.persistentStoreDescriptions = [PersistentStoreDescription(type: .inMemory)]
    try container.loadPersistentStores()
  }

  func work(_ body: (ManagedObjectContext) throws -> Void) throws {
    let context = container.newBackgroundContext()
    try context.performAndWait { try body(context) }
  }

  func save(_ context: ManagedObjectContext) throws { try context.save() }

  func insertAircraft(_ i: Int, _ photo: Data, _ context: ManagedObjectContext) {
    AircraftObject(context: context).take(i, photo)
  }

  func insertEntry(_ i: Int, _ aircraft: ManagedObjectID, _ context: ManagedObjectContext) {
    let entry = EntryObject(context: context)
    entry.take(i)
    entry.aircraft = context.object(with: aircraft) as? AircraftObject
  }

  func aircraft(_ context: ManagedObjectContext) throws -> [AircraftObject] {
    try context.fetch(FetchRequest<AircraftObject>(entityName: "Aircraft"))
  }

  func walk(_ context: ManagedObjectContext, _ body: () -> Void) throws {
    try context.enumerate(FetchRequest<AircraftObject>(entityName: "Aircraft")) { _ in body() }
  }

  func identifiers(_ context: ManagedObjectContext) throws -> [ManagedObjectID] {
    try context.fetch(FetchRequest<ManagedObjectID>(entityName: "Aircraft"))
  }

  func whole(_ one: AircraftObject) -> Int {
    let colours = one.colours
    return one.tailNumber.utf8.count + (one.category?.utf8.count ?? 0) + (one.kind?.utf8.count ?? 0)
      + (one.type?.utf8.count ?? 0) + (colours?.primary?.utf8.count ?? 0) + (colours?.secondary?.utf8.count ?? 0)
      + (colours?.tertiary?.utf8.count ?? 0) + Int(one.year ?? 0) + (one.hours < 0 ? 1 : 0) + (one.photo?.count ?? 0)
  }

  func hours(_ one: AircraftObject) -> Double { one.hours }

  func setHours(_ hours: Double, _ one: AircraftObject) { one.hours = hours }

  func years(_ context: ManagedObjectContext) throws -> Int {
    var years = 0
    for entry in try context.fetch(FetchRequest<EntryObject>(entityName: "Entry")) {
      years += Int(entry.aircraft?.year ?? 0)
    }
    return years
  }

  func distance(_ one: AircraftObject) -> Int {
    var distance = 0
    for entry in one.entries { distance += Int(entry.distance ?? 0) }
    return distance
  }
}
