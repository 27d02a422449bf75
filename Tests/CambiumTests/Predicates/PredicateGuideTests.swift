import Cambium
import Foundation
import Testing

/// Format strings of the kinds that Core Data's predicate guides show: each is read, printed, read back as the same,
/// asked of a store, and answered as for the objects in memory.
@Suite struct PredicateGuideTests {
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Person") {
        Attribute("firstName", .string)
        Attribute("lastName", .string)
        Attribute("birthday", .date)
        Attribute("age", .integer16)
        Attribute("salary", .double)
        Attribute("isActive", .boolean)
        Attribute("like", .string)
        ToOne("department", "Department", inverse: "employees")
        ToOne("parent", "Person", inverse: "children")
        ToMany("children", "Person", inverse: "parent")
        Index("byLastName", "lastName")
        Index("byAge", "age")
      }
      Entity("Department") {
        Attribute("name", .string)
        Attribute("cost", .decimal)
        ToMany("employees", "Person", inverse: "department")
      }
    }
  }

  /// Of people: the format, its arguments, and whose first names it finds.
  private static let people: [(String, [any Sendable], [String])] = [
    (#"lastName like[cd] "s*" AND birthday > %@"#, [Date(timeIntervalSinceReferenceDate: 100)], ["Ben", "Zoë"]),
    ("(lastName like[cd] %@) AND (birthday > %@)", ["s*", Date(timeIntervalSinceReferenceDate: 100)], ["Ben", "Zoë"]),
    ("%K like %@", ["firstName", "M*"], ["Matt", "Melissa"]),
    ("firstName == 'Ben'", [], ["Ben"]), ("firstName = \"Ben\"", [], ["Ben"]), ("'Ben' == firstName", [], ["Ben"]),
    ("firstName != 'Ben'", [], ["Matt", "Melissa", "Nick", "Zoë"]), ("firstName <> 'Ben' && age => 40", [], ["Nick"]),
    ("firstName beginswith 'M'", [], ["Matt", "Melissa"]), ("firstName BEGINSWITH[cd] 'zoe'", [], ["Zoë"]),
    ("firstName contains[c] 'EL'", [], ["Melissa"]), ("firstName endswith 'tt'", [], ["Matt"]),
    ("firstName like '?ick'", [], ["Nick"]), ("firstName matches '[BN].*'", [], ["Ben", "Nick"]),
    ("firstName IN {'Ben', 'Melissa', 'Nick'}", [], ["Ben", "Melissa", "Nick"]),
    ("firstName IN %@", [["Ben", "Zoë"]], ["Ben", "Zoë"]),
    ("NOT (firstName IN %@)", [["Ben", "Zoë", "Nick"]], ["Matt", "Melissa"]),
    ("age BETWEEN {10, 33}", [], ["Ben", "Zoë"]), ("age between %@", [[30, 50]], ["Ben", "Nick"]),
    ("1 BETWEEN {0, 33}", [], ["Ben", "Matt", "Melissa", "Nick", "Zoë"]),
    ("age >= %d AND age <= %d", [30, 50], ["Ben", "Nick"]), ("salary > %f", [2000.5], ["Nick"]),
    ("salary == nil", [], ["Zoë"]), ("salary == NULL OR lastName = nil", [], ["Nick", "Zoë"]),
    ("isActive == YES", [], ["Ben", "Matt"]), ("isActive = true", [], ["Ben", "Matt"]),
    ("isActive == FALSE", [], ["Melissa", "Nick", "Zoë"]), ("!(isActive == YES)", [], ["Melissa", "Nick", "Zoë"]),
    ("department.name like 'Work*'", [], ["Ben", "Nick"]), ("department.name matches 'Work.*'", [], ["Ben", "Nick"]),
    ("ANY children.firstName like 'Matt'", [], ["Ben"]), ("SOME children.age < 12", [], ["Ben", "Nick"]),
    ("ALL children.age > 4", [], ["Ben", "Matt", "Melissa", "Zoë"]),
    ("NONE children.age > 4", [], ["Matt", "Melissa", "Nick", "Zoë"]),
    ("children.@count > 1", [], ["Ben"]), ("children.@avg.age > 5", [], ["Ben"]),
    ("children.@min.age == 3", [], ["Nick"]), ("children.@sum.age + 1 == 14", [], ["Ben"]),
    ("SUBQUERY(children, $c, $c.age > 5 AND $c.firstName BEGINSWITH 'M').@count == 1", [], ["Ben"]),
    ("TRUEPREDICATE", [], ["Ben", "Matt", "Melissa", "Nick", "Zoë"]), ("FALSEPREDICATE", [], []),
    ("#like == 'x'", [], ["Melissa"]), ("%K == 'x'", ["like"], ["Melissa"]),
    ("lastName == \"O'Neil\"", [], ["Melissa"]), (#"lastName == 'O\'Neil'"#, [], ["Melissa"]),
    ("age * 2 == 62", [], ["Ben"]), ("age ** 2 > 2000", [], ["Nick"]), ("(age + 9) / 2.0 == 20", [], ["Ben"]),
    ("modulus:by:(age, 2) == 0", [], ["Matt"]), ("uppercase(firstName) == 'BEN'", [], ["Ben"]),
    ("birthday < CAST(100, 'NSDate')", [], ["Matt", "Melissa", "Nick"]),
    ("birthday < '2001-01-01T00:01:40Z'", [], ["Matt", "Melissa", "Nick"]),
    ("birthday >= %@", ["2001-01-01T01:01:40+01:00"], ["Ben", "Zoë"]), ("'2001-01-02' <= birthday", [], []),
    ("TERNARY(isActive == YES, age, 0) > 7", [], ["Ben", "Matt"]),
    ("age == max({31, 8})", [], ["Ben"]), ("age > 1e1 AND age < 0x20", [], ["Ben", "Zoë"]),
    ("SELF == SELF AND firstName ==[c] 'ben'", [], ["Ben"]),
    (#"lastName like[c] "S*""#, [], ["Ben", "Matt"]), ("lastName like[c] 'S*'", [], ["Ben", "Matt"]),
    ("isActive == %@", [true], ["Ben", "Matt"]), ("birthday == nil", [], []),
    ("salary >= 1000 and salary < 1000000", [], ["Ben", "Nick"]), ("%K IN %@", ["age", [5, 8]], ["Matt", "Melissa"]),
    ("%K == %@", ["lastName", "Smith"], ["Ben", "Matt"]), ("%K != nil", ["department"], ["Ben", "Nick", "Zoë"]),
    ("ANY children.age > 7", [], ["Ben"]), ("NOT (ANY children.age > 7)", [], ["Matt", "Melissa", "Nick", "Zoë"]),
    ("ANY %K.%K CONTAINS %@", ["children", "firstName", "liss"], ["Ben"]),
    ("ANY children.firstName IN %@", [["Tom"]], ["Nick"]),
    ("SUBQUERY(children, $child, $child.age > 4 AND $child.lastName = 'Smith').@count > 0", [], ["Ben"]),
    ("SUBQUERY(%K, $c, $c.isActive = %@).@count != 0", ["children", true], ["Ben"]),
    ("department.employees.@count == 2", [], ["Ben", "Nick"]),
    ("children.@max.age - children.@min.age == 3", [], ["Ben"]),
    ("0 < children.@count AND children.@count <= 1", [], ["Nick"]), ("children[SIZE] = 2", [], ["Ben"]),
    ("parent.parent == nil AND parent != nil", [], ["Matt", "Melissa"]),
    ("parent.firstName == 'Ben'", [], ["Matt", "Melissa"]),
    ("firstName MATCHES[c] '(ben|nick)'", [], ["Ben", "Nick"]), ("lastName contains \"'\"", [], ["Melissa"]),
    ("firstName >= 'M' && firstName < 'N'", [], ["Matt", "Melissa"]),
    ("FUNCTION(age, 'add:to:', 1) == 32", [], ["Ben"]),
    ("age in {5, 8} or not (age between {1, 30})", [], ["Ben", "Matt", "Melissa", "Nick"]),
    ("add:to:(age, 1) == 0b1001", [], ["Matt"]), ("age == 0o37", [], ["Ben"]),
    ("CAST(age, 'NSString') LIKE '?1'", [], ["Ben", "Zoë"]),
    ("sum(age, 1) == 32", [], ["Ben"]), ("average({age, 1}) == 16", [], ["Ben"]), ("sqrt(age) > 6", [], ["Nick"]),
    ("lowercase(firstName) ENDSWITH 'a'", [], ["Melissa"]), ("length(firstName) == 7", [], ["Melissa"]),
    ("birthday < now()", [], ["Ben", "Matt", "Melissa", "Nick", "Zoë"]),
    ("department.name ==[c] 'OFFICE'", [], ["Zoë"]),
    ("firstName ==[cd] 'zoe'", [], ["Zoë"]), ("firstName ==[n] 'Ben'", [], ["Ben"]),
    ("department.cost > 5 AND NONE children.age == 5", [], ["Nick"]), ("-age == -31", [], ["Ben"]),
  ]

  private let directory: TemporaryDirectory
  private let context: ManagedObjectContext

  init() throws {
    directory = try TemporaryDirectory()
    context = try directory.container(model: Self.model()).viewContext
    let works = try context.make("Department", ["name": "Workshop", "cost": Decimal(10)])
    let office = try context.make("Department", ["name": "Office"])
    func person(_ name: String, _ last: String?, _ age: Int, _ salary: Double?, born: Double, _ more: [String: Any])
      throws
      -> ManagedObject
    {
      var values = more
      values["firstName"] = name
      values["lastName"] = last
      values["age"] = age
      values["salary"] = salary
      values["birthday"] = Date(timeIntervalSinceReferenceDate: born)
      values["isActive"] = more["isActive"] ?? false
      return try context.make("Person", values)
    }
    let ben = try person("Ben", "Smith", 31, 1000, born: 150, ["isActive": true, "department": works])
    _ = try person("Matt", "Smith", 8, 0, born: 50, ["isActive": true, "parent": ben])
    _ = try person("Melissa", "O'Neil", 5, 0, born: 20, ["parent": ben, "like": "x"])
    let nick = try person("Nick", nil, 45, 3000, born: 10, ["department": works])
    _ = try person("Zoë", "Šmid", 21, nil, born: 200, ["department": office])
    _ = try person("Tom", "Toms", 3, 0, born: 300, ["parent": nick])
    try context.save()
  }

  @Test(arguments: people.indices)
  func asked(_ place: Int) throws {
    let (asked, arguments, expected) = Self.people[place]
    // Tom is there so that there is something not to be found.
    let format = "(\(asked)) AND firstName != 'Tom'"
    let predicate = try FetchPredicate(format: format, argumentArray: arguments)
    let again = try FetchPredicate(format: predicate.predicateFormat)
    #expect(again == predicate, "\(predicate.predicateFormat)")
    let request = FetchRequest<ManagedObject>(entityName: "Person")
    let all = try context.fetch(request)
    request.predicate = predicate
    func names(_ objects: [ManagedObject]) -> [String] {
      objects.compactMap { $0.value(forKey: "firstName") as? String }.sorted()
    }
    #expect(names(try context.fetch(request)) == expected.sorted(), "\(format)")
    #expect(names(try all.filter { try predicate.evaluate(with: $0) }) == expected.sorted(), "\(format), in memory")
  }

  @Test func templatesWithVariables() throws {
    let template = try FetchPredicate(format: "lastName == $LAST AND age BETWEEN {$LOWER, $UPPER}")
    let predicate = try template.withSubstitutionVariables(["LAST": "Smith", "LOWER": 0, "UPPER": 10])
    let request = FetchRequest<ManagedObject>(entityName: "Person")
    request.predicate = predicate
    #expect(try context.fetch(request).map { $0.value(forKey: "firstName") as? String } == ["Matt"])
  }
}
