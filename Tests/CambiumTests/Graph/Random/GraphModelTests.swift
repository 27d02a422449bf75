import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Random changes of graphs of random models in a context, children, their children, and other contexts of the store,
/// with undo, redo, rollback, refresh, saves, merges, conflicts under each policy, upserts and batch requests: each
/// level is compared with plain values that went through the same, and the store with what was saved, by other
/// contexts, by the engine's check, and opened again. What models may have, and what happens then, beside that:
/// ``GraphKinds``.
///
/// `CAMBIUM_SEED` and `CAMBIUM_GRAPH_OPERATIONS` say where chance begins, and how many operations there are.
@Suite(.serialized) struct GraphModelTests {
  /// What models may have: `CAMBIUM_GRAPH_KINDS` says it for who looks for what one kind does by itself.
  private static let kinds = GraphKinds(
    rawValue: testCount("CAMBIUM_GRAPH_KINDS", short: GraphKinds.all.rawValue, full: GraphKinds.all.rawValue))

  /// After how many operations another model is drawn.
  private static let perModel = 1000

  /// Where chance began when it found something that was mended; ``GraphFindingTests`` say what it was.
  @Test(arguments: [48, 103, 105, 20_261_129, 20_261_142, 20_261_172, 20_261_220] as [UInt64])
  func whatWasFoundOnce(seed: UInt64) throws { try run(seed, []) }

  /// The same, where models had kinds of their own.
  @Test(arguments: [(20_261_147, .composites)] as [(UInt64, GraphKinds)])
  func whatWasFoundWithKinds(seed: UInt64, kinds: GraphKinds) throws {
    try run(seed, kinds)
  }

  private func run(_ seed: UInt64, _ kinds: GraphKinds) throws {
    for isInFile in [false, true] {
      let run = try GraphRun(seed: seed, isInFile: isInFile, kinds: kinds)
      for step in 0..<Self.perModel {
        run.step = step
        do { try run.operate() } catch {
          Issue.record("\(error), \(run.when), \(run.design.text)")
          break
        }
      }
    }
  }

  @Test(arguments: [false, true]) func allLevelsAreAsTheReference(isInFile: Bool) throws {
    let seed = testSeed(isInFile ? 20_261_122 : 7)
    let operations = testCount("CAMBIUM_GRAPH_OPERATIONS", short: 6_000, full: 200_000) / 2
    print("graphs \(isInFile ? "in a file" : "in memory"), \(operations) operations from seed \(seed)")
    var counts: [String: Int] = [:]
    // Begun anew from time to time, from a seed that can be asked for by itself.
    for first in stride(from: 0, to: operations, by: Self.perModel) {
      let model = seed &+ UInt64(first / Self.perModel)
      let isAsked = ProcessInfo.processInfo.environment["CAMBIUM_GRAPH_KINDS"] != nil
      let kinds = isAsked ? Self.kinds : Self.kinds.subtracting(GraphKinds.open[model] ?? [])
      let run = try GraphRun(seed: model, isInFile: isInFile, kinds: kinds)
      for step in 0..<min(Self.perModel, operations - first) {
        run.step = step
        do { try run.operate() } catch {
          print(run.log.joined(separator: "\n"))
          Issue.record("\(error), \(run.when), \(run.design.text)")
          break
        }
      }
      counts.merge(run.counts) { $0 + $1 }
    }
    print(counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
    // A run of a minute has few models, which may all be without one kind.
    let expected = Self.expected + (operations < 50_000 ? [] : Self.expectedOfKinds)
    for (kind, perThousand) in expected where isInFile || kind != "reopen" {
      #expect(
        counts[kind, default: 0] >= Int(perThousand * Double(operations) / 1000), "\(kind) is hardly tried")
    }
  }

  /// How often each thing has to happen at least, in a thousand operations.
  private static let expected: [(String, Double)] = [
    ("insert", 30), ("delete", 20), ("set", 20), ("relate", 100), ("undo", 10), ("redo", 10), ("save", 5), ("child", 2),
    ("rollback", 1), ("refresh", 1), ("follow", 0.5), ("merge", 1), ("reopen", 0.3), ("denied", 0.1),
    ("conflict refused", 1), ("conflict mergeByPropertyStoreTrump", 0.2),
    ("conflict mergeByPropertyObjectTrump", 0.2), ("conflict overwrite", 0.2), ("conflict rollback", 0.2),
    ("conflict with a parent mergeByPropertyStoreTrump", 0.1),
    ("conflict with a parent mergeByPropertyObjectTrump", 0.1), ("conflict with a parent overwrite", 0.1),
    ("conflict with a parent rollback", 0.1), ("upsert mergeByPropertyStoreTrump", 0.3),
    ("upsert mergeByPropertyObjectTrump", 0.3), ("upsert overwrite", 0.3), ("upsert rollback", 0.3),
    ("batch insert", 0.5), ("batch insert refused", 0.05), ("batch update", 0.5), ("batch update by expression", 0.05),
    ("batch delete", 0.5), ("batch delete denied", 0.05),
  ]

  /// The same, of what only some models have.
  private static let expectedOfKinds: [(String, Double)] = [
    ("refused by rules", 1), ("conflict refused by rules", 0.05), ("set element", 1), ("transaction", 0.3),
    ("refresh without changes", 0.02),
  ]
}
