import CambiumEngine

/// Where objects belong: a context's, of one entity in one store. Objects have one reference to it in place of four to
/// what it holds; to count references up and down took a good part of the time of a fetch.
final class ObjectHome: ObjectPlace, @unchecked Sendable {
  // `@unchecked`: `hint` is touched where the objects of its context are used, and not at all without a context.
  let info: EntityInfo
  /// As who made the objects named it; that of ``info`` as a rule.
  let entity: EntityDescription
  /// What the identifiers of the objects name the entity by.
  let entityID: UInt32
  let space: StoreSpace
  /// Leads to the context; nil for objects that belong to none any more.
  let link: ContextLink?
  /// Whether a batch insert request made the objects, to have their values set by a handler.
  let isOfBatch: Bool
  /// The same without a context.
  private let abroad: ObjectHome?

  private init(
    _ info: EntityInfo, _ entity: EntityDescription, _ entityID: UInt32, _ space: StoreSpace, _ link: ContextLink?,
    isOfBatch: Bool = false
  ) {
    self.isOfBatch = isOfBatch
    self.info = info
    self.entity = entity
    self.entityID = entityID
    self.space = space
    self.link = link
    attributes = info.directAttributes
    abroad = link == nil ? nil : ObjectHome(info, entity, entityID, space, nil)
  }

  /// Whether one thread at a time uses the objects, so that the home may note which names they were asked for last.
  private var remembersNames: Bool { link != nil || isOfBatch }

  /// The place of the attribute that was named last: properties are mostly asked for in declared order, or one of many
  /// objects.
  @exclusivity(unchecked) private var hint = 0
  /// Those of ``info``, which keeps them.
  private let attributes: DirectAttributes

  /// An attribute by name, if its values are read as they are stored; nil for all other names.
  @inline(__always)
  func attribute(_ name: String) -> DirectAttribute? {
    let bits = NameBits(name)
    let last = hint
    if last < attributes.count, attributes[last].name == bits {
      return attributes[last].isReadable ? attributes[last] : nil
    }
    let isShort = name.utf8.count <= NameBits.shortCount
    guard let place = isShort ? attributes.place(bits, from: last &+ 1) ?? find(name) : findLong(name) else {
      return nil
    }
    if remembersNames { hint = place }
    return attributes[place].isReadable ? attributes[place] : nil
  }

  /// The place of an attribute whose name may be written otherwise.
  @inline(never)
  private func find(_ name: String) -> Int? { info.readableAttributes[name] }

  /// The place of an attribute whose name is too long for its bits to tell: the last one or the next, as a rule.
  @inline(never)
  private func findLong(_ name: String) -> Int? {
    let ordered = info.ordered
    var place = hint
    while place < attributes.count, place &- hint < 2 {
      if ordered[place].name == name { return place }
      place &+= 1
    }
    return find(name)
  }

  /// The to-one relationship that was named last, which ``info`` keeps. One word, of which nobody sees a half.
  @exclusivity(unchecked) private var lastToOne: Unmanaged<PropertyInfo>?

  /// A to-one relationship that is kept in rows, by name; nil for all other names, and for those too long for their
  /// bits to tell. It is there as long as this is.
  @inline(__always)
  func toOne(_ name: String) -> Unmanaged<RelationshipInfo>? {
    let bits = NameBits(name)
    // Compared with the bits of the name that is kept: what those of another name say ends with its memory.
    if let known = lastToOne?._withUnsafeGuaranteedRef({ $0.nameBits == bits ? $0.relationship : nil }) {
      return .passUnretained(known)
    }
    return findToOne(name)
  }

  @inline(never)
  private func findToOne(_ name: String) -> Unmanaged<RelationshipInfo>? {
    guard name.utf8.count <= NameBits.shortCount, let property = info.properties[name], !property.isTransient,
      let r = property.relationship, !r.isToMany
    else { return nil }
    if remembersNames { lastToOne = .passUnretained(property) }
    return .passUnretained(r)
  }

  /// Of objects that have not come to belong anywhere.
  static func nowhere(_ entity: EntityDescription) -> ObjectHome { ObjectHome(.unknown, entity, 0, .none, nil) }

  /// Of objects that were made without a context, and have values all the same, if their entity's model is in use.
  static func early(_ entity: EntityDescription) -> ObjectHome {
    guard let info = entity.managedObjectModel?.earlySpace?.info(named: entity.name) else { return nowhere(entity) }
    return ObjectHome(info, entity, 0, .none, nil)
  }

  /// Of objects whose values a batch insert request writes into a store.
  static func batch(_ info: EntityInfo, _ space: StoreSpace) -> ObjectHome {
    ObjectHome(info, info.description, info.entityID, space, nil, isOfBatch: true)
  }

  /// The same without a context.
  var withoutContext: ObjectHome { abroad ?? self }

  /// Whether this is the home of objects of an identifier.
  @inline(__always)
  func holds(_ id: ManagedObjectID, _ info: EntityInfo, _ entity: EntityDescription) -> Bool {
    self.info === info && self.entity === entity && space === id.space && entityID == id.reference.entity
  }

  /// The home of objects of an identifier, with the same context.
  func changed(to id: ManagedObjectID) -> ObjectHome {
    holds(id, info, entity) ? self : ObjectHome(info, entity, id.reference.entity, id.space, link)
  }

  /// The homes of a context's objects, of which there are as many as entities have objects in it. No object holds it,
  /// since homes hold what leads to the context.
  struct List {
    private var homes: [ObjectHome] = []
    private var last: ObjectHome?
    private var twins: [EntityDescription] = []
    private var lastTwin: EntityDescription?
    private var asked: ObjectHome?
    private var askedAt = 0
    /// Whether some were given up, so that objects may have homes that are not here.
    private var isPartial = false

    private static let most = 512

    /// The store of all objects; nil if there may be several, or none.
    var onlySpace: StoreSpace? {
      guard !isPartial, let first = homes.first?.space, homes.allSatisfy({ $0.space === first }) else { return nil }
      return first
    }

    /// The home that the coordinator was asked for last, if it is that of objects of an identifier, and no store has
    /// come or gone since.
    ///
    /// - Parameter version: how many times stores have come or gone.
    @inline(__always)
    func known(_ id: ManagedObjectID, version: Int) -> ObjectHome? {
      guard let asked, askedAt == version, asked.space === id.space, asked.entityID == id.reference.entity else {
        return nil
      }
      return asked
    }

    /// Notes a home whose store the coordinator has.
    mutating func note(_ home: ObjectHome, version: Int) {
      keep(home)
      (asked, askedAt) = (home, version)
    }

    /// Has a home be one of these: that of an object which a reset has left behind is not, but others may be made with
    /// it.
    mutating func keep(_ home: ObjectHome) {
      if last === home || homes.contains(where: { $0 === home }) { return }
      add(home)
    }

    private mutating func add(_ home: ObjectHome) {
      // Objects hold their homes themselves. Stores that come and go under a context leave homes that nobody has.
      if homes.count >= Self.most {
        homes = []
        isPartial = true
      }
      homes.append(home)
    }

    /// The home of objects of an identifier, made if there is none.
    @inline(__always)
    mutating func home(
      of id: ManagedObjectID, _ info: EntityInfo, _ entity: EntityDescription, _ link: ContextLink
    ) -> ObjectHome {
      if let last, last.holds(id, info, entity) { return last }
      return find(id, info, entity, link)
    }

    @inline(never)
    private mutating func find(
      _ id: ManagedObjectID, _ info: EntityInfo, _ entity: EntityDescription, _ link: ContextLink
    ) -> ObjectHome {
      let known = homes.first { $0.holds(id, info, entity) }
      let found = known ?? ObjectHome(info, entity, id.reference.entity, id.space, link)
      if known == nil { add(found) }
      last = found
      return found
    }

    /// What objects of a home are made with; see ``EntityDescription/init(twinOf:cradle:home:)``.
    @inline(__always)
    mutating func twin(of home: ObjectHome) -> EntityDescription {
      if let lastTwin, lastTwin.home === home { return lastTwin }
      return findTwin(home)
    }

    @inline(never)
    private mutating func findTwin(_ home: ObjectHome) -> EntityDescription {
      keep(home)
      let known = twins.first { $0.home === home }
      let found = known ?? EntityDescription(twinOf: home.entity, cradle: ObjectHome.nowhere(home.entity), home: home)
      if known == nil {
        if twins.count >= Self.most { twins = [] }
        twins.append(found)
      }
      lastTwin = found
      return found
    }
  }
}
