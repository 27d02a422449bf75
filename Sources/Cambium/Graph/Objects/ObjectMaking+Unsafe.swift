/// What a context makes objects with, kept from one object to the next.
final class ObjectMaking {
  /// Objects that were prefetched, and that nobody else holds.
  let prefetched = PrefetchedObjects()
  /// See ``KnownBirth``.
  @exclusivity(unchecked) var lastBirth: KnownBirth?
  /// The entities that objects were inserted of lately, the last one first, so that they need not be looked up for
  /// every object.
  @exclusivity(unchecked) private var insertables: [ManagedObjectContext.Insertable] = []
  /// So many are kept: as many entities are often inserted of in turn, and as few are found soon.
  private static let mostInsertables = 8
  /// New objects whose relationships are still to be set, while some are set that were made without a context.
  var earlyInWaiting: [(ManagedObject, ManagedObject.EarlyValues)]?

  /// One of the entities that objects were inserted of lately.
  ///
  /// - Parameter version: How many times stores have come or gone.
  @inline(__always)
  func insertable(
    version: Int, _ isMeant: (ManagedObjectContext.Insertable) -> Bool
  ) -> ManagedObjectContext.Insertable? {
    for place in insertables.indices where insertables[place].version == version && isMeant(insertables[place]) {
      if place > 0 { insertables.swapAt(0, place) }
      return insertables[0]
    }
    return nil
  }

  func note(_ insertable: ManagedObjectContext.Insertable) {
    if insertables.count == Self.mostInsertables { insertables.removeLast() }
    insertables.insert(insertable, at: 0)
  }

  /// Forgets what new objects were made of.
  func forget() {
    insertables = []
    lastBirth = nil
  }
}

extension ManagedObjectContext {
  /// Where objects of an entity are inserted, as it was when the coordinator had its stores the `version`th time.
  final class Insertable {
    let entity: EntityDescription
    /// The entity's; see ``EntityDescription/init(twinFor:)``.
    let twin: EntityDescription
    let version: Int
    let home: ObjectHome
    /// The class of the objects; nil before one was inserted.
    @exclusivity(unchecked) var objectClass: ManagedObject.Type?
    /// The class that stands for the entity; nil before an initializer asked for it.
    @exclusivity(unchecked) var birthClass: ManagedObject.Type?
    /// The entity that the last object had before it was inserted, and whether its attributes are those of ``entity``.
    @exclusivity(unchecked) private var lastEarly: (info: EntityInfo, isSame: Bool)?

    /// - Parameter twin: That of the home.
    init(_ entity: EntityDescription, _ home: ObjectHome, _ twin: EntityDescription, version: Int) {
      (self.entity, self.home, self.twin, self.version) = (entity, home, twin, version)
    }

    /// Whether the values of a new object can stay where they are.
    func hasAttributes(of info: EntityInfo) -> Bool {
      if let lastEarly, lastEarly.info === info { return lastEarly.isSame }
      let isSame = home.info.hasAttributes(of: info)
      lastEarly = (info, isSame)
      return isSame
    }
  }
}
