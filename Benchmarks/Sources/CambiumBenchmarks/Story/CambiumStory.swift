import CambiumEngine
import CambiumKernel
import CambiumSystem
import Foundation

/// The story in Cambium, with what can be put off put off.
final class CambiumStory: StoryPeer {
  let name = "cambium"
  private let path: String
  private let environment = SystemEnvironment()
  private var store: EntityStore?

  init(directory: String) { path = directory + "/story.store" }

  // MARK: The versions

  private static let times = ["scheduled", "actual", "delay"]

  private static var relationships: [RelationshipSchema] {
    [
      RelationshipSchema("airline", to: "Airline", inverse: "logEntries"),
      RelationshipSchema("aircraft", to: "Aircraft", inverse: "logEntries"),
      RelationshipSchema("origin", to: "Airport", inverse: "departures"),
      RelationshipSchema("destination", to: "Airport", inverse: "arrivals"),
    ]
  }

  private static var objects: [EntitySchema] {
    let code = [AttributeSchema("code", .string)]
    return [
      EntitySchema(
        "Airline", attributes: code,
        relationships: [RelationshipSchema("logEntries", toMany: "LogEntry", inverse: "airline")]),
      EntitySchema(
        "Aircraft", attributes: code,
        relationships: [RelationshipSchema("logEntries", toMany: "LogEntry", inverse: "aircraft")]),
      EntitySchema(
        "Airport", attributes: code,
        relationships: [
          RelationshipSchema("departures", toMany: "LogEntry", inverse: "origin"),
          RelationshipSchema("arrivals", toMany: "LogEntry", inverse: "destination"),
        ]),
    ]
  }

  private static func renamed(_ name: String, _ before: String, _ type: AttributeType = .string) -> AttributeSchema {
    var attribute = AttributeSchema(name, type)
    attribute.renamingIdentifier = before
    return attribute
  }

  private static func definition(_ version: Int) -> SchemaDefinition {
    var attributes = [AttributeSchema("date", .date)]
    for name in StoryData.numbers where version < 3 || !(name.hasPrefix("dep") || name.hasPrefix("arr")) {
      attributes.append(AttributeSchema(name, .integer32))
    }
    switch version {
    case 1:
      for name in ["carrier", "tail", "origin", "destination"] { attributes.append(AttributeSchema(name, .string)) }
    case 2:
      for name in ["carrier", "tail", "origin", "destination"] { attributes.append(renamed(name + "Code", name)) }
    default:
      for name in ["departure", "arrival"] {
        attributes.append(
          AttributeSchema(name, elements: times.map { renamed($0, name + $0.capitalized, .integer32) }))
      }
    }
    let entry = EntitySchema(
      "LogEntry", attributes: attributes, relationships: version == 1 ? [] : relationships,
      indexes: [IndexSchema("byDate", [IndexElement("date")])])
    return SchemaDefinition([entry] + (version == 1 ? [] : objects))
  }

  // MARK: Steps

  private func options() -> StoreOptions {
    var options = StoreOptions()
    options.cacheBytes = Tuning.cacheBytes
    options.logBytes = Tuning.logBytes
    options.durability = .full
    return options
  }

  private func opened() throws -> (EntityStore, EntitySchema) {
    if store == nil {
      store = try EntityStore.open(Store.open(on: FileDevice(path: path), environment: environment, options: options()))
    }
    guard let store, let entry = store.schema.entity(named: "LogEntry") else { throw NotSupported() }
    return (store, entry)
  }

  func prepare(_ data: StoryData) throws {
    try close()
    try? FileManager.default.removeItem(atPath: path)
    let (options, environment) = (options(), environment)
    let device = try FileDevice.create(at: path) { (device) throws(StoreError) in
      try Store.format(device, environment: environment, options: options)
    }
    device.close()
    store = try EntityStore.create(
      in: Store.open(on: FileDevice(path: path), environment: environment, options: options),
      schema: Schema(Self.definition(1)))
    let (store, entry) = try opened()
    let date = try store.field("date", of: entry)
    let numbers = try StoryData.numbers.map { try store.field($0, of: entry) }
    let codes = try ["carrier", "tail", "origin", "destination"].map { try store.field($0, of: entry) }
    try store.write { (t) throws(EngineError) in
      let rows = try t.writer(entry)
      for flight in data.flights {
        rows.begin()
        try rows.set(date, date: flight.date)
        for (field, value) in zip(numbers, flight.numbers) { try rows.set(field, value) }
        for (field, code) in zip(codes, [flight.carrier, flight.tail, flight.origin, flight.destination]) {
          try rows.set(field, code)
        }
        try rows.save()
      }
    }
    // Opened anew, as an application finds it.
    try close()
    _ = try opened()
  }

  func toObjects() throws { store = try opened().0.migrate(to: Self.definition(2), defers: true) }

  func toComposites() throws { store = try opened().0.migrate(to: Self.definition(3), defers: true) }

  func link() throws {
    let (store, entry) = try opened()
    let kinds = try ["Airline", "Aircraft", "Airport"].map { name in
      guard let entity = store.schema.entity(named: name) else { throw NotSupported() }
      return entity
    }
    let codeFields = try ["carrierCode", "tailCode", "originCode", "destinationCode"].map {
      try store.field($0, of: entry)
    }
    let links = try ["airline", "aircraft", "origin", "destination"].map { try store.field($0, of: entry) }
    let code = try kinds.map { try store.field("code", of: $0) }
    let kindOf = [0, 1, 2, 2]
    var entries: [(ObjectReference, [String?])] = []
    try store.view().forEach(EngineFetch(entry)) { (row) throws(EngineError) in
      var codes: [String?] = []
      for field in codeFields { codes.append(try row.string(field)) }
      entries.append((row.reference, codes))
      return true
    }
    var known = [[String: ObjectReference]](repeating: [:], count: 3)
    for start in stride(from: 0, to: entries.count, by: 10_000) {
      try store.write { (t) throws(EngineError) in
        let rows = try t.writer(entry)
        let makers = [try t.writer(kinds[0]), try t.writer(kinds[1]), try t.writer(kinds[2])]
        for (reference, codes) in entries[start..<min(start + 10_000, entries.count)] {
          try rows.begin(changing: reference)
          for (place, text) in codes.enumerated() {
            guard let text else { continue }
            let kind = kindOf[place]
            let target: ObjectReference
            if let found = known[kind][text] {
              target = found
            } else {
              makers[kind].begin()
              try makers[kind].set(code[kind], text)
              target = try makers[kind].save()
              known[kind][text] = target
            }
            try rows.set(links[place], target)
          }
          try rows.save()
        }
      }
    }
  }

  func finish() throws {
    let store = try opened().0
    var allowance = DeferredAllowance()
    while let task = try store.deferredTasks().first, let limit = allowance.limit(of: task, after: .zero) {
      var turn = ContinuousClock.now
      let part = try store.runDeferredPart(within: limit, durably: allowance.isDurable) {
        turn = ContinuousClock.now
      }
      allowance.note(ContinuousClock.now - turn, part, of: task)
    }
    try store.kernel.makeDurable()
  }

  func close() throws {
    try store?.close()
    store = nil
  }

  func answer() throws -> Answer {
    let (store, entry) = try opened()
    let date = try store.field("date", of: entry)
    let numbers = try StoryData.numbers.map { name in
      for outer in ["departure", "arrival"] where name.hasPrefix(outer) {
        return try store.field(outer + "." + name.dropFirst(outer.count).lowercased(), of: entry)
      }
      return try store.field(name, of: entry)
    }
    let links = try ["airline", "aircraft", "origin", "destination"].map { try store.field($0, of: entry) }
    let view = try store.view()
    var codes: [UInt64: String] = [:]
    for name in ["Airline", "Aircraft", "Airport"] {
      guard let entity = store.schema.entity(named: name) else { throw NotSupported() }
      let code = try store.field("code", of: entity)
      try view.forEach(EngineFetch(entity)) { (row) throws(EngineError) in
        codes[row.reference.row] = try row.string(code)
        return true
      }
    }
    var answer = Answer()
    try view.forEach(EngineFetch(entry)) { (row) throws(EngineError) in
      var hash = Hash()
      hash.add((try row.date(date) ?? 0).bitPattern)
      for field in numbers { hash.add(try row.int64(field).map { UInt64(bitPattern: $0) } ?? .max) }
      for field in links { hash.add(try row.reference(field).flatMap { codes[$0.row] }) }
      answer.add(hash.value)
      return true
    }
    return answer
  }
}
