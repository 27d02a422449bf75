import CambiumEngine
import Foundation
import Testing

@testable import Cambium

/// Predicates on objects of another face, asked of saved objects and of unsaved ones.
@Suite struct PredicateNamingTests {
  private typealias Face = FoundationPredicate<FacePerson>

  @Test(arguments: [true, false]) func text(isSaved: Bool) throws {
    let store = try FaceStore(isSaved: isSaved)
    #expect(try store.people(#Predicate { $0.name.starts(with: "Ad") }) == ["Ada", "Adrian"])
    #expect(try store.people(#Predicate { $0.name.contains("rac") }) == ["Grace"])
    #expect(
      try store.people(#Predicate { $0.name.localizedStandardContains("A") && !$0.name.contains("i") })
        == ["Ada", "Grace"])
    // The macro takes no `.orderedSame`.
    let (same, ascending, descending) = (
      ComparisonResult.orderedSame, ComparisonResult.orderedAscending, ComparisonResult.orderedDescending
    )
    #expect(try store.people(#Predicate { $0.name.caseInsensitiveCompare("ADA") == same }) == ["Ada"])
    #expect(
      try store.people(#Predicate { $0.name.caseInsensitiveCompare("ADRIAN") == ascending }) == ["Ada"])
    #expect(
      try store.people(#Predicate { $0.name.caseInsensitiveCompare("ADRIAN") != descending })
        == ["Ada", "Adrian"])
    #expect(
      try store.people(#Predicate { $0.nickname?.caseInsensitiveCompare("ED") == same }) == ["Adrian"])
    #expect(try store.people(#Predicate { $0.name.isEmpty || $0.name.count == 3 }) == ["Ada"])
  }

  @Test(arguments: [true, false]) func optionals(isSaved: Bool) throws {
    let store = try FaceStore(isSaved: isSaved)
    #expect(try store.people(#Predicate { $0.nickname == nil }) == ["Grace"])
    #expect(try store.people(#Predicate { $0.nickname != nil }) == ["Ada", "Adrian"])
    #expect(try store.people(#Predicate { ($0.nickname ?? "").count > 5 }) == ["Ada"])
    #expect(
      try store.people(#Predicate { if let n = $0.nickname { n.count > 5 } else { $0.age > 80 } }) == ["Ada", "Grace"])
    #expect(try store.people(#Predicate { $0.nickname.flatMap { $0.count > 5 } ?? true }) == ["Ada", "Grace"])
    #expect(try store.people(#Predicate { $0.nickname!.count > 5 }) == ["Ada"])
    #expect(try store.people(#Predicate { ($0.nickname == nil ? $0.age : 0) > 50 }) == ["Grace"])
    #expect(
      try store.people(#Predicate { if $0.age > 60 { $0.name == "Grace" } else { $0.name == "Ada" } })
        == ["Ada", "Grace"])
    #expect(try store.people(#Predicate { $0.boss == nil }) == ["Ada"])
    #expect(try store.people(#Predicate { $0.boss?.boss == nil }) == ["Ada", "Grace"])
    #expect(try store.people(#Predicate { $0.boss?.boss != nil }) == ["Adrian"])
    #expect(try store.people(#Predicate { $0.boss?.boss?.name == "Ada" }) == ["Adrian"])
    #expect(try store.people(#Predicate { ($0.boss?.boss?.name ?? "none") == "none" }) == ["Ada", "Grace"])
    #expect(try store.people(#Predicate { if let boss = $0.boss { boss.age > 40 } else { false } }) == ["Adrian"])
    #expect(try store.papers(#Predicate { $0.author?.boss?.nickname == "Enchantress" }) == ["Cobol"])
  }

  @Test(arguments: [true, false]) func numbersAndCaptures(isSaved: Bool) throws {
    let store = try FaceStore(isSaved: isSaved)
    #expect(try store.people(#Predicate { $0.age > 40 }) == ["Adrian", "Grace"])
    #expect(try store.people(#Predicate { (30..<40).contains($0.age) }) == ["Ada"])
    #expect(try store.people(#Predicate { (36...50).contains($0.age) }) == ["Ada", "Adrian"])
    #expect(try store.people(#Predicate { $0.age * 2 <= 100 }) == ["Ada", "Adrian"])
    #expect(try store.people(#Predicate { $0.age % 2 == 1 || -$0.age == -36 }) == ["Ada", "Grace"])
    let (names, age, range) = (["Ada", "Grace"], 50, 40...60)
    #expect(try store.people(#Predicate { names.contains($0.name) }) == ["Ada", "Grace"])
    #expect(try store.people(#Predicate { $0.age == age }) == ["Adrian"])
    #expect(try store.people(#Predicate { range.contains($0.age) }) == ["Adrian"])
    #expect(try store.people(#Predicate { person in names.contains { $0 == person.name } }) == ["Ada", "Grace"])
    let (admiral, ranks) = (FaceRank.admiral, [FaceRank.admiral])
    #expect(try store.people(#Predicate { $0.rank == admiral }) == ["Grace"])
    #expect(try store.people(#Predicate { $0.rank != admiral }) == ["Ada", "Adrian"])
    #expect(try store.people(#Predicate { ranks.contains($0.rank) }) == ["Grace"])
    let (calm, moods) = (FaceMood.calm, [FaceMood.angry, .calm])
    #expect(try store.people(#Predicate { $0.mood == calm }) == ["Ada"])
    #expect(try store.people(#Predicate { moods.contains($0.mood) }) == ["Ada", "Grace"])
    let wanted = FaceAddress(city: "York", code: 1)
    #expect(try store.people(#Predicate { $0.address?.city == "York" }) == ["Grace"])
    #expect(try store.people(#Predicate { $0.address?.code == wanted.code }) == ["Ada"])
    #expect(try store.people(#Predicate { $0.address?.code == nil }) == ["Adrian", "Grace"])
    #expect(try store.people(#Predicate { $0.address == nil }) == ["Adrian"])
    #expect(try store.papers(#Predicate { $0.author?.address?.city == "York" }) == ["Cobol"])
  }

  @Test(arguments: [true, false]) func toMany(isSaved: Bool) throws {
    let store = try FaceStore(isSaved: isSaved)
    #expect(try store.people(#Predicate { $0.papers.contains { $0.pages > 50 } }) == ["Ada"])
    #expect(try store.people(#Predicate { $0.papers.contains { $0.pages > 20 && $0.title != "Notes" } }) == ["Ada"])
    #expect(try store.people(#Predicate { !$0.papers.isEmpty }) == ["Ada", "Grace"])
    #expect(try store.people(#Predicate { $0.papers.count == 0 }) == ["Adrian"])
    #expect(try store.people(#Predicate { $0.papers.filter { $0.pages > 5 }.count == 2 }) == ["Ada"])
    #expect(try store.people(#Predicate { $0.papers.allSatisfy { $0.pages < 30 } }) == ["Adrian", "Grace"])
    #expect(try store.people(#Predicate { $0.papers.filter { $0.pages > 50 }.isEmpty }) == ["Adrian", "Grace"])
    #expect(try store.people(#Predicate { $0.pages.max() == 66 }) == ["Ada"])
    #expect(try store.people(#Predicate { ($0.pages.min() ?? 0) < 20 }) == ["Adrian", "Grace"])
    #expect(try store.people(#Predicate { $0.pages.contains(10) }) == ["Grace"])
    #expect(
      try store.people(
        #Predicate { person in person.papers.contains { $0.author.flatMap { $0.name == person.name } ?? false } })
        == ["Ada", "Grace"])
    #expect(try store.papers(#Predicate { $0.author != nil }) == ["Cobol", "Engine", "Notes"])
    #expect(try store.papers(#Predicate { $0.author?.name == "Ada" && $0.pages > 50 }) == ["Notes"])
    #expect(try store.papers(#Predicate { ($0.author?.papers.count ?? 0) == 1 }) == ["Cobol"])
    #expect(
      try store.papers(#Predicate { $0.author.flatMap { $0.papers.contains { $0.pages == 10 } } ?? false }) == ["Cobol"]
    )
  }

  @Test(arguments: [true, false]) func identifiers(isSaved: Bool) throws {
    let store = try FaceStore(isSaved: isSaved)
    let (ada, unknown) = (FaceID(text: "ada"), FaceID(text: "nobody"))
    #expect(try store.people(#Predicate { $0.persistentModelID == ada }) == ["Ada"])
    #expect(try store.people(#Predicate { $0.persistentModelID != ada }) == ["Adrian", "Grace"])
    #expect(try store.people(#Predicate { $0.persistentModelID == unknown }).isEmpty)
    #expect(try store.people(#Predicate { $0.persistentModelID != unknown }).count == 3)
    #expect(try store.papers(#Predicate { $0.author?.persistentModelID == ada }) == ["Engine", "Notes"])
    #expect(try store.papers(#Predicate { $0.author?.persistentModelID == unknown }).isEmpty)
    #expect(try store.papers(#Predicate { $0.author?.persistentModelID != ada }) == ["Cobol", "Loose"])
    #expect(try store.papers(#Predicate { $0.author?.persistentModelID == nil }) == ["Loose"])
    #expect(try store.papers(#Predicate { $0.author?.boss?.persistentModelID == ada }) == ["Cobol"])
    let none: FaceID? = nil
    #expect(try store.papers(#Predicate { $0.author?.persistentModelID == none }) == ["Loose"])
    let ids = [ada, unknown, FaceID(text: "grace")]
    #expect(try store.people(#Predicate { ids.contains($0.persistentModelID) }) == ["Ada", "Grace"])
    let set = Set(ids)
    #expect(try store.people(#Predicate { set.contains($0.persistentModelID) }) == ["Ada", "Grace"])
    let optional: [FaceID?] = [nil, ada]
    #expect(
      try store.papers(#Predicate { optional.contains($0.author.flatMap { $0.persistentModelID }) }) == [
        "Engine", "Loose", "Notes",
      ])
    let engine = FaceID(text: "engine")
    #expect(try store.people(#Predicate { $0.papers.contains { $0.persistentModelID == engine } }) == ["Ada"])
    #expect(
      try store.people(#Predicate { $0.papers.filter { $0.persistentModelID != engine }.count == 1 })
        == ["Ada", "Grace"])
  }

  @Test(arguments: [true, false]) func classes(isSaved: Bool) throws {
    let store = try FaceStore(isSaved: isSaved)
    #expect(try store.papers(#Predicate { $0 is FaceThesis }) == ["Notes"])
    #expect(try store.papers(#Predicate { !($0 is FaceThesis) && $0.pages > 5 }) == ["Cobol", "Engine"])
    let school = "Home"
    #expect(try store.papers(#Predicate { ($0 as? FaceThesis)?.school == school }) == ["Notes"])
    #expect(try store.papers(#Predicate { ($0 as? FaceThesis)?.title == "Engine" }).isEmpty)
    #expect(try store.people(#Predicate { $0.papers.contains { $0 is FaceThesis } }) == ["Ada"])
    #expect(try store.people(#Predicate { $0.papers.contains { ($0 as? FaceThesis)?.school == school } }) == ["Ada"])
    #expect(try store.people(#Predicate { $0.papers.filter { !($0 is FaceThesis) }.count == 1 }) == ["Ada", "Grace"])
    #expect(try store.papers(author(is: FacePerson.self)) == ["Cobol", "Engine", "Notes"])
  }

  /// Temporary identifiers are equal to nothing that the store holds, and are compared in memory.
  @Test func identifiersOfUnsavedObjects() throws {
    let store = try FaceStore(isSaved: false)
    let ada = FaceID(text: "ada")
    let predicate = try FetchPredicate(#Predicate<FacePerson> { $0.persistentModelID == ada }, naming: store.naming)
    #expect(predicate == (try FetchPredicate(format: "SELF == %@", store.naming.objects[ada])))
    #expect(predicate.inMemory != predicate.inStore)
    let saved = try FaceStore(isSaved: true)
    let other = try FetchPredicate(#Predicate<FacePerson> { $0.persistentModelID == ada }, naming: saved.naming)
    #expect(other == (try FetchPredicate(format: "SELF == %@", saved.naming.objects[ada])))
    #expect(other.inMemory == other.inStore && other.homes != ObjectHomes())
    #expect(FetchPredicate.and([predicate, other]).homes == other.homes)
  }

  /// `#Predicate` refuses `evaluate(_:)` off Apple's platforms; the parts that it would make exist.
  @Test(arguments: [true, false]) func evaluatedExpressions(isSaved: Bool) throws {
    typealias Parts = PredicateExpressions
    let store = try FaceStore(isSaved: isSaved)
    let length = #Expression<FacePerson, Int> { $0.name.count + 1 }
    let longPapers = #Expression<FacePerson, Int, Int> { person, limit in
      person.papers.filter { $0.pages > limit }.count
    }
    let person = Parts.Variable<FacePerson>()
    func people(_ expression: any PredicateExpression) throws -> [String] {
      var translator = PredicateTranslator(object: person.key, naming: store.naming)
      return try store.people(FetchPredicate(try translator.translate(expression).condition))
    }
    let short = Parts.build_Equal(
      lhs: Parts.build_evaluate(Parts.build_Arg(length), person), rhs: Parts.build_Arg(4))
    #expect(try people(short) == ["Ada"])
    // The same expression twice, each time with another limit.
    let oneMore = Parts.build_Equal(
      lhs: Parts.build_evaluate(Parts.build_Arg(longPapers), person, Parts.build_Arg(50)),
      rhs: Parts.build_Arithmetic(
        lhs: Parts.build_evaluate(Parts.build_Arg(longPapers), person, Parts.build_Arg(5)), rhs: Parts.build_Arg(1),
        op: .subtract))
    #expect(try people(oneMore) == ["Ada", "Grace"])
  }

  /// Predicates with variables of their own, joined, and one of them asked of a related object.
  @Test(arguments: [true, false]) func joinedPredicates(isSaved: Bool) throws {
    typealias Parts = PredicateExpressions
    let store = try FaceStore(isSaved: isSaved)
    let old = #Predicate<FacePerson> { $0.age > 40 }
    let nicknamed = #Predicate<FacePerson> { $0.nickname != nil }
    let both = Face { person in
      Parts.build_Conjunction(
        lhs: EvaluatedPredicate(old, of: person), rhs: EvaluatedPredicate(nicknamed, of: person))
    }
    #expect(try store.people(both) == ["Adrian"])
    let neither = Face { person in Parts.build_Negation(EvaluatedPredicate(both, of: person)) }
    #expect(try store.people(neither) == ["Ada", "Grace"])
    let byOld = FoundationPredicate<FacePaper> { paper in
      Parts.build_Equal(
        lhs: Parts.build_flatMap(Parts.build_KeyPath(root: paper, keyPath: \.author)) { author in
          EvaluatedPredicate(old, of: author)
        }, rhs: Parts.build_Arg(true as Bool?))
    }
    #expect(try store.papers(byOld) == ["Cobol"])
    let ada = FacePerson("ada")
    (ada.age, ada.nickname) = (50, "Ed")
    #expect(try both.evaluate(ada))
  }

  @Test func whatIsRefused() throws {
    let store = try FaceStore(isSaved: true)
    func refused(_ predicate: Face, _ text: String) {
      let error = cambiumError { _ = try store.people(predicate) }
      #expect(
        error?.code == .invalidPredicate && error?.message.contains(text) == true, "\(error?.description ?? "none")")
    }
    refused(#Predicate { $0.initials == "A" }, "compare 'name'")
    refused(#Predicate { $0.name.hashValue == 1 }, "has no name in the model")
    let address = FaceAddress(city: "York")
    refused(#Predicate { $0.address == address }, "captures a FaceAddress")
    refused(#Predicate { $0.name.contains { $0 == $0 } }, "characters of a text")
  }
}

// The compiler warns of a test whose outcome it knows.
private func author<T: AnyObject>(is type: T.Type) -> FoundationPredicate<FacePaper> { #Predicate { $0.author is T } }
