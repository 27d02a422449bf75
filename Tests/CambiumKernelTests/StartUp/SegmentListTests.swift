import Testing

@testable import CambiumKernel

/// Tables of segments as a directory lists them.
@Suite struct SegmentListTests {
  private func segment(_ start: UInt32, _ units: UInt32) -> Segment {
    Segment(start: start, units: units, kind: .pages, used: 64, born: 1)
  }

  @Test func aListIsAsGoodAsOneSegmentAfterTheOther() {
    let orders: [[Int]] = [[0, 1, 2, 3], [3, 2, 1, 0], [0, 2, 1, 3], []]
    let all = [segment(1, 4), segment(5, 1), segment(9, 2), segment(20, 64)]
    for order in orders {
      let list = order.map { all[$0] }
      var overlaps = true
      let made = SegmentTable(list, &overlaps)
      #expect(!overlaps)
      var added = SegmentTable()
      for s in list {
        let isAlone = added.insert(s)
        #expect(isAlone)
      }
      #expect(made.segments.map(\.start) == added.segments.map(\.start))
      #expect(made.fileUnits == added.fileUnits)
      #expect(made.freeUnits == added.freeUnits)
      #expect(made.usedUnits == added.usedUnits)
    }
  }

  @Test func segmentsThatOverlapAreNoTable() {
    let lists = [
      [segment(1, 4), segment(4, 1)], [segment(4, 1), segment(1, 4)], [segment(7, 2), segment(7, 2)],
      [segment(1, 64), segment(3, 1), segment(2, 1)],
    ]
    for list in lists {
      var overlaps = false
      let made = SegmentTable(list, &overlaps)
      #expect(overlaps && made.segments.count < list.count)
    }
  }
}
