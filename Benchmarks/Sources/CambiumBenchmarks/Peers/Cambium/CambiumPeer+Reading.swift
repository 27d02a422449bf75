import CambiumEngine
import CambiumKernel

extension CambiumPeer {
  func hours(ids: [Int]) throws -> Answer {
    let (store, model, codec) = try opened()
    let view = try store.view()
    var answer = Answer()
    for id in ids {
      let hours = try view.withRow(ObjectReference(entity: model.aircraft.id, row: codec.numbers.aircraft(id))) {
        (row) throws(EngineError) in try row.double(codec.hours)
      }
      if let hours = hours ?? nil { answer.add(hours) }
    }
    return answer
  }

  func rows(ids: [Int], _ body: (Aircraft) -> Void) throws {
    let (store, model, codec) = try opened()
    let view = try store.view()
    for id in ids {
      try view.withRow(ObjectReference(entity: model.aircraft.id, row: codec.numbers.aircraft(id))) {
        (row) throws(EngineError) in
        body(try codec.aircraft(row))
      }
    }
  }

  func rowsOneByOne(ids: [Int], _ body: (Aircraft) -> Void) throws {
    let (store, model, codec) = try opened()
    for id in ids {
      try store.view().withRow(ObjectReference(entity: model.aircraft.id, row: codec.numbers.aircraft(id))) {
        (row) throws(EngineError) in body(try codec.aircraft(row))
      }
    }
  }

  func rows(tailNumbers: [String], _ body: (Aircraft) -> Void) throws {
    let (store, model, codec) = try opened()
    let lookup = try store.view().lookup(model.aircraft, by: ["tailNumber"])
    for tailNumber in tailNumbers {
      try lookup.withFirst(.string(tailNumber)) { (row) throws(EngineError) in body(try codec.aircraft(row)) }
    }
  }

  func rows(primary: String, _ body: (Aircraft) -> Void) throws {
    let (store, model, codec) = try opened()
    var fetch = EngineFetch(model.aircraft)
    fetch.predicate = .compare(.keyPath("colorScheme.primary"), .equal, .constant(.string(primary)))
    try store.view().forEach(fetch) { (row) throws(EngineError) in
      body(try codec.aircraft(row))
      return true
    }
  }

  func ids(primary: String) throws -> Answer {
    let (store, model, codec) = try opened()
    var fetch = EngineFetch(model.aircraft)
    fetch.predicate = .compare(.keyPath("colorScheme.primary"), .equal, .constant(.string(primary)))
    var answer = Answer()
    for reference in try store.view().fetch(fetch) {
      answer.add(UInt64(codec.numbers.aircraft(row: reference.row)))
    }
    return answer
  }

  func entries(from: Double, before: Double, _ body: (LogEntry) -> Void) throws {
    let (store, model, codec) = try opened()
    var fetch = EngineFetch(model.entry)
    fetch.predicate = .and([
      .compare(.keyPath("date"), .greaterOrEqual, .constant(.date(from))),
      .compare(.keyPath("date"), .less, .constant(.date(before))),
    ])
    try store.view().forEach(fetch) { (row) throws(EngineError) in
      body(try codec.entry(row))
      return true
    }
  }

  func count(secondary: String, hoursOver: Double) throws -> Int {
    let (store, model, _) = try opened()
    var fetch = EngineFetch(model.aircraft)
    fetch.predicate = .and([
      .compare(.keyPath("colorScheme.secondary"), .equal, .constant(.string(secondary))),
      .compare(.keyPath("hours"), .greater, .constant(.double(hoursOver))),
    ])
    return try store.view().count(fetch)
  }

  func firstRows(_ count: Int, _ body: (Aircraft) -> Void) throws {
    let (store, model, codec) = try opened()
    var left = count
    try store.view().forEach(EngineFetch(model.aircraft)) { (row) throws(EngineError) in
      body(try codec.aircraft(row))
      left -= 1
      return left > 0
    }
  }

  func tailNumbers(entries: [Int]) throws -> Answer {
    let (store, model, codec) = try opened()
    let view = try store.view()
    var answer = Answer()
    for id in entries {
      let found = try view.withRow(ObjectReference(entity: model.entry.id, row: codec.numbers.entry(id))) {
        (row) throws(EngineError) in try row.reference(codec.aircraft)
      }
      guard let aircraft = found ?? nil else { continue }
      try view.withRow(aircraft) { (row) throws(EngineError) in
        if let text = try row.string(codec.tailNumber) { answer.add(UInt64(text.utf8.last ?? 0)) }
      }
    }
    return answer
  }

  func entries(tailNumbers: [String]) throws -> Answer {
    let (store, model, codec) = try opened()
    let view = try store.view()
    let lookup = try view.lookup(model.aircraft, by: ["tailNumber"])
    let logEntries = try view.destinations(of: codec.logEntries)
    var answer = Answer()
    for tailNumber in tailNumbers {
      guard let aircraft = try lookup.first(.string(tailNumber)) else { continue }
      try logEntries.forEachRow(from: aircraft) { (row) throws(EngineError) in
        answer.add(UInt64(try row.int64(codec.distance) ?? 0))
        return true
      }
    }
    return answer
  }

  func session() throws -> any PeerSession {
    let (store, model, rows) = try opened()
    return CambiumSession(store: store, model: model, rows: rows)
  }
}

/// A store may be used by any thread, so that a session is nothing but its name.
final class CambiumSession: PeerSession, @unchecked Sendable {
  private let store: EntityStore
  private let model: CambiumModel
  private let rows: CambiumRows

  init(store: EntityStore, model: CambiumModel, rows: CambiumRows) {
    self.store = store
    self.model = model
    self.rows = rows
  }

  func insert(_ row: Aircraft) throws {
    let model = model
    let rows = rows
    try store.write { (t) throws(EngineError) in try rows.add(row, to: try t.writer(model.aircraft)) }
  }

  func hours(id: Int) throws -> Double {
    let hours = try store.view().withRow(ObjectReference(entity: model.aircraft.id, row: rows.numbers.aircraft(id))) {
      (row) throws(EngineError) in try row.double(rows.hours)
    }
    return (hours ?? nil) ?? 0
  }

  func close() {}
}
