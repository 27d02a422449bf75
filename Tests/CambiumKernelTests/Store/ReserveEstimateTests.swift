import CambiumTesting
import Testing

@testable import CambiumKernel

/// The sums that are kept of what the next checkpoint needs, against adding it all up each time.
@Suite struct ReserveEstimateTests {
  private struct Model {
    struct Tree {
      var pages: UInt64 = 0
      var active: (nodes: UInt64, bytes: UInt64)?
      var frozen: (nodes: UInt64, bytes: UInt64)?
    }

    var trees: [UInt32: Tree] = [:]

    func bytes(_ pageSize: UInt64) -> UInt64 {
      var sum: UInt64 = 0
      for tree in trees.values {
        for list in [tree.active, tree.frozen] {
          guard let list else { continue }
          sum += min(list.nodes, tree.pages) * pageSize * 9 / 8 + list.bytes * 5 / 4 + pageSize * 4
        }
      }
      return sum
    }
  }

  @Test func agreesWithAModel() {
    for seed in 0..<20 as Range<UInt64> {
      var random = SplitMix64(seed: CrashTests.seed &+ seed)
      var estimate = ReserveEstimate()
      var model = Model()
      for step in 0..<300 {
        let tree = UInt32(random.below(6))
        let nodes = UInt64(random.below(40))
        let bytes = UInt64(random.below(4000))
        switch random.below(8) {
        case 0:
          estimate.setPages(TreeID(rawValue: tree), nodes)
          model.trees[tree, default: .init()].pages = nodes
        case 1:
          estimate.freeze()
          for (key, tree) in model.trees {
            model.trees[key]?.frozen = tree.active
            model.trees[key]?.active = nil
          }
        case 2:
          estimate.published()
          for key in Array(model.trees.keys) { model.trees[key]?.frozen = nil }
        default:
          let coming = ReserveEstimate.Coming(tree: TreeID(rawValue: tree), nodes: nodes, bytes: bytes)
          let expected = estimate.bytes(pageSize: 8192, coming: [coming])
          estimate.add(coming)
          let was = model.trees[tree]?.active ?? (0, 0)
          model.trees[tree, default: .init()].active = (was.nodes + nodes, was.bytes + bytes)
          #expect(estimate.bytes(pageSize: 8192) == expected)
        }
        // Each tree is rounded by itself in the model, by less than two bytes.
        let difference = Int64(estimate.bytes(pageSize: 8192)) - Int64(model.bytes(8192))
        #expect((0...24).contains(difference), "seed \(CrashTests.seed &+ seed), step \(step)")
      }
    }
  }
}
