import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

func decimal(_ text: String) -> Value { DecimalValue(text).map { .decimal($0) } ?? .null }

@Suite struct ValueTests {
  @Test(arguments: [
    (Value.integer(1), Value.double(1), ValueOrdering.equal),
    (.integer(9_007_199_254_740_993), .double(9_007_199_254_740_992), .greater),
    (.integer(9_007_199_254_740_992), .double(9_007_199_254_740_992), .equal),
    (.integer(.max), .double(0x1p63), .less),
    (.integer(.min), .double(-0x1p63), .equal),
    (.integer(.min), .double(-0x1.0000000000001p63), .greater),
    (.integer(-1), .double(-1.5), .greater),
    (.integer(0), .double(-0.0), .equal),
    (.integer(0), .double(.leastNonzeroMagnitude), .less),
    (.integer(0), .double(.nan), .greater),
    (.double(.nan), .float(.nan), .equal),
    (.double(-.infinity), .double(.nan), .greater),
    (.integer(.max), .double(.infinity), .less),
    (.float(0.1), .double(0.1), .greater),
    (.float(0.5), .double(0.5), .equal),
    (.double(0.1), decimal("0.1"), .greater),
    (.double(0.3), decimal("0.3"), .less),
    (.double(0.5), decimal("0.50"), .equal),
    (.double(-0.1), decimal("-0.1"), .less),
    (.double(1e300), decimal("1e127"), .greater),
    (.double(1e23), decimal("100000000000000000000000"), .less),
    (.double(9_007_199_254_740_992), decimal("9007199254740992"), .equal),
    (.double(.leastNonzeroMagnitude), decimal("1e-128"), .less),
    (.double(.leastNonzeroMagnitude), decimal("0"), .greater),
    (.double(.infinity), decimal("1e127"), .greater),
    (.double(-.infinity), decimal("-1e127"), .less),
    (.double(.nan), decimal("NaN"), .equal),
    (.double(0), decimal("NaN"), .greater),
    (.integer(3), decimal("3.0000000000000000000000000001"), .less),
    (.boolean(true), .integer(1), .equal),
    (.boolean(false), .double(0.5), .less),
    (.string("a"), .string("b"), .less),
    (.string("e\u{301}"), .string("\u{e9}"), .equal),
    (.string("Z"), .string("a"), .less),
    (.date(1), .date(2), .less),
    (.binary([1, 2]), .binary([1, 2, 0]), .less),
    (.binary([255]), .binary([1, 2, 0]), .greater),
    (.uuid(UUIDBytes(high: 0, low: 9)), .uuid(UUIDBytes(high: 1, low: 0)), .less),
    (.uri("a"), .uri("a"), .equal),
    (.reference(ObjectReference(entity: 1, row: 9)), .reference(ObjectReference(entity: 2, row: 1)), .less),
  ])
  func comparable(_ a: Value, _ b: Value, _ expected: ValueOrdering) {
    #expect(a.compare(to: b) == expected)
    #expect(b.compare(to: a) == expected.reversed)
    #expect(a.isEqual(to: b) == (expected == .equal))
    #expect(Value.sortOrder(a, b) == expected)
  }

  @Test(arguments: [
    (Value.null, Value.null), (.null, .integer(1)), (.string("1"), .integer(1)), (.date(1), .double(1)),
    (.string("a"), .uri("a")), (.binary([1]), .string("a")), (.list([]), .integer(1)), (.list([1]), .list([2])),
    (.composite(["a": 1]), .composite(["a": 2])), (.uuid(UUIDBytes(high: 0, low: 0)), .string("")),
  ])
  func incomparable(_ a: Value, _ b: Value) {
    #expect(a.compare(to: b) == nil)
    #expect(b.compare(to: a) == nil)
  }

  @Test func equalityOfPredicates() {
    #expect(Value.null.isEqual(to: .null))
    #expect(!Value.null.isEqual(to: 0))
    #expect(Value.composite(["a": 1, "b": nil]).isEqual(to: .composite(["a": 1.0])))
    #expect(Value.composite(["a": 1]).isEqual(to: .composite(["b": nil, "a": 1])))
    #expect(!Value.composite(["a": 1]).isEqual(to: .composite(["b": 1, "a": 1])))
    #expect(Value.list([1, 2]).isEqual(to: [1.0, 2.0]))
    #expect(!Value.list([1, 2]).isEqual(to: [2, 1]))
  }

  @Test func structuralEquality() {
    #expect(Value.integer(1) != .double(1))
    #expect(Value.double(.nan) == .double(.nan))
    #expect(Value.double(-0.0) == .double(0))
    #expect(Value.double(-0.0).hashValue == Value.double(0).hashValue)
    #expect(Value.string("e\u{301}").hashValue == Value.string("\u{e9}").hashValue)
    #expect(Set<Value>([1, 1, 2, nil, nil, [1], [1]]).count == 4)
  }

  /// What is equal has one hash: also where it is written differently, as 0 and -0 are.
  @Test func equalPredicatesHaveEqualHashes() {
    func trees(_ zero: Value, _ name: String) -> [CambiumEngine.Predicate] {
      let key = CambiumEngine.Expression.keyPath(name)
      return [
        .compare(key, .equal, .constant(zero)),
        .compare(key, .in, .constant(.list([zero, .composite(["x": zero])]))),
        .not(.and([.true, .compare(.function("abs:", [.arithmetic(.add, key, .constant(zero))]), .less, key)])),
        .or([.compare(.list([key, .constant(zero)]), .contains, .member(.variable("v"), path: name))]),
        .compare(
          .ternary(.compare(key, .greater, .constant(zero)), then: key, otherwise: .evaluatedObject), .notEqual,
          .aggregate(
            .count,
            .subquery(
              collection: .keyPath("all"), variable: "e", condition: .compare(.variable("e"), .equal, .constant(zero))),
            path: nil)),
        .compare(.element(key, .at(.constant(zero))), .like, .cast(key, type: "NSDate"), [.caseInsensitive]),
      ]
    }
    for (a, b) in zip(trees(.double(0), "e\u{301}"), trees(.double(-0.0), "\u{e9}")) {
      #expect(a == b && a.hashValue == b.hashValue, "\(a) and \(b)")
      #expect(a.description != b.description)
    }
    #expect(Set(trees(.double(0), "a") + trees(.double(1), "a") + trees(.double(0), "b")).count == 18)
    // Deeper than any that is evaluated.
    var deep = CambiumEngine.Predicate.true
    for _ in 0..<1000 { deep = .not(deep) }
    #expect(Set([deep, .not(deep), .true]).count == 3)
  }

  /// A composite without elements can be written so, and given some.
  @Test func compositesBeginEmpty() {
    var composite = CompositeValue()
    #expect(composite.count == 0 && composite == [:] && composite == CompositeValue(names: []))
    composite["x"] = 1
    #expect(composite == ["x": 1])
  }

  @Test func sortOrderIsTotal() {
    var random = SplitMix64(seed: 11)
    let values = (0..<60).map { _ in randomValue(&random, depth: 2) }
    for a in values {
      #expect(Value.sortOrder(a, a) == .equal)
      for b in values {
        #expect(Value.sortOrder(a, b) == Value.sortOrder(b, a).reversed)
        if case .list = a { continue }
        for c in values where Value.sortOrder(a, b) != .greater && Value.sortOrder(b, c) != .greater {
          #expect(Value.sortOrder(a, c) != .greater, "\(a) \(b) \(c)")
        }
      }
    }
  }

  /// Compares with what wide integers say after scaling by hand: doubles with few bits are exact decimals.
  @Test func decimalsAgainstDoubles() {
    var random = SplitMix64(seed: 12)
    for _ in 0..<2000 {
      let numerator = Int64(random.below(2_000_001)) - 1_000_000
      let shift = random.below(12)
      // numerator / 2^shift = numerator × 5^shift / 10^shift
      var scaled = numerator
      for _ in 0..<shift { scaled *= 5 }
      let exact = DecimalValue(
        isNegative: scaled < 0, coefficient: UInt128(scaled.magnitude), exponent: Int8(-shift))
      let double = Double(numerator) / Double(1 << shift)
      #expect(Value.decimal(exact).compare(to: .double(double)) == .equal)
      #expect(Value.decimal(exact).compare(to: .double(double.nextUp)) == .less)
      #expect(Value.decimal(exact).compare(to: .double(double.nextDown)) == .greater)
    }
  }

  @Test func identifiersAsText() {
    let text = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
    let uuid = UUIDBytes(text)
    #expect(uuid?.text == text)
    #expect(uuid.map { UUIDBytes(bytes: $0.bytes) } == uuid)
    #expect(UUIDBytes(text.lowercased()) == uuid)
    for bad in [
      "", "E621E1F8", text + "0", "E621E1F8-C36C-495A-93FC-0C247A3E6E5", "E621E1F8-C36C-495A-93FC00C247A3E6E5F",
    ] {
      #expect(UUIDBytes(bad) == nil)
    }
    #expect(ObjectReference("12/345") == ObjectReference(entity: 12, row: 345))
    #expect(ObjectReference("4294967295/18446744073709551615")?.row == .max)
    for bad in ["", "/", "1/", "/1", "1", "1/2/3", "4294967296/1", "1/18446744073709551616", "1/-2", "a/1"] {
      #expect(ObjectReference(bad) == nil)
    }
  }

  @Test func compositesByName() {
    var composite: CompositeValue = ["a": 1, "b": 2]
    #expect(composite["b"] == 2)
    composite["b"] = nil
    composite["c"] = 3
    #expect(composite.names == ["a", "c"])
    #expect(CompositeValue(names: ["x"], values: []).count == 0)
  }
}

/// A value of any kind.
func randomValue(_ random: inout SplitMix64, depth: Int) -> Value {
  switch random.below(depth > 0 ? 14 : 12) {
  case 0: return .null
  case 1: return .boolean(random.oneIn(2))
  case 2: return .integer(random.oneIn(3) ? Int64(bitPattern: random.next()) : Int64(random.below(20)) - 10)
  case 3: return decimal("\(Int64(random.below(2000)) - 1000)e\(random.below(40) - 20)")
  case 4:
    return .double(
      random.pick([0.1, -2.5, 1e300, .leastNonzeroMagnitude, 1e-7, .infinity, -.infinity, .nan, 3, 0.30000000000000004])
    )
  case 5: return .float(random.pick([0.1, -2.5, 1e30, .infinity, .nan, 3]))
  case 6: return .string(randomText(&random))
  case 7: return .date(Double(random.below(1_000_000)) / 8)
  case 8: return .binary(random.bytes(random.below(6)))
  case 9: return .uuid(UUIDBytes(high: random.next(), low: random.next()))
  case 10: return .uri("https://" + randomText(&random))
  case 11: return .reference(ObjectReference(entity: UInt32(random.below(9)), row: random.next()))
  case 12: return .list((0..<random.below(4)).map { _ in randomValue(&random, depth: depth - 1) })
  default:
    let count = random.below(4)
    return .composite(
      CompositeValue(
        names: (0..<count).map { "e\($0)" }, values: (0..<count).map { _ in randomValue(&random, depth: depth - 1) }))
  }
}

func randomText(_ random: inout SplitMix64) -> String {
  let pieces = [
    "a", "B", "é", "e\u{301}", "\"", "\\", "'", "*", "?", "%@", "\n", "\u{0}", "\u{7F}", " ", "日", "😀", "$", "#",
  ]
  return (0..<random.below(8)).map { _ in random.pick(pieces) }.joined()
}
