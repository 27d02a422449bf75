import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// Plans that stores of one process share, and fields that are looked up again.
@Suite struct KnownPlansTests {
  private let environment = TestEnvironment(seed: 9)

  private func schema(_ names: [String], entity: String = "Runway") throws -> Schema {
    let surface = CompositeSchema("Surface", elements: [AttributeSchema("kind", .string)])
    return try Schema(
      SchemaDefinition(
        [
          EntitySchema(
            entity,
            attributes: names.map { AttributeSchema($0, .integer32) }
              + [AttributeSchema("surface", composite: "Surface")],
            indexes: [IndexSchema("by", [IndexElement(names[0])])])
        ], composites: [surface]))
  }

  private func device(_ schema: Schema) throws -> MemoryDevice {
    let device = MemoryDevice()
    let store = try EntityStore.create(in: try Store.create(on: device, environment: environment), schema: schema)
    try store.write { (t) throws(EngineError) in
      guard let entity = store.schema.entities.first else { throw .misuse("no entity") }
      let writer = try t.writer(entity)
      let field = try store.field(entity.allAttributes[0].name, of: entity)
      for i in 1...5 {
        writer.begin()
        try writer.set(field, Int64(i))
        try writer.save()
      }
    }
    try store.close()
    return device
  }

  private func opened(_ device: MemoryDevice) throws -> EntityStore {
    try EntityStore.open(try Store.open(on: device, environment: environment))
  }

  /// The sum of what an entity's rows have in an attribute.
  private func sum(_ store: EntityStore, _ name: String) throws -> Int64 {
    let entity = try #require(store.schema.entities.first)
    let field = try store.field(name, of: entity)
    var sum: Int64 = 0
    try store.view().forEach(EngineFetch(entity)) { (row) throws(EngineError) in
      sum += try row.int64(field) ?? 0
      return true
    }
    return sum
  }

  /// What the store on a device is made from, and plans made of it.
  private func plans(_ device: MemoryDevice) throws -> StorePlans {
    let store = try opened(device)
    let image = try CatalogueImage(try store.view().trees)
    return try StorePlans(store.schema, try Catalogue(image), of: image)
  }

  // Other tests open stores meanwhile, so that what this process knows is not known here.
  @Test func plansAreFoundByTheBytesTheyWereMadeFrom() throws {
    let model = try schema(["length", "width"], entity: "Shared")
    let (a, b) = (try plans(try device(model)), try plans(try device(model)))
    let other = try plans(try device(try schema(["length", "depth"], entity: "Shared")))
    let known = KnownPlans()
    let images = try [a, b, other].map { try #require($0.image) }
    #expect(images[0] == images[1] && images[0] != images[2])
    #expect(known.find(images[0]) == nil)
    known.note(a)
    for _ in 0..<3 { #expect(known.find(images[1]) === a) }
    #expect(known.find(images[2]) == nil)
    known.note(other)
    #expect(known.find(images[2]) === other && known.find(images[0]) === a)
    // Four more, and the first ones are forgotten.
    for i in 0..<4 { known.note(try plans(try device(try schema(["length\(i)", "width"])))) }
    #expect(known.find(images[2]) == nil && known.find(images[0]) == nil)
  }

  @Test func whatIsForgottenIsLetGo() throws {
    let known = KnownPlans()
    weak var first: StorePlans?
    try {
      let made = try plans(try device(try schema(["length", "width"], entity: "Forgotten")))
      first = made
      known.note(made)
    }()
    #expect(first != nil)
    for i in 0..<4 { known.note(try plans(try device(try schema(["length\(i)", "width"])))) }
    #expect(first == nil)
  }

  @Test func storesOfOneModelHaveTheirOwnRows() throws {
    let model = try schema(["length", "width"], entity: "Twin")
    let (a, b) = (try device(model), try device(model))
    let (first, second) = (try opened(a), try opened(b))
    #expect(try sum(first, "length") == 15)
    let field = try first.field("length", of: first.schema.entities[0])
    try first.write { (t) throws(EngineError) in
      let writer = try t.writer(first.schema.entities[0])
      writer.begin()
      try writer.set(field, Int64(100))
      try writer.save()
    }
    #expect(try sum(first, "length") == 115)
    #expect(try sum(second, "length") == 15)
    try first.close()
    #expect(try sum(try opened(a), "length") == 115)
  }

  @Test func anotherModelIsAnother() throws {
    let store = try opened(try device(try schema(["length", "width"])))
    let other = try opened(try device(try schema(["length", "widths"])))
    #expect(store.schema !== other.schema)
    #expect(other.schema.entities[0].attribute(named: "widths") != nil)
    #expect(other.schema.entities[0].attribute(named: "width") == nil)
  }

  @Test func aMigratedStoreHasItsOwnModel() throws {
    let device = try device(try schema(["length", "width"]))
    var store = try opened(device)
    let before = store.schema
    var definition = before.definition
    definition.entities[0].attributes.append(AttributeSchema("slope", .double))
    store = try store.migrate(to: definition)
    try store.close()
    store = try opened(device)
    #expect(store.schema !== before)
    #expect(store.schema.entities[0].attribute(named: "slope") != nil)
    #expect(try sum(store, "length") == 15)
    #expect(try EntityStore.storedSchema(in: store.kernel)?.encoded() == store.schema.encoded())
  }

  @Test func moreModelsThanAreKeptAreRightAllTheSame() throws {
    var devices: [MemoryDevice] = []
    for i in 0..<7 { devices.append(try device(try schema(["length\(i)", "width"]))) }
    for _ in 0..<3 {
      for (i, device) in devices.enumerated() {
        let store = try opened(device)
        #expect(try sum(store, "length\(i)") == 15)
        try store.close()
      }
    }
  }

  @Test func manyThreadsOpenAtOnce() throws {
    let models = try (0..<3).map { try schema(["length\($0)", "width"], entity: "Threaded") }
    let images = try models.map { model in
      try CatalogueImage(try opened(try device(model)).view().trees)
    }
    let known = KnownPlans()
    let wrong = Locked(0)
    TestEnvironment().runConcurrently(4) { thread in
      for round in 0..<300 {
        let i = (thread + round) % 3
        if let found = known.find(images[i]) {
          if found.image != images[i] || found.schema.entities[0].attribute(named: "length\(i)") == nil {
            wrong.withLock { $0 += 1 }
          }
        } else if let plans = try? StorePlans(models[i], try Catalogue(images[i]), of: images[i]) {
          known.note(plans)
        }
      }
    }
    #expect(wrong.withLock { $0 } == 0)
  }

  @Test func fieldsAreLookedUpOnce() throws {
    let store = try opened(try device(try schema(["length", "width"])))
    let entity = store.schema.entities[0]
    #expect(try store.field("width", of: entity) === store.field("width", of: entity))
    let element = try store.field("surface.kind", of: entity)
    #expect(try element === store.field("surface.kind", of: entity))
    #expect(element.keyPath == "surface.kind" && element.type == .string)
    #expect(try store.field("surface", of: entity).type == .composite)
    for path in ["surface.", "kind", "surface.kind.", "", "by", "Width"] {
      for _ in 0..<2 { #expect(throws: EngineError.self) { try store.field(path, of: entity) } }
    }
  }
}
