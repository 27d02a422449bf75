// A league: several relationships between the same classes, relationships of a class to itself, and declarations of odd but legal forms.
// Expected output:
//   home: ["North"] away: ["North"] of South: 1 0
//   friends: ["Bo", "Cy"] of Bo: ["Ada"] of Cy: ["Ada"]
//   captain of South: Ada, capTained: South
//   spouse: Bo and back Ada, then nil
//   without inverse: fan Bo, after deleting: "" gone true
//   counts: forced 2, nil stays empty: 0
//   equal by number: true, a set of 1
//   odd: 42 a "quoted" { brace } [1, 2] ok 7 0.5 default
//   failable: nil 3
//   private: gold gold
//   optional unique: 3, then 3
//   indexed field: ["Oslo"]
//   conflict: score 5, name Changed
//   deleted twice: 0 true
//   deleted and back: true
//   conditions on the way: ["A"] 2
//   main actor: 1
//   many: 5000 in 2500
//   emoji: 3
import CambiumSwiftData
import Foundation

@Model final class Team {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Match.home) var homeMatches: [Match] = []
  @Relationship(deleteRule: .cascade, inverse: \Match.away) var awayMatches: [Match]!
  @Relationship(inverse: \Player.captainOf) var captain: Player?
  @Relationship(inverse: \Player.team) var players = [Player]()
  init(name: String) { self.name = name }
}

@Model final class Match {
  var home: Team?
  var away: Team?
  var score = 0
  init(_ home: Team?, _ away: Team?) {
    self.home = home
    self.away = away
  }
}

@Model
final class Player: Hashable {
  var number: Int
  var name: String
  var team: Team?
  var captainOf: Team?
  var friends: [Player] = []
  @Relationship(inverse: \Player.friends) var friendOf: [Player] = []
  @Relationship(inverse: \Player.spouseOf) var spouse: Player?
  var spouseOf: Player?

  init(_ number: Int, _ name: String) {
    self.number = number
    self.name = name
  }

  // Equality of the application's own.
  static func == (a: Player, b: Player) -> Bool { a.number == b.number }
  func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

@Model final class Fan {
  var name: String
  @Relationship(deleteRule: .nullify) var idol: Player?
  init(name: String, idol: Player?) {
    self.name = name
    self.idol = idol
  }
}

enum Medal: String, Codable { case gold, silver }

/// A class of odd forms.
@available(macOS 15, *)
@Model public final class Odd {
  // A comment with a { brace and a "quote.
  var answer: Int = {
    let values = [40, 2]
    return values.reduce(0, +)
  }()
  // var removed: Int { get }
  var text = "a \"quoted\" { brace }"
  var list = [Int](1...2)
  var multiline = """
    ok
    """
  var closure = [7, 8].first { $0 == 7 } ?? 0
  var rate = 0.5 as Double?
  var `default`: String = "default"; var semicolon = 1
  private var medal: Medal? = Medal.gold
  fileprivate(set) var medalName: String = ""
  @Attribute(.unique) var email: String?
  var address: Address = Address(city: "", zip: 1)
  var `größe🎉`: Int = 3
  static let shared = 1
  static let counter = Mutexed(0)
  class var kind: String { "odd" }
  var computed: Int {
    get { answer }
    set { answer = newValue }
  }
  subscript(place: Int) -> Int { list[place] }
  enum Nested { case a }
  struct Address: Codable, Equatable {
    var city: String
    var zip: Int
  }
  #Index<Odd>([\.address.city])

  /// Makes one.
  public init() {}

  init?(answer: Int) {
    guard answer > 0 else { return nil }
    self.answer = answer
  }

  convenience init(throwing: Bool) throws {
    if throwing { throw CocoaError(.coderInvalidValue) }
    self.init()
  }

  deinit { Odd.counter.add() }

  func names() -> String {
    medalName = medal?.rawValue ?? "none"
    return medalName + " " + (medal.map { "\($0)" } ?? "")
  }
}

final class Mutexed: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Int
  init(_ value: Int) { self.value = value }
  func add() { lock.withLock { value += 1 } }
}

@Model
final class Preference {
  var value: Int
  init(value: Int) { self.value = value }
}

@main struct Main {
  @MainActor static func main() throws {
    let container = try ModelContainer(
      for: Team.self, Fan.self, Odd.self, Preference.self, configurations: .init(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let (north, south) = (Team(name: "North"), Team(name: "South"))
    let match = Match(north, south)
    context.insert(match)
    print(
      "home: \(north.homeMatches.compactMap { $0.home?.name }) away: \(south.awayMatches.compactMap { $0.home?.name })",
      "of South: \(south.awayMatches.count) \(south.homeMatches.count)")
    let (ada, bo, cy) = (Player(1, "Ada"), Player(2, "Bo"), Player(3, "Cy"))
    for player in [ada, bo, cy] { context.insert(player) }
    ada.friends = [bo, cy]
    print(
      "friends: \(ada.friends.map(\.name).sorted()) of Bo: \(bo.friendOf.map(\.name)) of Cy: \(cy.friendOf.map(\.name))"
    )
    south.captain = ada
    south.players = [ada, bo]
    print("captain of South: \(south.captain?.name ?? "-"), capTained: \(ada.captainOf?.name ?? "-")")
    ada.spouse = bo
    let (spouse, back) = (ada.spouse?.name ?? "-", bo.spouseOf?.name ?? "-")
    bo.spouseOf = nil
    print("spouse: \(spouse) and back \(back), then \(ada.spouse?.name ?? "nil")")
    try context.save()
    let fan = Fan(name: "Fan", idol: bo)
    context.insert(fan)
    try context.save()
    let idol = fan.idol?.name ?? "nil"
    context.delete(bo)
    try context.save()
    // Nothing leads back from a player, so that the fan still leads to one that is gone.
    let lost = try ModelContext(container).fetch(FetchDescriptor<Fan>())[0].idol
    print("without inverse: fan \(idol), after deleting: \"\(lost?.name ?? "nil")\" gone \(lost?.isDeleted ?? false)")
    let second = Match(nil, nil)
    second.away = south
    context.insert(second)
    let count = south.awayMatches.count
    south.awayMatches = nil
    print("counts: forced \(count), nil stays empty: \(south.awayMatches.count)")
    context.rollback()
    let twin = Player(1, "Twin")
    print("equal by number: \(twin == ada), a set of \(Set([twin, ada]).count)")

    let odd = Odd()
    context.insert(odd)
    print("odd:", odd.answer, odd.text, odd.list, odd.multiline, odd.closure, odd.rate ?? 0, odd.default)
    print("failable: \(Odd(answer: 0).map { "\($0.answer)" } ?? "nil") \(Odd(answer: 3)?.answer ?? 0)")
    print("private:", odd.names())
    let same = Odd()
    odd.email = "a"
    odd.address.city = "Oslo"
    same.email = "a"
    context.insert(Odd())
    context.insert(Odd())
    try context.save()
    let before = try context.fetchCount(FetchDescriptor<Odd>())
    context.insert(same)
    try context.save()
    print("optional unique: \(before), then \(try ModelContext(container).fetchCount(FetchDescriptor<Odd>()))")
    odd.address.city = "Oslo"
    try context.save()
    let byCity = FetchDescriptor<Odd>(predicate: #Predicate { $0.address.city == "Oslo" })
    print("indexed field:", try ModelContext(container).fetch(byCity).map(\.address.city))

    let other = ModelContext(container)
    guard let theirs = other.model(for: north.persistentModelID) as? Team,
      let theirMatch = other.model(for: match.persistentModelID) as? Match
    else { return print("lost") }
    theirMatch.score = 3
    theirs.name = "Theirs"
    match.score = 5
    try other.save()
    north.name = "Changed"
    try context.save()
    let third = ModelContext(container)
    let score = (third.model(for: match.persistentModelID) as? Match)?.score ?? -1
    print("conflict: score \(score), name \((third.model(for: north.persistentModelID) as? Team)?.name ?? "-")")

    let gone = Fan(name: "Gone", idol: nil)
    context.insert(gone)
    context.delete(gone)
    context.delete(gone)
    context.delete(Fan(name: "never inserted", idol: nil))
    try context.save()
    let fans = try context.fetchCount(FetchDescriptor<Fan>(predicate: #Predicate { $0.name == "Gone" }))
    print("deleted twice: \(fans) \(gone.modelContext == nil)")
    context.delete(fan)
    context.rollback()
    print("deleted and back:", !fan.isDeleted && fan.name == "Fan" && fan.modelContext === context)

    for name in ["A", "B"] {
      let team = Team(name: name)
      context.insert(team)
      for number in 0..<(name == "A" ? 3 : 1) { team.players.append(Player(100 + number, "P")) }
    }
    try context.save()
    let large = FetchDescriptor<Team>(predicate: #Predicate { $0.players.count > 2 })
    let teams = try context.fetch(large).map(\.name)
    let few = FetchDescriptor<Player>(predicate: #Predicate { $0.team?.players.count ?? 0 >= 3 && $0.number > 100 })
    print("conditions on the way: \(teams) \(try context.fetchCount(few))")

    let preference = Preference(value: 1)
    container.mainContext.insert(preference)
    try container.mainContext.save()
    print("main actor:", try container.mainContext.fetch(FetchDescriptor<Preference>())[0].value)

    let bulk = ModelContext(container)
    try bulk.transaction { for number in 0..<5000 { bulk.insert(Match(nil, nil).scored(number % 2)) } }
    let scored = FetchDescriptor<Match>(predicate: #Predicate { $0.score == 1 && $0.home == nil })
    print("many: 5000 in \(try bulk.fetchCount(scored))")
    print("emoji:", odd.größe🎉)
  }
}

extension Match {
  func scored(_ number: Int) -> Match {
    score = number
    return self
  }
}
