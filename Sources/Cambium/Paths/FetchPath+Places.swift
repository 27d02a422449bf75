import CambiumEngine

// Composites with numbers `latitude` and `longitude`, in degrees. That the path leads to one is found out when the
// request is made.
extension FetchPath {
  /// The metres to a place, along a great circle: `distanceToLocation:fromLocation:`.
  ///
  ///     request.filter { $0.place.location.distance(fromLatitude: 46.5, longitude: 8) < 20_000 }
  public func distance(fromLatitude latitude: Double, longitude: Double) -> FetchValue<Double> {
    FetchValue(
      .function(
        "distanceToLocation:fromLocation:",
        [engine, .constant(.list([.double(latitude), .double(longitude)]))]))
  }

  /// The nearest to a place first; see ``FetchSortDescriptor/init(distanceOf:fromLatitude:longitude:ascending:)``.
  public func nearest(toLatitude latitude: Double, longitude: Double) -> FetchSortDescriptor {
    FetchSortDescriptor(distanceOf: keyPath, fromLatitude: latitude, longitude: longitude)
  }
}
