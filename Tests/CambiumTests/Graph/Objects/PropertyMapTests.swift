import CambiumTesting
import Testing

@testable import Cambium

/// ``PropertyMap`` beside a dictionary.
@Suite struct PropertyMapTests {
  @Test func mapsAreSortedDictionaries() {
    var random = SplitMix64(seed: testSeed(20_261_125))
    for _ in 0..<300 {
      var map: PropertyMap<Int> = [:]
      var dictionary: [Int: Int] = [:]
      let range = Int.random(in: 1...12, using: &random)
      if Bool.random(using: &random) { map.reserveCapacity(range) }
      for step in 0..<60 {
        let key = Int.random(in: 0..<range, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0..<3:
          map.updateValue(step, forKey: key)
          dictionary[key] = step
        case 3:
          map[key] = Bool.random(using: &random) ? step : nil
          dictionary[key] = map[key]
        case 4:
          map.removeValue(forKey: key)
          dictionary[key] = nil
        default:
          // A count that is gone when it comes to a multiple of four.
          map.change(key, from: 0) {
            $0 += 1
            return $0 % 4 != 0
          }
          let changed = (dictionary[key] ?? 0) + 1
          dictionary[key] = changed % 4 == 0 ? nil : changed
        }
        #expect(map[key] == dictionary[key] && map.contains(key) == (dictionary[key] != nil))
        #expect(map.count == dictionary.count && map.isEmpty == dictionary.isEmpty)
        #expect(map.containsKey { $0 > range / 2 } == dictionary.keys.contains { $0 > range / 2 })
      }
      let expected = dictionary.sorted { $0.key < $1.key }
      #expect(map.keys == expected.map { $0.key } && map.values == expected.map { $0.value })
      var seen: [Int] = []
      map.forEach { (key, value) in seen += [key, value] }
      #expect(seen == expected.flatMap { [$0.key, $0.value] })
      #expect(map.map { [$0.key, $0.value] } == expected.map { [$0.key, $0.value] })
    }
  }
}
