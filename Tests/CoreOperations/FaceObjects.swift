import Cambium
import Foundation

/// Two colours and perhaps a third.
@Composite struct Colours {
  var primary: String?
  var secondary: String?
  var tertiary: String?
}

/// An aircraft as a managed object, for comparison with ``AircraftModel``.
final class AircraftObject: ManagedObject {
  @Managed var tailNumber: String
  @Managed var category: String?
  @Managed var kind: String?
  @Managed var type: String?
  @Managed var colours: Colours?
  @Managed var year: Int32?
  @Managed var hours: Double
  @Managed var photo: Data?
  @Managed var entries: Set<EntryObject>

  func take(_ i: Int, _ data: Data) {
    tailNumber = FaceData.tail(i)
    category = "land"
    kind = "aeroplane"
    type = FaceData.types[i % 3]
    colours = Colours(primary: "white", secondary: "dark blue", tertiary: nil)
    year = Int32(1950 + i % 70)
    hours = Double(i)
    photo = data
  }
}

/// A log entry as a managed object, for comparison with ``EntryModel``.
final class EntryObject: ManagedObject {
  @Managed var date: Date?
  @Managed var flight: Int32
  @Managed var distance: Int32?
  @Managed var remark: String?
  @Managed var aircraft: AircraftObject?

  func take(_ i: Int) {
    date = Date(timeIntervalSinceReferenceDate: Double(i))
    flight = Int32(i)
    distance = Int32(100 + i % 900)
    remark = "as planned"
  }
}

/// The model of ``AircraftObject`` and ``EntryObject``.
func faceModel() throws -> ManagedObjectModel {
  try ManagedObjectModel {
    Composite("Colours") {
      Attribute("primary", .string)
      Attribute("secondary", .string)
      Attribute("tertiary", .string)
    }
    Entity("Aircraft", class: AircraftObject.self) {
      Attribute("tailNumber", .string, optional: false)
      Attribute("category", .string)
      Attribute("kind", .string)
      Attribute("type", .string)
      Attribute("colours", composite: "Colours")
      Attribute("year", .integer32)
      Attribute("hours", .double)
      Attribute("photo", .binary)
      ToMany("entries", "Entry", inverse: "aircraft", deleteRule: .cascade)
      Unique("tailNumber")
    }
    Entity("Entry", class: EntryObject.self) {
      Attribute("date", .date)
      Attribute("flight", .integer32)
      Attribute("distance", .integer32)
      Attribute("remark", .string)
      ToOne("aircraft", "Aircraft", inverse: "entries")
      Index("byDate", "date")
    }
  }
}
