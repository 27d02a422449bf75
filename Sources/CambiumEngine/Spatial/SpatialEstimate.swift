import CambiumKernel

extension SpatialFrame {
  /// Cells that the area is in, no more than some, and how they lie to it: the larger ones are divided first.
  func cells(atMost limit: Int) -> [(cell: PlaneCell, relation: SpatialRelation)] {
    if isEmpty { return [] }
    var cells: [(cell: PlaneCell, relation: SpatialRelation)] = [(.plane, .across)]
    while true {
      var largest: Int?
      for (place, one) in cells.enumerated() where one.relation == .across && one.cell.level > 0 {
        if largest.map({ cells[$0].cell.level < one.cell.level }) ?? true { largest = place }
      }
      guard let largest else { return cells }
      var parts: [(cell: PlaneCell, relation: SpatialRelation)] = []
      for number in 0..<4 {
        let part = cells[largest].cell.child(number)
        let relation = relation(part)
        if relation != .outside { parts.append((part, relation)) }
      }
      if cells.count - 1 + parts.count > limit { return cells }
      cells.replaceSubrange(largest...largest, with: parts)
    }
  }

  /// About which share of a cell that lies across the area is in it.
  func share(of cell: PlaneCell) -> Double {
    guard case .box = area else { return 0.6 }
    let x = Double(min(cell.lastX, highX)) - Double(max(cell.x, lowX)) + 1
    let y = Double(min(cell.lastY, highY)) - Double(max(cell.y, lowY)) + 1
    let side = Double(cell.lastX) - Double(cell.x) + 1
    return min(1, max(0, x / side)) * min(1, max(0, y / side))
  }
}

extension EntityView {
  /// Cells of which the entries are counted: the estimate gets better with more, and takes longer.
  private static let countedCells = 8

  /// About how many entries of a spatial index lie in an area.
  func estimatedCount(_ tree: TreeID, in area: SpatialArea) throws(EngineError) -> Double {
    let frame = SpatialFrame(area)
    var sum = 0.0
    for (cell, relation) in frame.cells(atMost: Self.countedCells) {
      let range = KeyPlace.range(from: cell.code, through: cell.lastCode)
      let count = try storing { () throws(StoreError) in try trees.estimatedCount(tree, in: range) }
      sum += Double(count) * (relation == .inside ? 1 : frame.share(of: cell))
    }
    return sum
  }
}
