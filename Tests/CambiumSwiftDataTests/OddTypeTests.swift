import CambiumSwiftData
import Foundation
import Testing

// Types that applications have, and that are no plain structures.

final class LinkedNode: Codable {
  var value = 0
  var next: LinkedNode?
}

indirect enum Formula: Codable, Equatable {
  case not(Formula)
  case literal(Bool)
}

enum Standard: String, Codable { case only }

enum Outline: Codable, Equatable { case circle(radius: Double) }

/// Codes a date as a number, under the name of the date.
struct Stamp: Codable, Equatable {
  var date: Date
  enum CodingKeys: CodingKey { case date }
  init(_ date: Date) { self.date = date }
  init(from decoder: any Decoder) throws {
    date = Date(
      timeIntervalSince1970: try decoder.container(keyedBy: CodingKeys.self).decode(Double.self, forKey: .date))
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(date.timeIntervalSince1970, forKey: .date)
  }
}

/// Codes one key more than it has fields.
struct Versioned: Codable, Equatable {
  var name: String
  enum CodingKeys: CodingKey { case name, version }
  init(_ name: String) { self.name = name }
  init(from decoder: any Decoder) throws {
    name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(2, forKey: .version)
  }
}

/// Decodes key by key, and codes one value.
struct Polyglot: Codable, Equatable {
  var text: String
  enum CodingKeys: CodingKey { case text }
  init(_ text: String) { self.text = text }
  init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: CodingKeys.self) {
      text = try container.decode(String.self, forKey: .text)
    } else {
      text = try decoder.singleValueContainer().decode(String.self)
    }
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

@Model final class Oddities {
  var node: LinkedNode
  var formula: Formula?
  var standard: Standard
  var outline: Outline
  var vector: SIMD2<Float>
  var place: CGPoint
  var span: Range<Int>
  var zone: TimeZone
  var components: URLComponents?
  var stamp: Stamp
  var versioned: Versioned
  var polyglot: Polyglot?

  init() {
    node = LinkedNode()
    formula = .not(.literal(true))
    standard = .only
    outline = .circle(radius: 2)
    vector = [1, 2]
    place = CGPoint(x: 3, y: 4)
    span = 5..<7
    zone = .gmt
    components = URLComponents(string: "https://example.com/a?b=c")
    stamp = Stamp(Date(timeIntervalSince1970: 8))
    versioned = Versioned("v")
    polyglot = Polyglot("p")
  }
}

@Model final class Unplaced {
  var formula: Formula
  init(_ formula: Formula) { self.formula = formula }
}

@Model final class WrongInverse {
  @Relationship(inverse: \WrongTarget.computed) var targets: [WrongTarget] = []
  init() {}
}

@Model final class WrongTarget {
  var owner: WrongInverse?
  var computed: WrongInverse? { owner }
  init() {}
}

@Suite struct OddTypeTests {
  private func container(_ types: any PersistentModel.Type...) throws -> ModelContainer {
    try ModelContainer(for: Schema(types), configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  @Test func typesOfAllShapesAreStored() throws {
    let container = try container(Oddities.self)
    let context = ModelContext(container)
    context.insert(Oddities())
    try context.save()
    let read = try #require(try ModelContext(container).fetch(FetchDescriptor<Oddities>()).first)
    #expect(read.node.value == 0 && read.formula == .not(.literal(true)) && read.standard == .only)
    #expect(read.outline == .circle(radius: 2) && read.vector == [1, 2] && read.place == CGPoint(x: 3, y: 4))
    #expect(read.span == 5..<7 && read.zone == .gmt && read.components?.queryItems?.first?.name == "b")
    #expect(read.stamp == Stamp(Date(timeIntervalSince1970: 8)) && read.versioned == Versioned("v"))
    #expect(read.polyglot == Polyglot("p"))
  }

  @Test func aRequiredTypeWithoutAnyValueIsRefusedByAContainerAlone() throws {
    // In a preview or a unit test there is none.
    let unplaced = Unplaced(.literal(true))
    #expect(unplaced.formula == .literal(true))
    #expect {
      _ = try container(Unplaced.self)
    } throws: {
      SwiftDataError.loadIssueModelContainer ~= $0 && "\($0)".contains("Unplaced.formula")
        && "\($0)".contains("initial value")
    }
  }

  @Test func whatCannotBeStoredIsAnErrorThoughItWasSetBeforeInsertion() throws {
    let container = try makeContainer()
    let context = ModelContext(container)
    let values = Values()
    values.uint64 = .max
    context.insert(values)
    #expect { try context.save() } throws: { "\($0)".contains("uint64") }
    context.rollback()
    let table = Values()
    table.table = ["x": .infinity]
    context.insert(table)
    #expect(throws: (any Error).self) { try context.save() }
  }

  @Test func anInverseThatIsNoRelationshipIsRefused() throws {
    #expect {
      _ = try container(WrongInverse.self)
    } throws: {
      SwiftDataError.loadIssueModelContainer ~= $0 && "\($0)".contains("WrongInverse.targets")
    }
  }

  @Test func aModelOfAnotherClassOfThatNameIsAnError() throws {
    let context = ModelContext(try container(Second.Note.self))
    context.insert(First.Note(text: "first"))
    #expect { try context.save() } throws: { SwiftDataError.unknownSchema ~= $0 && "\($0)".contains("Note") }
  }
}
