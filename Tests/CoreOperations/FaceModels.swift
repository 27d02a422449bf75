import CambiumSwiftData
import Foundation

/// Two colours and perhaps a third, stored field by field.
struct ModelColours: Codable {
  var primary: String?
  var secondary: String?
  var tertiary: String?
}

/// The same as ``AircraftObject``.
@Model final class AircraftModel {
  @Attribute(.unique) var tailNumber: String
  var category: String?
  var kind: String?
  var type: String?
  var colours: ModelColours?
  var year: Int32?
  var hours: Double
  var photo: Data?
  @Relationship(deleteRule: .cascade, inverse: \EntryModel.aircraft) var entries: [EntryModel]

  init(_ i: Int, _ photo: Data) {
    tailNumber = FaceData.tail(i)
    category = "land"
    kind = "aeroplane"
    type = FaceData.types[i % 3]
    colours = ModelColours(primary: "white", secondary: "dark blue", tertiary: nil)
    year = Int32(1950 + i % 70)
    hours = Double(i)
    self.photo = photo
    entries = []
  }

  /// ``hours``, without a word of it to Observation.
  var unobservedHours: Double { _$held.with { $0[model: "hours"] } }
}

/// The same as ``EntryObject``.
@Model final class EntryModel {
  #Index<EntryModel>([\.date])

  var date: Date?
  var flight: Int32
  var distance: Int32?
  var remark: String?
  var aircraft: AircraftModel?

  init(_ i: Int) {
    date = Date(timeIntervalSinceReferenceDate: Double(i))
    flight = Int32(i)
    distance = Int32(100 + i % 900)
    remark = "as planned"
  }
}
