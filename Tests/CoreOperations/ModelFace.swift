@_spi(Stores) import CambiumSwiftData

/// The operations of ``FaceOperations`` on models.
struct ModelFace: Face {
  private let container: ModelContainer

  init() throws {
    let schema = Schema([AircraftModel.self, EntryModel.self])
    container = try ModelContainer(for: schema, configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]) {
      $0.tracksHistory = false
    }
  }

  func work(_ body: (ModelContext) throws -> Void) throws { try body(ModelContext(container)) }

  func save(_ context: ModelContext) throws { try context.save() }

  func insertAircraft(_ i: Int, _ photo: Data, _ context: ModelContext) { context.insert(AircraftModel(i, photo)) }

  func insertEntry(_ i: Int, _ aircraft: PersistentIdentifier, _ context: ModelContext) {
    let entry = EntryModel(i)
    context.insert(entry)
    entry.aircraft = context.model(for: aircraft) as? AircraftModel
  }

  func aircraft(_ context: ModelContext) throws -> [AircraftModel] {
    try context.fetch(FetchDescriptor<AircraftModel>())
  }

  func walk(_ context: ModelContext, _ body: () -> Void) throws {
    try context.enumerate(FetchDescriptor<AircraftModel>()) { _ in body() }
  }

  func identifiers(_ context: ModelContext) throws -> [PersistentIdentifier] {
    try context.fetchIdentifiers(FetchDescriptor<AircraftModel>())
  }

  func whole(_ one: AircraftModel) -> Int {
    let colours = one.colours
    return one.tailNumber.utf8.count + (one.category?.utf8.count ?? 0) + (one.kind?.utf8.count ?? 0)
      + (one.type?.utf8.count ?? 0) + (colours?.primary?.utf8.count ?? 0) + (colours?.secondary?.utf8.count ?? 0)
      + (colours?.tertiary?.utf8.count ?? 0) + Int(one.year ?? 0) + (one.hours < 0 ? 1 : 0) + (one.photo?.count ?? 0)
  }

  func hours(_ one: AircraftModel) -> Double { one.hours }

  func setHours(_ hours: Double, _ one: AircraftModel) { one.hours = hours }

  func years(_ context: ModelContext) throws -> Int {
    var years = 0
    for entry in try context.fetch(FetchDescriptor<EntryModel>()) { years += Int(entry.aircraft?.year ?? 0) }
    return years
  }

  func distance(_ one: AircraftModel) -> Int {
    var distance = 0
    for entry in one.entries { distance += Int(entry.distance ?? 0) }
    return distance
  }
}

extension FaceOperations<ModelFace> {
  /// The same as ``readOne(_:)``, without a word of it to Observation.
  static func readOneUnobserved(_ count: Int) throws { try readOne(count) { $1.unobservedHours } }
}
