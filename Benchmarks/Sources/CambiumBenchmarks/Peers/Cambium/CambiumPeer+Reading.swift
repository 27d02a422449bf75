import CambiumEngine
import CambiumKernel

extension CambiumPeer {
  func hours(ids: [Int]) throws -> Answer {
    let (store, model, codec) = try opened()
    let view = try store.view()
    var answer = Answer()
    for id in ids {
      if let row = try view.row(ObjectReference(entity: model.aircraft.id, row: UInt64(id))),
        let hours = try row.value(codec.hours).real
      {
        answer.add(hours)
      }
    }
    return answer
  }

  func rows(ids: [Int], _ body: (Aircraft) -> Void) throws {
    let (store, model, codec) = try opened()
    let view = try store.view()
    for id in ids {
      if let row = try view.row(ObjectReference(entity: model.aircraft.id, row: UInt64(id))) {
        body(try codec.aircraft(row))
      }
    }
  }

  func rowsOneByOne(ids: [Int], _ body: (Aircraft) -> Void) throws {
    let (store, model, codec) = try opened()
    for id in ids {
      if let row = try store.view().row(ObjectReference(entity: model.aircraft.id, row: UInt64(id))) {
        body(try codec.aircraft(row))
      }
    }
  }

  func rows(tailNumbers: [String], _ body: (Aircraft) -> Void) throws {
    let (store, model, codec) = try opened()
    let view = try store.view()
    for tailNumber in tailNumbers {
      var fetch = EngineFetch(model.aircraft)
      fetch.predicate = .compare(.keyPath("tailNumber"), .equal, .constant(.string(tailNumber)))
      for row in try view.fetchRows(fetch) { body(try codec.aircraft(row)) }
    }
  }

  func rows(primary: String, _ body: (Aircraft) -> Void) throws {
    let (store, model, codec) = try opened()
    var fetch = EngineFetch(model.aircraft)
    fetch.predicate = .compare(.keyPath("colorScheme.primary"), .equal, .constant(.string(primary)))
    for row in try store.view().fetchRows(fetch) { body(try codec.aircraft(row)) }
  }

  func ids(primary: String) throws -> Answer {
    let (store, model, _) = try opened()
    var fetch = EngineFetch(model.aircraft)
    fetch.predicate = .compare(.keyPath("colorScheme.primary"), .equal, .constant(.string(primary)))
    var answer = Answer()
    for reference in try store.view().fetch(fetch) { answer.add(reference.row) }
    return answer
  }

  func entries(from: Double, before: Double, _ body: (LogEntry) -> Void) throws {
    let (store, model, codec) = try opened()
    var fetch = EngineFetch(model.entry)
    fetch.predicate = .and([
      .compare(.keyPath("date"), .greaterOrEqual, .constant(.date(from))),
      .compare(.keyPath("date"), .less, .constant(.date(before))),
    ])
    for row in try store.view().fetchRows(fetch) { body(try codec.entry(row)) }
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
    try store.view().rows(entity: model.aircraft) { (row) throws(EngineError) in
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
      if let row = try view.row(ObjectReference(entity: model.entry.id, row: UInt64(id))),
        let aircraft = try row.reference(codec.aircraft), let target = try view.row(aircraft),
        let text = try target.value(codec.tailNumber).text
      {
        answer.add(UInt64(text.utf8.last ?? 0))
      }
    }
    return answer
  }

  func entries(tailNumbers: [String]) throws -> Answer {
    let (store, model, codec) = try opened()
    let view = try store.view()
    var answer = Answer()
    for tailNumber in tailNumbers {
      var fetch = EngineFetch(model.aircraft)
      fetch.predicate = .compare(.keyPath("tailNumber"), .equal, .constant(.string(tailNumber)))
      for aircraft in try view.fetch(fetch) {
        for entry in try view.related(aircraft, codec.logEntries) {
          if let row = try view.row(entry) { answer.add(UInt64(try row.value(codec.distance).number ?? 0)) }
        }
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
    try store.write { (t) throws(EngineError) in
      try t.insert(try t.reserveReference(model.aircraft), rows.values(row))
    }
  }

  func hours(id: Int) throws -> Double {
    let row = try store.view().row(ObjectReference(entity: model.aircraft.id, row: UInt64(id)))
    return try row?.value(rows.hours).real ?? 0
  }

  func close() {}
}
