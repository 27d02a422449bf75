import CambiumSwiftData

/// A trip, as the SwiftData stack knows it. Entity and properties are those of the Core Data model, so both have the
/// same version hashes.
@Model final class Trip {
  var name: String
  var destination: String
  var startDate: Date
  var endDate: Date
  @Relationship(deleteRule: .cascade, inverse: \BucketListItem.trip) var bucketList: [BucketListItem] = []
  @Relationship(deleteRule: .cascade, inverse: \LivingAccommodation.trip) var livingAccommodation: LivingAccommodation?

  init(name: String, destination: String, startDate: Date, endDate: Date) {
    self.name = name
    self.destination = destination
    self.startDate = startDate
    self.endDate = endDate
  }
}

/// Something to do on a trip.
@Model final class BucketListItem {
  var title: String
  var isInPlan: Bool = false
  var trip: Trip?

  init(title: String, isInPlan: Bool = false) {
    self.title = title
    self.isInPlan = isInPlan
  }
}

/// The place to stay on a trip.
@Model final class LivingAccommodation {
  var placeName: String
  var address: String?
  var trip: Trip?

  init(placeName: String, address: String? = nil) {
    self.placeName = placeName
    self.address = address
  }
}
