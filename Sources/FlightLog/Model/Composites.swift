import Cambium

/// The composite `Times`: when a departure or arrival was to be and was, in minutes after local midnight, and how late
/// in minutes.
@ManagedPaths struct Times: CompositeRepresentable {
  var scheduled: Int?
  var actual: Int?
  var delay: Int?

  init(scheduled: Int?, actual: Int?, delay: Int?) {
    self.scheduled = scheduled
    self.actual = actual
    self.delay = delay
  }

  init?(compositeValues values: [String: Any]) {
    scheduled = values["scheduled"] as? Int
    actual = values["actual"] as? Int
    delay = values["delay"] as? Int
  }

  var compositeValues: [String: Any] {
    ["scheduled": scheduled as Any, "actual": actual as Any, "delay": delay as Any]
  }

  // Every flight has two of these, so they take the quick way as well.

  init?(compositeElements elements: CompositeElements) {
    scheduled = elements["scheduled"]
    actual = elements["actual"]
    delay = elements["delay"]
  }

  var compositeElements: CompositeElements? {
    var elements = CompositeElements()
    elements["scheduled"] = scheduled
    elements["actual"] = actual
    elements["delay"] = delay
    return elements
  }
}

/// The composite `Location`: degrees and feet.
@ManagedPaths struct Location: CompositeRepresentable {
  var latitude: Double?
  var longitude: Double?
  var altitude: Int?

  init(latitude: Double?, longitude: Double?, altitude: Int?) {
    self.latitude = latitude
    self.longitude = longitude
    self.altitude = altitude
  }

  init?(compositeValues values: [String: Any]) {
    latitude = values["latitude"] as? Double
    longitude = values["longitude"] as? Double
    altitude = values["altitude"] as? Int
  }

  var compositeValues: [String: Any] {
    ["latitude": latitude as Any, "longitude": longitude as Any, "altitude": altitude as Any]
  }
}

/// The composite `Place`: a composite in a composite.
@ManagedPaths struct Place: CompositeRepresentable {
  var timeZone: String?
  var location: Location?

  init(timeZone: String?, location: Location?) {
    self.timeZone = timeZone
    self.location = location
  }

  init?(compositeValues values: [String: Any]) {
    timeZone = values["timeZone"] as? String
    location = (values["location"] as? [String: Any]).flatMap { Location(compositeValues: $0) }
  }

  var compositeValues: [String: Any] { ["timeZone": timeZone as Any, "location": location as Any] }
}
