import Cambium
import CambiumTesting
import Foundation
import Testing

@ManagedPaths
struct PathPaint: CompositeRepresentable, Equatable {
  var primary: String?
  var secondary: String?
  var both: String { (primary ?? "") + (secondary ?? "") }

  init(primary: String?, secondary: String? = nil) { (self.primary, self.secondary) = (primary, secondary) }
  init?(compositeValues values: [String: Any]) {
    (primary, secondary) = (values["primary"] as? String, values["secondary"] as? String)
  }
  var compositeValues: [String: Any] { ["primary": primary as Any, "secondary": secondary as Any] }
}

@ManagedPaths
class PathVehicle: ManagedObject {
  @Managed var number: String
  @Managed("kind") var type: String?
  @Managed var paint: PathPaint?
  @Managed var extra: [String: Any]?
  @Managed var owner: PathOwner?
  var isNoted = false
}

/// What it inherits, the macro does not see, and what its superclass declares holds for it as well.
@ManagedPaths
class PathCar: PathVehicle {
  @Managed var doors: Int
  @Managed("note") var remark: String?
  @Managed var drivers: Set<PathOwner>
}

@ManagedPaths
final class PathTaxi: PathCar {
  @Managed var licence: String?
}

@ManagedPaths
final class PathOwner: ManagedObject {
  @Managed var name: String?
  @Managed var `operator`: Int16?
  @Managed var vehicles: Set<PathVehicle>
  @Managed var favourites: [PathVehicle]
}

extension PathOwner {
  @Managed var remark: String?
}

/// Names in other scripts, and one with a blank; and a type within another.
package enum PathScripts {}
extension PathScripts {
  @ManagedPaths
  package final class Œuvre: ManagedObject {
    @Managed package var größe: Double
    @Managed package var 名前: String?
    @Managed("two words") package var `two words`: String?
    @Managed("e\u{301}tat") package var état: Int?
    @Managed fileprivate var 한글: String?
  }
}

/// A type that has one of the two lists by itself.
@ManagedPaths
final class PathPlace: ManagedObject, PredicateKeyPaths {
  @Managed var name: String?
  static var predicateKeyPaths: [AnyKeyPath: String] { [\PathPlace.name: "name"] }
}

/// ``ManagedPaths()``: what it declares is asked of a store.
struct ManagedPathsTests {
  private func context() throws -> (PersistentContainer, ManagedObjectContext) {
    let model = try ManagedObjectModel {
      Composite("Paint") {
        Attribute("primary", .string)
        Attribute("secondary", .string)
      }
      Entity("Vehicle", class: PathVehicle.self) {
        Attribute("number", .string)
        Attribute("kind", .string)
        Attribute("paint", composite: "Paint")
        ToOne("owner", "Owner", inverse: "vehicles")
        ToMany("likedBy", "Owner", inverse: "favourites")
      }
      Entity("Car", parent: "Vehicle", class: PathCar.self) {
        Attribute("doors", .integer64)
        Attribute("note", .string)
        ToMany("drivers", "Owner", inverse: "drives")
      }
      Entity("Taxi", parent: "Car", class: PathTaxi.self) { Attribute("licence", .string) }
      Entity("Owner", class: PathOwner.self) {
        Attribute("name", .string)
        Attribute("operator", .integer16)
        Attribute("remark", .string)
        ToMany("drives", "Car", inverse: "drivers")
        ToMany("vehicles", "Vehicle", inverse: "owner")
        ToMany("favourites", "Vehicle", inverse: "likedBy", ordered: true)
      }
      Entity("Place", class: PathPlace.self) { Attribute("name", .string) }
    }
    let container = try memoryContainer(model)
    let context = container.newBackgroundContext()
    let owner = PathOwner(context: context)
    (owner.name, owner.operator) = ("Bessie", 3)
    for number in 0..<4 {
      let vehicle = number == 3 ? PathCar(context: context) : PathVehicle(context: context)
      (vehicle.number, vehicle.type) = ("N\(number)", number % 2 == 0 ? "even" : "odd")
      vehicle.paint = PathPaint(primary: number == 1 ? "red" : "blue")
      if number > 1 { vehicle.owner = owner }
    }
    PathPlace(context: context).name = "Chicago"
    try context.save()
    return (container, context)
  }

  @Test func conditions() throws {
    let (container, context) = try context()
    defer { withExtendedLifetime(container) {} }
    func numbers(_ condition: (PathVehicle.Paths) throws -> FetchPredicate) throws -> [String] {
      let request = FetchRequest<PathVehicle>(entityName: "Vehicle")
      try request.filter(condition).sort { [$0.number.descending] }
      return try context.fetch(request).map { $0.number }
    }
    #expect(try numbers { $0.type == "even" } == ["N2", "N0"])
    #expect(try numbers { $0.paint.primary == "red" } == ["N1"])
    #expect(try numbers { $0.owner.name == "Bessie" && $0.owner.operator == 3 } == ["N3", "N2"])
    let owners = FetchRequest<PathOwner>(entityName: "Owner")
    owners.filter { $0.vehicles.any { $0.number == "N3" } && $0.favourites.isEmpty }
    #expect(try context.fetch(owners).count == 1)
    let places = FetchRequest<PathPlace>(entityName: "Place")
    places.filter { $0.name == "Chicago" }
    #expect(try context.count(for: places) == 1)
  }

  /// A subclass asks of its own properties as of those of its superclasses.
  @Test func subclasses() throws {
    let (container, context) = try context()
    defer { withExtendedLifetime(container) {} }
    let owner = try #require(try context.fetch(FetchRequest<PathOwner>(entityName: "Owner")).first)
    let taxi = PathTaxi(context: context)
    (taxi.number, taxi.doors, taxi.remark, taxi.licence, taxi.drivers) = ("T1", 4, "big", "L", [owner])
    try context.save()
    func cars(_ change: (FetchRequest<PathCar>) -> FetchRequest<PathCar>) throws -> [String] {
      try context.fetch(change(FetchRequest<PathCar>(entityName: "Car"))).map { $0.number }
    }
    #expect(try cars { $0.filter { $0.doors == 4 } } == ["T1"])
    #expect(
      try cars { $0.filter { $0.owner.name == "Bessie" }.sort { [$0.doors.ascending] } } == ["N3"])
    #expect(try cars { $0.filter { $0.number == "T1" && $0.remark.beginsWith("b") } } == ["T1"])
    #expect(try cars { $0.filter { $0.drivers.any { $0.name == "Bessie" } } } == ["T1"])
    #expect(try cars { $0.sort { [$0.number.descending, $0.remark.ascending] } } == ["T1", "N3"])
    let taxis = FetchRequest<PathTaxi>(entityName: "Taxi")
    taxis.filter { $0.licence == "L" && $0.doors > 3 && $0.paint.primary == nil }
    #expect(try context.fetch(taxis).count == 1)
    let request = FetchRequest<PathTaxi>(entityName: "Taxi")
    request.predicate = try FetchPredicate(#Predicate<PathTaxi> { $0.licence == "L" && $0.doors == 4 })
    #expect(try context.count(for: request) == 1)
    #expect(PathTaxi.predicateKeyPaths.count == 9 && PathCar.predicateKeyPaths.count == 8)
    #expect(PathTaxi.predicateKeyPaths[\PathTaxi.remark] == "note")
    // Of a type without such a name, as in a format string.
    let cast = FetchRequest<PathVehicle>(entityName: "Vehicle")
    cast.filter(of: PathVehicle.self) { $0.number == "N0" }
    #expect(try context.count(for: cast) == 1)
  }

  @Test func otherScripts() throws {
    let model = try ManagedObjectModel {
      Entity("Œuvre", class: PathScripts.Œuvre.self) {
        Attribute("größe", .double)
        Attribute("名前", .string)
        Attribute("état", .integer64)
        Attribute("한글", .string)
      }
    }
    let container = try memoryContainer(model)
    let context = container.newBackgroundContext()
    for number in 0..<3 {
      let work = PathScripts.Œuvre(context: context)
      (work.größe, work.名前, work.한글) = (Double(number), "題\(number)", "글\(number)")
      work.état = number
    }
    try context.save()
    func sizes(_ condition: (PathScripts.Œuvre.Paths) throws -> FetchPredicate) throws -> [Double] {
      let request = FetchRequest<PathScripts.Œuvre>(entityName: "Œuvre")
      try request.filter(condition).sort { [$0.größe.ascending] }
      return try context.fetch(request).map { $0.größe }
    }
    #expect(try sizes { $0.größe > 0.5 } == [1, 2])
    #expect(try sizes { $0.名前 == "題1" && $0.한글 == "글1" } == [1])
    // The other normal form of the model's name.
    #expect(try sizes { $0.état >= 2 } == [2])
    let request = FetchRequest<PathScripts.Œuvre>(entityName: "Œuvre")
    request.predicate = try FetchPredicate(#Predicate<PathScripts.Œuvre> { $0.名前 == "題2" && $0.größe < 3 })
    #expect(try context.fetch(request).map { $0.größe } == [2])
    // A name that the model does not have, as in a format string.
    #expect(cambiumError { _ = try sizes { $0.`two words` == "x" } } != nil)
  }

  @Test func swiftsKeyPaths() throws {
    let (container, context) = try context()
    defer { withExtendedLifetime(container) {} }
    let request = FetchRequest<PathVehicle>(entityName: "Vehicle")
    request.predicate = try FetchPredicate(
      #Predicate<PathVehicle> { $0.type == "odd" && $0.paint?.primary != "red" })
    #expect(try context.fetch(request).map { $0.number } == ["N3"])
    // What a subclass inherits begins at the subclass.
    let cars = FetchRequest<PathCar>(entityName: "Car")
    cars.predicate = try FetchPredicate(#Predicate<PathCar> { $0.number == "N3" })
    #expect(try context.fetch(cars).count == 1)
    cars.predicate = try FetchPredicate(#Predicate<PathCar> { $0.owner?.name == "Bessie" })
    #expect(try context.fetch(cars).count == 1)
    let places = FetchRequest<PathPlace>(entityName: "Place")
    places.predicate = try FetchPredicate(#Predicate<PathPlace> { $0.name == "Chicago" })
    #expect(try context.count(for: places) == 1)
    #expect(PathPaint.predicateKeyPaths.count == 2 && PathVehicle.predicateKeyPaths.count == 5)
  }
}
