import CambiumEngine

/// Where objects belong: a context's, of one entity in one store. Objects have one reference to it in place of four to what it
/// holds; to count references up and down took a good part of the time of a fetch.
final class ObjectHome: Sendable {
  let info: EntityInfo
  /// What the identifiers of the objects name the entity by.
  let entityID: UInt32
  let space: StoreSpace
  /// Leads to the context; nil for objects that belong to none any more.
  let link: ContextLink?
  /// The same without a context.
  private let abroad: ObjectHome?

  private init(_ info: EntityInfo, _ entityID: UInt32, _ space: StoreSpace, _ link: ContextLink?) {
    self.info = info
    self.entityID = entityID
    self.space = space
    self.link = link
    abroad = link == nil ? nil : ObjectHome(info, entityID, space, nil)
  }

  /// Of objects that came to belong nowhere.
  static let nowhere = ObjectHome(.unknown, 0, .none, nil)

  /// The same without a context.
  var withoutContext: ObjectHome { abroad ?? self }

  /// Whether this is the home of objects of an identifier.
  @inline(__always)
  func holds(_ id: ManagedObjectID, _ info: EntityInfo) -> Bool {
    self.info === info && space === id.space && entityID == id.reference.entity
  }

  /// The home of objects of an identifier, with the same context.
  func changed(to id: ManagedObjectID) -> ObjectHome {
    holds(id, info) ? self : ObjectHome(info, id.reference.entity, id.space, link)
  }

  /// The homes of a context's objects, of which there are as many as entities have objects in it. No object holds it, since
  /// homes hold what leads to the context.
  struct List {
    private var homes: [ObjectHome] = []
    private var last: ObjectHome?

    /// The home of objects of an identifier, made if there is none.
    @inline(__always)
    mutating func home(of id: ManagedObjectID, _ info: EntityInfo, _ link: ContextLink) -> ObjectHome {
      if let last, last.holds(id, info) { return last }
      return find(id, info, link)
    }

    @inline(never)
    private mutating func find(_ id: ManagedObjectID, _ info: EntityInfo, _ link: ContextLink) -> ObjectHome {
      let known = homes.first { $0.holds(id, info) }
      let found = known ?? ObjectHome(info, id.reference.entity, id.space, link)
      // Objects hold their homes themselves. Stores that come and go under a context leave homes that nobody has.
      if known == nil, homes.count >= 512 { homes = [] }
      if known == nil { homes.append(found) }
      last = found
      return found
    }
  }
}
