import Cambium

extension Question {
  /// Where flights went.
  static let places: [Question] = [
    Question(title: "In which time zones are the destinations?") { context in
      let destinations: [Airport] = try context.find("Airport", try FetchPredicate(format: "ANY arrivals.distance > 0"))
      var zones: [String: [String]] = [:]
      for airport in destinations {
        zones[airport.place?.timeZone ?? "unknown", default: []].append(airport.faaIdentifier)
      }
      let order = zones.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
      return ["\(destinations.count) destinations"]
        + order.map { zone, airports in
          let named = airports.sorted()
          let more = named.count > 8 ? ", ..." : ""
          return "\(column(zone, 20)) \(padded("\(named.count)", 3))  \(named.prefix(8).joined(separator: ", "))\(more)"
        }
    },
    Question(title: "Which airports lie between 40 and 41 degrees north and above 6,000 feet?") { context in
      let predicate = try FetchPredicate(
        format: "place.location.latitude BETWEEN {40, 41} AND place.location.altitude > 6000")
      let airports: [Airport] = try context.find(
        "Airport", predicate, by: [FetchSortDescriptor(key: "place.location.altitude", ascending: false)])
      return airports.map(\.locationLine)
    },
    Question(title: "Which five airports are nearest to Aspen, with how many flights each?") { context in
      let (latitude, longitude) = (39.2232, -106.8688)
      let nearest: [Airport] = try context.find(
        "Airport", try FetchPredicate(format: "faaIdentifier != 'ASE'"),
        by: [FetchSortDescriptor(distanceOf: "place.location", fromLatitude: latitude, longitude: longitude)], limit: 5)
      return try nearest.map { airport in
        let flights = try context.count("LogEntry", "destination.faaIdentifier == %@", airport.faaIdentifier)
        return "\(padded(grouped(flights), 6)) flights to  \(airport.locationLine)"
      }
    },
    Question(title: "Which airports are highest?") { context in
      let airports: [Airport] = try context.find(
        "Airport", by: [FetchSortDescriptor(key: "place.location.altitude", ascending: false)], limit: 3)
      return airports.map(\.locationLine)
    },
    Question(title: "How many flights went to airports above 5,000 feet?") { context in
      let flights = try context.count("LogEntry", "destination.place.location.altitude > 5000")
      let predicate = try FetchPredicate(
        format: "place.location.altitude > 5000 AND ANY arrivals.distance > 0")
      let airports: [Airport] = try context.find("Airport", predicate)
      return ["\(grouped(flights)) flights, to \(airports.map { $0.faaIdentifier }.sorted().joined(separator: ", "))"]
    },
  ]
}

extension Airport {
  /// Name, codes and place on one line.
  fileprivate var locationLine: String {
    let codes = "\(faaIdentifier) (\(icaoIdentifier ?? "no ICAO code"))"
    guard let location = place?.location else { return "\(codes)  \(name)" }
    let latitude = location.latitude ?? 0
    let longitude = location.longitude ?? 0
    return "\(codes)  \(fixed(latitude.magnitude, 4)) \(latitude < 0 ? "S" : "N"), \(fixed(longitude.magnitude, 4)) "
      + "\(longitude < 0 ? "W" : "E"), \(grouped(location.altitude ?? 0)) feet  \(name)"
  }
}
