import CambiumEngine
import Synchronization

/// The peers call rows by numbers that count up from 1 in each table; Cambium gives out numbers across all entities.
/// Aircraft are loaded first, log entries after them in one go, and what is added later comes behind both.
final class CambiumNumbers: Sendable {
  /// The rows of log entries: those after `first`, `count` of them.
  private let first = Atomic<Int>(0)
  private let count = Atomic<Int>(0)

  /// Finds out where the log entries are.
  func look(_ store: EntityStore, _ model: CambiumModel) throws(EngineError) {
    let view = try store.view()
    var least = 0
    try view.rows(entity: model.entry) { (row) throws(EngineError) in
      least = Int(row.reference.row) - 1
      return false
    }
    first.store(least, ordering: .relaxed)
    count.store(try view.count(EngineFetch(model.entry)), ordering: .relaxed)
  }

  /// The row of an aircraft.
  func aircraft(_ id: Int) -> UInt64 {
    let first = first.load(ordering: .relaxed)
    return UInt64(id <= first ? id : id + count.load(ordering: .relaxed))
  }

  /// The aircraft of a row.
  func aircraft(row: UInt64) -> Int {
    let first = first.load(ordering: .relaxed)
    return Int(row) <= first ? Int(row) : Int(row) - count.load(ordering: .relaxed)
  }

  /// The row of a log entry.
  func entry(_ id: Int) -> UInt64 { UInt64(id + first.load(ordering: .relaxed)) }

  /// The log entry of a row.
  func entry(row: UInt64) -> Int { Int(row) - first.load(ordering: .relaxed) }
}
