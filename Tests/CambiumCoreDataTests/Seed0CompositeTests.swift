// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import CambiumCoreData
import Testing

// "What's new in Core Data": 5:39 adding, 5:53 setting, 6:11 fetching a composite attribute. The code is the talk's but
// for the import, `@Managed`, and what was left out of it.

enum PaintColor: String, CaseIterable, Identifiable {
  case none, white, blue, orange, red, gray, green, gold, yellow, black
  var id: Self { self }
}

final class Aircraft: NSManagedObject {}

extension Aircraft {
  @nonobjc public class func fetchRequest() -> NSFetchRequest<Aircraft> {
    return NSFetchRequest<Aircraft>(entityName: "Aircraft")
  }
  @Managed public var aircraftCategory: String?
  @Managed public var aircraftClass: String?
  @Managed public var aircraftType: String?
  @Managed public var colorScheme: [String: Any]?
  @Managed public var photo: Data?
  @Managed public var tailNumber: String?
  @Managed public var logEntries: NSSet?
}

@Suite struct Seed0CompositeTests {
  /// The view that the talk's functions are of.
  private final class AddAircraftView {
    let viewContext: NSManagedObjectContext
    var tailNumber = "N172SP"
    var aircraftType = "C172"
    var aircraftClass = "Single Engine Land"
    var aircraftCategory = "Airplane"
    var primaryColor = PaintColor.white
    var secondaryColor = PaintColor.blue
    var tertiaryColor = PaintColor.none
    var error: (any Error)?
    var found: [Aircraft] = []

    init(_ viewContext: NSManagedObjectContext) { self.viewContext = viewContext }

    func addAircraft() {
      viewContext.performAndWait {
        let newAircraft = Aircraft(context: viewContext)
        newAircraft.tailNumber = tailNumber
        newAircraft.aircraftType = aircraftType
        newAircraft.aircraftClass = aircraftClass
        newAircraft.aircraftCategory = aircraftCategory
        newAircraft.colorScheme = [
          "primary": primaryColor.rawValue, "secondary": secondaryColor.rawValue, "tertiary": tertiaryColor.rawValue,
        ]
        do {
          try viewContext.save()
        } catch {
          self.error = error
        }
      }
    }

    func findAircraft(with color: String) {
      viewContext.performAndWait {
        let fetchRequest = Aircraft.fetchRequest()
        fetchRequest.predicate = NSPredicate(format: "colorScheme.primary == %@", color)
        do {
          var fetchedResults: [Aircraft]
          fetchedResults = try viewContext.fetch(fetchRequest)
          found = fetchedResults
        } catch {
          self.error = error
        }
      }
    }
  }

  @Test func compositesAreSetAndFound() throws {
    let folder = try Folder()
    let url = folder.file("Flights.sqlite")
    do {
      let container = try FlightLog.container(url, try FlightLog.model())
      let view = AddAircraftView(container.viewContext)
      view.addAircraft()
      view.tailNumber = "N2"
      view.primaryColor = .red
      view.addAircraft()
      #expect(view.error == nil)
    }
    let container = try FlightLog.container(url, try FlightLog.model())
    let view = AddAircraftView(container.viewContext)
    view.findAircraft(with: "white")
    #expect(view.error == nil)
    let aircraft = try #require(view.found.first)
    #expect(view.found.count == 1 && aircraft.tailNumber == "N172SP" && aircraft.aircraftClass == "Single Engine Land")
    #expect(aircraft.colorScheme?["secondary"] as? String == "blue")
    #expect(aircraft.value(forKeyPath: "colorScheme.tertiary") as? String == "none")
    view.findAircraft(with: "black")
    #expect(view.found.isEmpty && view.error == nil)
  }

  @Test func toManyAsNSSet() throws {
    let folder = try Folder()
    let container = try FlightLog.container(folder.file("Flights.sqlite"), try FlightLog.model())
    let context = container.viewContext
    let aircraft = Aircraft(context: context)
    let entries = (1...3).map { minutes in
      let entry = NSEntityDescription.insertNewObject(forEntityName: "LogEntry", into: context)
      entry.setValue(minutes, forKey: "minutes")
      return entry
    }
    aircraft.logEntries = NSSet(array: entries)
    try context.save()
    #expect(aircraft.logEntries?.count == 3)
    #expect(aircraft.logEntries?.contains(entries[0]) == true)
    #expect(entries[1].value(forKey: "aircraft") as? Aircraft === aircraft)
    aircraft.logEntries = NSSet(array: [entries[2]])
    try context.save()
    #expect(aircraft.logEntries?.allObjects.count == 1)
    #expect(entries[1].value(forKey: "aircraft") == nil)
  }
}
