import CambiumCoreData

/// A trip, as the Core Data stack knows it. Its entity is `Trip`. The class has another name, because ``Trip`` is the
/// SwiftData stack's.
final class CDTrip: NSManagedObject {
  @Managed var name: String
  @Managed var destination: String
  @Managed var startDate: Date
  @Managed var endDate: Date
  @Managed var bucketList: Set<CDBucketListItem>
  @Managed var livingAccommodation: CDLivingAccommodation?
}

/// Something to do on a trip.
final class CDBucketListItem: NSManagedObject {
  @Managed var title: String
  @Managed var isInPlan: Bool
  @Managed var trip: CDTrip?
}

/// The place to stay on a trip.
final class CDLivingAccommodation: NSManagedObject {
  @Managed var placeName: String
  @Managed var address: String?
  @Managed var trip: CDTrip?
}
