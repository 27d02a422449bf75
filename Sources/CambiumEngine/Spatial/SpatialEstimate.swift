import CambiumKernel

extension SpatialFrame {
  /// The parts of a cell that the area is in; if that is one which lies across, its parts in turn.
  fileprivate func parts(of cell: PlaneCell) -> [(PlaneCell, SpatialRelation)] {
    var cell = cell
    while true {
      var parts: [(PlaneCell, SpatialRelation)] = []
      for number in 0..<4 {
        let part = cell.child(number)
        let relation = relation(part)
        if relation != .outside { parts.append((part, relation)) }
      }
      guard parts.count == 1, parts[0].1 == .across, parts[0].0.level > 0 else { return parts }
      cell = parts[0].0
    }
  }

  /// About which share of a cell that lies across the area is in it.
  fileprivate func share(of cell: PlaneCell) -> Double {
    guard case .box = area else { return 0.6 }
    let x = Double(min(cell.lastX, highX)) - Double(max(cell.x, lowX)) + 1
    let y = Double(min(cell.lastY, highY)) - Double(max(cell.y, lowY)) + 1
    let side = Double(cell.lastX) - Double(cell.x) + 1
    return min(1, max(0, x / side)) * min(1, max(0, y / side))
  }
}

extension EntityView {
  /// How many entries are read of an area at most, to know their number: that takes less time than counting cells.
  private static let readEntries = 64
  /// How many cells are counted at most where there are more.
  private static let countedCells = 32

  /// About how many entries of a spatial index lie in an area: the number, if there are few; else by the cells that the
  /// area is in, of which those with most entries are divided first.
  func estimatedCount(_ tree: TreeID, in area: SpatialArea) throws(EngineError) -> Double {
    do throws(StoreError) {
      var few = 0.0
      var walk = SpatialWalk(try trees.cursor(tree), area, mostReads: Self.readEntries)
      let isAll = try walk.run { (_, _) throws(StoreError) in
        few += 1
        return true
      }
      if isAll { return few }
      return try countedEstimate(tree, SpatialFrame(area))
    } catch { throw .store(error) }
  }

  private func countedEstimate(_ tree: TreeID, _ frame: SpatialFrame) throws(StoreError) -> Double {
    var sum = 0.0
    var across: [(cell: PlaneCell, count: Double)] = [(.plane, Double(try trees.count(tree)))]
    var counted = 0
    while counted < Self.countedCells {
      var most: Int?
      for (place, one) in across.enumerated() where one.cell.level > 0 {
        if most.map({ across[$0].count < one.count }) ?? true { most = place }
      }
      guard let most else { break }
      for (part, relation) in frame.parts(of: across.remove(at: most).cell) {
        counted += 1
        let range = KeyPlace.range(from: part.code, through: part.lastCode)
        let count = Double(try trees.estimatedCount(tree, in: range))
        if count == 0 { continue }
        if relation == .inside { sum += count } else { across.append((part, count)) }
      }
    }
    for (cell, count) in across { sum += count * frame.share(of: cell) }
    return sum
  }
}
