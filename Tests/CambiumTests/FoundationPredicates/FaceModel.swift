import CambiumEngine
import Foundation

@testable import Cambium

// A face whose objects are no managed objects, as another module has it.

enum FaceRank: Int, Codable, Sendable { case civil = 0, admiral = 7 }

/// An enum that is no raw value.
enum FaceMood: Codable, Sendable, Hashable { case calm, angry }

struct FaceAddress: Codable, Sendable, Hashable {
  var city: String
  var code: Int?
}

struct FaceID: Codable, Hashable, Sendable {
  let text: String
}

class FaceObject: Hashable {
  let persistentModelID: FaceID
  init(_ id: String) { persistentModelID = FaceID(text: id) }
  static func == (a: FaceObject, b: FaceObject) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

final class FacePerson: FaceObject {
  var name = ""
  var nickname: String?
  var age = 0
  var rank = FaceRank.civil
  var mood = FaceMood.calm
  var address: FaceAddress?
  var boss: FacePerson?
  var papers: [FacePaper] = []
  var pages: [Int] { papers.map { $0.pages } }
  var initials: String { String(name.prefix(1)) }
}

class FacePaper: FaceObject {
  var title = ""
  var pages = 0
  var author: FacePerson?
}

final class FaceThesis: FacePaper {
  var school: String?
}

struct FaceNaming: PredicateNaming {
  let objects: [FaceID: ManagedObjectID]

  private static func person(_ keyPath: AnyKeyPath) -> PredicateName? {
    switch keyPath {
    case \FacePerson.name: .property("name")
    case \FacePerson.nickname: .property("nickname")
    case \FacePerson.age: .property("age")
    case \FacePerson.rank: .property("rank")
    case \FacePerson.mood: .property("mood")
    case \FacePerson.address: .property("address")
    case \FacePerson.boss: .property("boss")
    case \FacePerson.papers: .property("papers")
    case \FacePerson.pages: .property("papers.pages")
    case \FacePerson.initials: .refused("'initials' is computed and not stored; compare 'name'")
    case \FacePerson.persistentModelID: .object
    case \FaceAddress.city: .property("city")
    case \FaceAddress.code: .property("code")
    default: nil
    }
  }

  func name(of keyPath: AnyKeyPath, in type: Any.Type) throws -> PredicateName? {
    if let name = Self.person(keyPath) { return name }
    switch keyPath {
    case \FacePaper.title, \FaceThesis.title: return .property("title")
    case \FacePaper.pages, \FaceThesis.pages: return .property("pages")
    case \FacePaper.author, \FaceThesis.author: return .property("author")
    case \FaceThesis.school: return .property("school")
    case \FacePaper.persistentModelID, \FaceThesis.persistentModelID: return .object
    default: return nil
    }
  }

  func entityName(of type: Any.Type) throws -> String? {
    switch type {
    case is FaceThesis.Type: "Thesis"
    case is FacePaper.Type: "Paper"
    case is FacePerson.Type: "Person"
    default: nil
    }
  }

  func meaning(of captured: Any) throws -> CapturedMeaning? {
    switch captured {
    case let id as FaceID: .object(objects[id])
    case let mood as FaceMood: .value(.string("\(mood)"))
    default: nil
    }
  }
}

/// A store with what the predicates of the face are asked about.
struct FaceStore {
  let context: ManagedObjectContext
  let naming: FaceNaming
  private let directory: TemporaryDirectory

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Person") {
        Attribute("name", .string, optional: false)
        Attribute("nickname", .string)
        Attribute("age", .integer64)
        Attribute("rank", .integer64)
        Attribute("mood", .string)
        Attribute("address") {
          Attribute("city", .string)
          Attribute("code", .integer64)
        }
        ToOne("boss", "Person", inverse: "staff")
        ToMany("staff", "Person", inverse: "boss")
        ToMany("papers", "Paper", inverse: "author", deleteRule: .cascade)
        Index("byName", "name")
      }
      Entity("Paper") {
        Attribute("title", .string, optional: false)
        Attribute("pages", .integer64)
        ToOne("author", "Person", inverse: "papers")
      }
      Entity("Thesis", parent: "Paper") { Attribute("school", .string) }
    }
  }

  init(isSaved: Bool) throws {
    directory = try TemporaryDirectory()
    let context = try directory.container(model: try Self.model()).viewContext
    self.context = context
    func insert(_ entity: String, _ values: [String: Any]) throws -> ManagedObject {
      let object = try context.insertNewObject(forEntityName: entity)
      for (key, value) in values { object.setValue(value, forKey: key) }
      return object
    }
    let ada = try insert(
      "Person",
      [
        "name": "Ada", "nickname": "Enchantress", "age": 36, "rank": 0, "mood": "calm",
        "address": ["city": "London", "code": 1] as [String: Any],
      ])
    let grace = try insert(
      "Person",
      [
        "name": "Grace", "age": 85, "rank": 7, "mood": "angry", "address": ["city": "York"] as [String: Any],
        "boss": ada,
      ])
    let adrian = try insert("Person", ["name": "Adrian", "nickname": "Ed", "age": 50, "rank": 0, "boss": grace])
    let engine = try insert("Paper", ["title": "Engine", "pages": 40, "author": ada])
    let notes = try insert("Thesis", ["title": "Notes", "pages": 66, "author": ada, "school": "Home"])
    let cobol = try insert("Paper", ["title": "Cobol", "pages": 10, "author": grace])
    let loose = try insert("Paper", ["title": "Loose", "pages": 5])
    if isSaved { try context.save() }
    naming = FaceNaming(objects: [
      FaceID(text: "ada"): ada.objectID, FaceID(text: "grace"): grace.objectID, FaceID(text: "adrian"): adrian.objectID,
      FaceID(text: "engine"): engine.objectID, FaceID(text: "notes"): notes.objectID,
      FaceID(text: "cobol"): cobol.objectID, FaceID(text: "loose"): loose.objectID,
    ])
  }

  func people(_ predicate: FoundationPredicate<FacePerson>) throws -> [String] {
    try people(FetchPredicate(predicate, naming: naming))
  }

  func people(_ predicate: FetchPredicate) throws -> [String] { try fetch("Person", "name", predicate) }

  func papers(_ predicate: FoundationPredicate<FacePaper>) throws -> [String] {
    try fetch("Paper", "title", try FetchPredicate(predicate, naming: naming))
  }

  private func fetch(_ entity: String, _ key: String, _ predicate: FetchPredicate) throws -> [String] {
    let request = FetchRequest<ManagedObject>(entityName: entity)
    request.predicate = predicate
    request.sortDescriptors = [FetchSortDescriptor(key: key, ascending: true)]
    return try context.fetch(request).compactMap { $0.value(forKey: key) as? String }
  }
}
