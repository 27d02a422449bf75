/// Roots, logarithms, powers and the functions of angles, which the standard library takes from the platform's
/// mathematics library. The engine has none to take them from, and answers the same on every platform: roots are
/// rounded exactly, the others are right to some 15 digits, powers to some 13.
///
/// The polynomials are those of FreeBSD's msun (Sun Microsystems, 1993), which may be used freely.
enum ElementaryFunctions {
  private static let ln2High = 6.93147180369123816490e-01
  private static let ln2Low = 1.90821492927058770002e-10
  private static let pi = 3.14159265358979323846

  // Coefficients, that of the lowest power first.
  private static let exponentialTerms = [
    1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05, -1.65339022054652515390e-06,
    4.13813679705723846039e-08,
  ]
  private static let logarithmTerms = [
    6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
    1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
  ]
  private static let arcSineTerms = [
    1.66666666666666657415e-01, -3.25565818622400915405e-01, 2.01212532134862925881e-01, -4.00555345006794114027e-02,
    7.91534994289814532176e-04, 3.47933107596021167570e-05,
  ]
  private static let arcSineDivisor = [
    1, -2.40339491173441421878, 2.02094576023350569471, -6.88283971605453293030e-01, 7.70381505559019352791e-02,
  ]

  private static func polynomial(_ x: Double, _ coefficients: [Double]) -> Double {
    var result = 0.0
    for coefficient in coefficients.reversed() { result = result * x + coefficient }
    return result
  }

  /// The square root; nil below zero.
  static func squareRoot(_ x: Double) -> Double? {
    if x.isNaN || x == 0 || x == .infinity { return x }
    guard x > 0 else { return nil }
    // x = significand × 2^power with an even power and 107 or 108 bits: the root has 54, the last of which rounds.
    let scaled = x.isNormal ? x : x * 0x1p108
    var power = Int(scaled.exponent) - 52
    var significand = UInt128(scaled.significandBitPattern | 1 << 52)
    let shift = power & 1 == 0 ? 54 : 55
    significand <<= UInt128(shift)
    power -= shift
    var root: UInt128 = 0
    var rest = significand
    var bit: UInt128 = 1 << 106
    while bit > rest { bit >>= 2 }
    while bit != 0 {
      if rest >= root + bit {
        rest -= root + bit
        root = root >> 1 + bit
      } else {
        root >>= 1
      }
      bit >>= 2
    }
    // The 54th bit says on which side of the half the rest of the root is, and one more that there is a rest.
    let bits = UInt64(truncatingIfNeeded: root) << 1 | (rest != 0 ? 1 : 0)
    let result = Double(bits) * powerOfTwo(power / 2 - 1)
    return x.isNormal ? result : result * 0x1p-54
  }

  /// 2^n for a normal result; 0 or infinity beyond.
  private static func powerOfTwo(_ n: Int) -> Double {
    if n < -1022 { return n < -1074 ? 0 : Double(bitPattern: 1 << UInt64(n + 1074)) }
    if n > 1023 { return .infinity }
    return Double(bitPattern: UInt64(n + 1023) << 52)
  }

  /// e^x.
  static func exponential(_ x: Double) -> Double {
    if x.isNaN { return x }
    if x > 709.782712893383973096 { return .infinity }
    if x < -745.13321910194110842 { return 0 }
    if x.magnitude < 0x1p-28 { return 1 + x }
    let scaled = x / (ln2High + ln2Low)
    let k = Int(scaled + (scaled < 0 ? -0.5 : 0.5))
    let high = x - Double(k) * ln2High
    let low = Double(k) * ln2Low
    let r = high - low
    let t = r * r
    let c = r - t * polynomial(t, exponentialTerms)
    let y = 1 - ((low - (r * c) / (2 - c)) - high)
    // In two steps, so that results below the normal numbers are reached.
    let half = k / 2
    return y * powerOfTwo(half) * powerOfTwo(k - half)
  }

  /// The natural logarithm; nil for zero and below.
  static func logarithm(_ x: Double) -> Double? {
    if x.isNaN || x == .infinity { return x }
    guard x > 0 else { return nil }
    let scaled = x.isNormal ? x : x * 0x1p54
    var k = Int(scaled.exponent) - (x.isNormal ? 0 : 54)
    var m = Double(bitPattern: scaled.significandBitPattern | 1023 << 52)
    if m > 1.4142135623730951 {
      m /= 2
      k += 1
    }
    let f = m - 1
    let s = f / (2 + f)
    let z = s * s
    let series = z * polynomial(z, logarithmTerms)
    let half = 0.5 * f * f
    return Double(k) * ln2High - ((half - (s * (half + series) + Double(k) * ln2Low)) - f)
  }

  /// The logarithm to the base 10, whole for powers of ten; nil for zero and below.
  static func decimalLogarithm(_ x: Double) -> Double? {
    guard let natural = logarithm(x), natural.isFinite else { return logarithm(x) }
    let result = natural / 2.30258509299404568402
    let whole = Double(Int64(result + (result < 0 ? -0.5 : 0.5)))
    return power(10, whole) == x ? whole : result
  }

  /// x^y; nil where there is no real number: for zero to a negative power, and a negative to one with a fraction.
  static func power(_ x: Double, _ y: Double) -> Double? {
    if y == 0 || x == 1 { return 1 }
    if x.isNaN || y.isNaN { return .nan }
    if x == 0 { return y < 0 ? nil : 0 }
    if y.isInfinite { return (x.magnitude > 1) == (y > 0) ? .infinity : x.magnitude == 1 ? 1 : 0 }
    let whole = y.magnitude < 0x1p52 ? Double(Int64(y)) : y
    if x < 0, whole != y { return nil }
    // The whole part by squaring, as long as that is exact or nearly so; the rest by logarithms.
    if whole.magnitude <= 1024 {
      var result = 1.0
      var base = x
      var rest = Int64(whole.magnitude)
      while rest > 0 {
        if rest & 1 == 1 { result *= base }
        rest >>= 1
        if rest > 0 { base *= base }
      }
      if whole < 0 { result = 1 / result }
      if whole == y { return result }
      return logarithm(x).map { result * exponential((y - whole) * $0) }
    }
    guard let logarithm = logarithm(x.magnitude) else { return nil }
    let isOdd = y.magnitude < 0x1p53 && Int64(y) & 1 == 1
    let result = exponential(y * logarithm)
    return x < 0 && isOdd ? -result : result
  }

  /// The sine of an angle between -π/4 and π/4. Its terms, and those of the cosine, are written out, since searches for
  /// near places compute them for many.
  private static func smallSine(_ x: Double) -> Double {
    let z = x * x
    var p = 1.58969099521155010221e-10
    p = p * z - 2.50507602534068634195e-08
    p = p * z + 2.75573137070700676789e-06
    p = p * z - 1.98412698298579493134e-04
    p = p * z + 8.33333333332248946124e-03
    p = p * z - 1.66666666666666324348e-01
    return x + z * x * p
  }

  private static func smallCosine(_ x: Double) -> Double {
    let z = x * x
    var p = -1.13596475577881948265e-11
    p = p * z + 2.08757232129817482790e-09
    p = p * z - 2.75573143513906633035e-07
    p = p * z + 2.48015872894767294178e-05
    p = p * z - 1.38888888888741095749e-03
    p = p * z + 4.16666666666666019037e-02
    return 1 - (0.5 * z - z * z * p)
  }

  /// The sine of an angle in degrees.
  static func sine(degrees: Double) -> Double {
    guard degrees.magnitude < 0x1p40 else { return .nan }
    // Whole quarter turns are taken off exactly.
    let quarters = Int64(degrees / 90 + (degrees < 0 ? -0.5 : 0.5))
    let rest = (degrees - Double(quarters) * 90) * (pi / 180)
    switch quarters & 3 {
    case 0: return smallSine(rest)
    case 1: return smallCosine(rest)
    case 2: return -smallSine(rest)
    default: return -smallCosine(rest)
    }
  }

  static func cosine(degrees: Double) -> Double { sine(degrees: degrees + 90) }

  /// The angle from 0 to π/2 whose sine is `x`, from 0 to 1.
  static func arcSine(_ x: Double) -> Double {
    if x >= 1 { return pi / 2 }
    if x > 0.5 { return pi / 2 - 2 * arcSine(squareRoot((1 - x) / 2) ?? 0) }
    let t = x * x
    return x + x * (t * polynomial(t, arcSineTerms) / polynomial(t, arcSineDivisor))
  }
}
