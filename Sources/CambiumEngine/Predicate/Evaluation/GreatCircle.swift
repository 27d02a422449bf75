/// In metres; the mean radius of the ellipsoid of WGS 84.
let sphereDiameter = 2 * 6_371_008.8

/// The haversine of the angle between two places: of the degrees that they are apart, and the product of their
/// latitudes' cosines. Below 0 by rounding only.
func haversine(_ latitudes: Double, _ longitudes: Double, _ cosines: Double) -> Double {
  let sine = ElementaryFunctions.sine(degrees: latitudes / 2)
  let turn = ElementaryFunctions.sine(degrees: longitudes / 2)
  return sine * sine + cosines * turn * turn
}

/// The way between two places over a sphere of 6,371,008.8 m (the mean radius of the ellipsoid of WGS 84), in metres;
/// nil where rounding leaves no number.
func greatCircle(_ latitude: Double, _ longitude: Double, _ toLatitude: Double, _ toLongitude: Double) -> Double? {
  let cosines = ElementaryFunctions.cosine(degrees: latitude) * ElementaryFunctions.cosine(degrees: toLatitude)
  let chord = ElementaryFunctions.squareRoot(haversine(toLatitude - latitude, toLongitude - longitude, cosines))
  return chord.map { sphereDiameter * ElementaryFunctions.arcSine($0) }
}
