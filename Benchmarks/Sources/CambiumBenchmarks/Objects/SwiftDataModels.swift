import CambiumSwiftData
import Foundation

/// Two colours and perhaps a third, as a structure that `@Model` stores field by field.
struct ModelColours: Codable {
  var primary: String?
  var secondary: String?
  var tertiary: String?
}

/// An aircraft of the workloads, as ``AircraftObject``.
@Model final class AircraftModel {
  #Index<AircraftModel>([\.colorScheme?.primary])

  @Attribute(.unique) var tailNumber: String
  var category: String?
  var kind: String?
  var type: String?
  var colorScheme: ModelColours?
  var year: Int32?
  var hours: Double
  var photo: Data?
  @Relationship(deleteRule: .cascade, inverse: \EntryModel.aircraft) var logEntries: [EntryModel]

  init(_ a: Aircraft) {
    tailNumber = a.tailNumber
    category = a.category
    kind = a.kind
    type = a.type
    colorScheme = ModelColours(primary: a.primary, secondary: a.secondary, tertiary: a.tertiary)
    year = a.year
    hours = a.hours
    photo = Data(a.photo)
    logEntries = []
  }

  var values: Aircraft {
    let colours = colorScheme
    return Aircraft(
      id: 0, tailNumber: tailNumber, category: category ?? "", kind: kind ?? "", type: type ?? "",
      primary: colours?.primary ?? "", secondary: colours?.secondary ?? "", tertiary: colours?.tertiary, year: year,
      hours: hours, photo: photo.map { $0.withUnsafeBytes { [UInt8]($0) } } ?? [])
  }
}

/// A log entry of the workloads, as ``EntryObject``.
@Model final class EntryModel {
  #Index<EntryModel>([\.date])

  var date: Date?
  var flight: Int32
  var distance: Int32?
  var delay: Double?
  var remark: String?
  var aircraft: AircraftModel?

  init(_ e: LogEntry) {
    date = Date(timeIntervalSinceReferenceDate: e.date)
    flight = e.flight
    distance = e.distance
    delay = e.delay
    remark = e.remark
  }
}

/// An aircraft that has its colours twice, as ``PaintedObject``.
@Model final class PaintedModel {
  var tailNumber: String
  var colorScheme: ModelColours?
  @Relationship(deleteRule: .cascade, inverse: \LiveryModel.aircraft) var livery: LiveryModel?

  init(_ a: Aircraft) {
    tailNumber = a.tailNumber
    colorScheme = ModelColours(primary: a.primary, secondary: a.secondary, tertiary: a.tertiary)
    livery = LiveryModel(a)
  }
}

/// The colours of an aircraft, as ``LiveryObject``.
@Model final class LiveryModel {
  var primary: String?
  var secondary: String?
  var tertiary: String?
  var aircraft: PaintedModel?

  init(_ a: Aircraft) {
    primary = a.primary
    secondary = a.secondary
    tertiary = a.tertiary
  }
}
