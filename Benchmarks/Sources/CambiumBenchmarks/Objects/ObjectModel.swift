import Cambium
import Foundation

/// Two colours and perhaps a third.
struct Colours: CompositeRepresentable {
  var primary: String?
  var secondary: String?
  var tertiary: String?

  init(primary: String?, secondary: String?, tertiary: String?) {
    self.primary = primary
    self.secondary = secondary
    self.tertiary = tertiary
  }

  init?(compositeValues values: [String: Any]) {
    primary = values["primary"] as? String
    secondary = values["secondary"] as? String
    tertiary = values["tertiary"] as? String
  }

  var compositeValues: [String: Any] {
    ["primary": primary as Any, "secondary": secondary as Any, "tertiary": tertiary as Any]
  }

  init?(compositeElements elements: CompositeElements) {
    primary = elements["primary"]
    secondary = elements["secondary"]
    tertiary = elements["tertiary"]
  }

  var compositeElements: CompositeElements? {
    var elements = CompositeElements()
    elements["primary"] = primary
    elements["secondary"] = secondary
    elements["tertiary"] = tertiary
    return elements
  }
}

/// An aircraft of the workloads.
final class AircraftObject: ManagedObject {
  @Managed var tailNumber: String
  @Managed var category: String?
  @Managed var kind: String?
  @Managed var type: String?
  @Managed var colorScheme: Colours?
  @Managed var year: Int32?
  @Managed var hours: Double
  @Managed var photo: Data?
  @Managed var logEntries: Set<EntryObject>

  func take(_ a: Aircraft) {
    tailNumber = a.tailNumber
    category = a.category
    kind = a.kind
    type = a.type
    colorScheme = Colours(primary: a.primary, secondary: a.secondary, tertiary: a.tertiary)
    year = a.year
    hours = a.hours
    photo = Data(a.photo)
  }

  var values: Aircraft {
    let colours = colorScheme
    return Aircraft(
      id: 0, tailNumber: tailNumber, category: category ?? "", kind: kind ?? "", type: type ?? "",
      primary: colours?.primary ?? "", secondary: colours?.secondary ?? "", tertiary: colours?.tertiary, year: year,
      hours: hours, photo: photo.map { $0.withUnsafeBytes { [UInt8]($0) } } ?? [])
  }
}

/// A log entry of the workloads.
final class EntryObject: ManagedObject {
  @Managed var date: Date?
  @Managed var flight: Int32
  @Managed var distance: Int32?
  @Managed var delay: Double?
  @Managed var remark: String?
  @Managed var aircraft: AircraftObject?

  func take(_ e: LogEntry) {
    date = Date(timeIntervalSinceReferenceDate: e.date)
    flight = e.flight
    distance = e.distance
    delay = e.delay
    remark = e.remark
  }
}

/// An aircraft that has its colours twice: embedded, and in an object of their own.
final class PaintedObject: ManagedObject {
  @Managed var tailNumber: String
  @Managed var colorScheme: Colours?
  @Managed var livery: LiveryObject?
}

/// The colours of an aircraft.
final class LiveryObject: ManagedObject {
  @Managed var primary: String?
  @Managed var secondary: String?
  @Managed var tertiary: String?
  @Managed var aircraft: PaintedObject?
}

/// The model of the engine's workloads, as a program that works with objects writes it.
func objectModel() throws -> ManagedObjectModel {
  try ManagedObjectModel {
    Composite("ColorScheme") {
      Attribute("primary", .string)
      Attribute("secondary", .string)
      Attribute("tertiary", .string)
    }
    Entity("Aircraft", class: AircraftObject.self) {
      Attribute("tailNumber", .string, optional: false)
      Attribute("category", .string)
      Attribute("kind", .string)
      Attribute("type", .string)
      Attribute("colorScheme", composite: "ColorScheme")
      Attribute("year", .integer32)
      Attribute("hours", .double)
      Attribute("photo", .binary)
      ToMany("logEntries", "LogEntry", inverse: "aircraft", deleteRule: .cascade)
      Unique("tailNumber")
      Index("byPrimary", "colorScheme.primary")
    }
    Entity("LogEntry", class: EntryObject.self) {
      Attribute("date", .date)
      Attribute("flight", .integer32)
      Attribute("distance", .integer32)
      Attribute("delay", .double)
      Attribute("remark", .string)
      ToOne("aircraft", "Aircraft", inverse: "logEntries")
      Index("byDate", "date")
    }
    Entity("Painted", class: PaintedObject.self) {
      Attribute("tailNumber", .string, optional: false)
      Attribute("colorScheme", composite: "ColorScheme")
      ToOne("livery", "Livery", inverse: "aircraft", deleteRule: .cascade)
    }
    Entity("Livery", class: LiveryObject.self) {
      Attribute("primary", .string)
      Attribute("secondary", .string)
      Attribute("tertiary", .string)
      ToOne("aircraft", "Painted", inverse: "livery")
    }
  }
}
