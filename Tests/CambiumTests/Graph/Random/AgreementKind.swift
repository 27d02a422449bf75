@testable import Cambium

/// What the objects of a run of ``AgreementTests`` are, by its seed.
struct AgreementKind {
  private static let toOne = ["next", "previous", "parent", "boss"]
  private static let toMany = ["children", "friends", "friendOf", "likes", "likedBy", "tags", "tagged", "staff"]

  /// Whether they are of two entities, one of which inherits from the other, with rules that refuse what is changed at
  /// times.
  let isRich: Bool
  /// Whether the contexts read generations of the store at times.
  let pins: Bool
  /// Whether objects are used at times that no fetch has just read.
  let keeps: Bool
  let model: ManagedObjectModel

  init(seed: UInt64) throws {
    (isRich, pins, keeps) = (seed % 4 == 1, seed % 3 == 0, [2, 3].contains(seed % 5))
    let isRich = isRich
    model = try ManagedObjectModel {
      Self.node(isRich: isRich)
      if isRich {
        Entity("Leaf", parent: "Node") {
          ToOne("owner", "Node", inverse: "leaves", optional: false)
          ToOne("host", "Node", inverse: "guest", deleteRule: .cascade)
        }
      }
    }
  }

  private static func node(isRich: Bool) -> Entity {
    Entity("Node") {
      Attribute("name", .string)
      Attribute("code", .string)
      ToOne("next", "Node", inverse: "previous")
      ToOne("previous", "Node", inverse: "next")
      ToOne("parent", "Node", inverse: "children")
      ToMany("children", "Node", inverse: "parent", ordered: true, deleteRule: .cascade)
      ToMany("friends", "Node", inverse: "friendOf", ordered: true)
      ToMany("friendOf", "Node", inverse: "friends")
      ToMany("likes", "Node", inverse: "likedBy", ordered: true)
      ToMany("likedBy", "Node", inverse: "likes", ordered: true)
      ToMany("tags", "Node", inverse: "tagged")
      ToMany("tagged", "Node", inverse: "tags")
      ToOne("boss", "Node", inverse: "staff")
      ToMany("staff", "Node", inverse: "boss")
      if isRich {
        ToMany("leaves", "Leaf", inverse: "owner", ordered: true, deleteRule: .deny)
        ToOne("guest", "Leaf", inverse: "host")
      }
      Unique("code")
    }
  }

  /// The to-one relationships of an object.
  func toOne(of object: ManagedObject) -> [String] {
    if !isRich { return Self.toOne }
    return Self.toOne + (object.entity.name == "Leaf" ? ["guest", "host", "owner"] : ["guest"])
  }

  /// The to-many relationships of an object.
  func toMany(of object: ManagedObject) -> [String] { isRich ? Self.toMany + ["leaves"] : Self.toMany }

  /// The entity that a relationship leads to.
  func destination(of key: String) -> String { ["guest", "leaves"].contains(key) ? "Leaf" : "Node" }
}
