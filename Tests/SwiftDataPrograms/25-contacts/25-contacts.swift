// Contacts that come from a server again and again: each has an `id` of its own, is `Codable` by hand, and takes the place of its older
// self when it is saved.
// Expected output:
//   imported 3
//   sorted: ["Adam Young", "Bob Young", "Ada Zorn"]
//   imported again: 3, Ada is now Lovelace, and a favorite still
//   the same row: true
//   two with one email in one save: 4, the later wins: Dora 2
//   as JSON: {"email":"ada@x.org","id":"00000000-0000-0000-0000-000000000001","name":{"family":"Lovelace","given":"Ada"}}
//   found by id: Ada
//   indexed: true
//   a group with the same room and name: 1, of 9 seats
//   one chair for each owner: 1, ["new"]
import CambiumSwiftData
import Foundation

struct FullName: Codable, Hashable, Comparable {
  var given: String
  var family: String
  static func < (a: FullName, b: FullName) -> Bool { (a.family, a.given) < (b.family, b.given) }
}

protocol Named {
  var name: FullName { get }
}

extension Named {
  var fullName: String { "\(name.given) \(name.family)" }
}

@Model
final class Contact: Codable, Identifiable, Named, Comparable {
  #Index<Contact>([\.email], [\.updatedAt, \.email])
  #Unique<Contact>([\.id], [\.email])

  private(set) var id: UUID
  var email: String
  var name: FullName
  var updatedAt: Date
  var isFavorite: Bool?

  enum CodingKeys: CodingKey { case id, email, name }

  init(id: UUID = UUID(), email: String, name: FullName) {
    self.id = id
    self.email = email
    self.name = name
    self.updatedAt = .now
  }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(UUID.self, forKey: .id)
    email = try container.decode(String.self, forKey: .email)
    name = try container.decode(FullName.self, forKey: .name)
    updatedAt = Date()
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(email, forKey: .email)
    try container.encode(name, forKey: .name)
  }

  static func < (a: Contact, b: Contact) -> Bool { a.name < b.name }
}

@Model
final class Group {
  #Unique<Group>([\.room, \.title])
  #Index<Group>(.binary([\.title]), .rtree([\.latitude, \.longitude]))
  var room: Int
  var title: String
  var seats: Int
  var latitude: Double = 0
  var longitude: Double = 0
  init(room: Int, title: String, seats: Int) {
    (self.room, self.title, self.seats) = (room, title, seats)
  }
}

@Model
final class Chair {
  #Unique<Chair>([\.owner])
  var label: String
  var owner: Contact?
  init(label: String, owner: Contact) {
    self.label = label
    self.owner = owner
  }
}

func json(_ family: String) -> Data {
  Data(
    """
    [{"id": "00000000-0000-0000-0000-000000000001", "email": "ada@x.org", "name": {"given": "Ada", "family": "\(family)"}},
     {"id": "00000000-0000-0000-0000-000000000002", "email": "bob@x.org", "name": {"given": "Bob", "family": "Young"}},
     {"id": "00000000-0000-0000-0000-000000000003", "email": "adam@x.org", "name": {"given": "Adam", "family": "Young"}}]
    """.utf8)
}

@main struct Main {
  static func main() throws {
    let container = try ModelContainer(
      for: Contact.self, Group.self, Chair.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    try JSONDecoder().decode([Contact].self, from: json("Zorn")).forEach { context.insert($0) }
    try context.save()
    print("imported", try context.fetchCount(FetchDescriptor<Contact>()))
    let contacts = try context.fetch(FetchDescriptor<Contact>())
    print("sorted:", contacts.sorted().map(\.fullName))

    let adaID = contacts.first { $0.email == "ada@x.org" }?.id ?? UUID()
    let ada = try find(adaID, context)
    ada?.isFavorite = true
    try context.save()
    let identifier = ada?.persistentModelID

    let later = ModelContext(container)
    try JSONDecoder().decode([Contact].self, from: json("Lovelace")).forEach { later.insert($0) }
    try later.save()
    let fresh = ModelContext(container)
    let count = try fresh.fetchCount(FetchDescriptor<Contact>())
    let again = try find(adaID, fresh)
    let favorite = again?.isFavorite == true ? "still" : "no more"
    print("imported again: \(count), Ada is now \(again?.name.family ?? "-"), and a favorite \(favorite)")
    print("the same row:", again?.persistentModelID == identifier)

    for number in 1...2 {
      fresh.insert(Contact(email: "dora@x.org", name: FullName(given: "Dora", family: "\(number)")))
    }
    try fresh.save()
    let doras = try fresh.fetch(FetchDescriptor<Contact>(predicate: #Predicate { $0.email == "dora@x.org" }))
    let total = try fresh.fetchCount(FetchDescriptor<Contact>())
    print("two with one email in one save: \(total), the later wins: \(doras.map(\.fullName).joined(separator: ", "))")

    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    if let again { print("as JSON:", String(decoding: try encoder.encode(again), as: UTF8.self)) }
    print("found by id:", try find(adaID, fresh)?.name.given ?? "-")
    let plan = try fresh.explain(FetchDescriptor<Contact>(predicate: #Predicate { $0.email == "ada@x.org" }))
    print("indexed:", plan.contains("email"))

    for seats in [7, 9] {
      fresh.insert(Group(room: 1, title: "Choir", seats: seats))
      try fresh.save()
    }
    let groups = try ModelContext(container).fetch(FetchDescriptor<Group>())
    print("a group with the same room and name: \(groups.count), of \(groups[0].seats) seats")

    if let again {
      fresh.insert(Chair(label: "old", owner: again))
      try fresh.save()
      fresh.insert(Chair(label: "new", owner: again))
      try fresh.save()
    }
    let chairs = try ModelContext(container).fetch(FetchDescriptor<Chair>())
    print("one chair for each owner: \(chairs.count), \(chairs.map(\.label))")
  }

  static func find(_ id: UUID, _ context: ModelContext) throws -> Contact? {
    try context.fetch(FetchDescriptor<Contact>(predicate: #Predicate { $0.id == id })).first
  }
}
