import CSQLite
import Foundation

/// `nearest(latitude, longitude)` for SQLite's R-trees: `WHERE id MATCH nearest(?, ?) LIMIT n` goes through the boxes
/// from the nearest on, by lower bounds of great-circle distances, which is the fastest way that its module has.
enum SQLiteNearest {
  static func register(_ connection: OpaquePointer?) {
    sqlite3_rtree_query_callback(
      connection, "nearest",
      { info in
        guard let info, info.pointee.nParam == 2, info.pointee.nCoord == 4, let place = info.pointee.aParam,
          let box = info.pointee.aCoord
        else { return SQLITE_ERROR }
        info.pointee.rScore = SQLiteNearest.bound(
          latitude: place[0], longitude: place[1], south: box[0], north: box[1], west: box[2], east: box[3])
        info.pointee.eWithin = PARTLY_WITHIN
        return SQLITE_OK
      }, nil, nil)
  }

  private static func haversine(_ degrees: Double) -> Double {
    let sine = sin(degrees * .pi / 360)
    return sine * sine
  }

  /// What grows with the distance from a place to the nearest one in a box.
  private static func bound(
    latitude: Double, longitude: Double, south: Double, north: Double, west: Double, east: Double
  ) -> Double {
    if longitude >= west, longitude <= east {
      return latitude < south ? haversine(latitude - south) : latitude > north ? haversine(latitude - north) : 0
    }
    // Beside it: the nearest place is on the nearer meridian, where the great circle meets it squarely, or at a corner.
    let across = min(haversine(longitude - west), haversine(longitude - east))
    func along(_ other: Double) -> Double {
      cos(latitude * .pi / 180) * cos(other * .pi / 180) * across + haversine(latitude - other)
    }
    let cosine = 1 - 2 * across
    let square =
      cosine <= 0 ? (latitude > 0 ? 90.0 : -90.0) : atan(tan(latitude * .pi / 180) / cosine) * 180 / .pi
    return square > south && square < north ? along(square) : min(along(south), along(north))
  }
}
