/// Several measurements of the same.
struct Samples: Sendable {
  var values: [Double] = []

  var median: Double { quantile(0.5) }

  /// Half the distance between the smallest and the largest, in hundredths of the median.
  var spread: Double {
    guard let low = values.min(), let high = values.max(), median != 0 else { return 0 }
    return (high - low) / 2 / median * 100
  }

  func quantile(_ q: Double) -> Double {
    if values.isEmpty { return .nan }
    let sorted = values.sorted()
    let place = q * Double(sorted.count - 1)
    let low = Int(place)
    let high = min(low + 1, sorted.count - 1)
    return sorted[low] + (sorted[high] - sorted[low]) * (place - Double(low))
  }
}
