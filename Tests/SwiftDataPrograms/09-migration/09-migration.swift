// Three versions: a rename with a new attribute (lightweight), then names made unique and a full name split (custom). The store is written
// by the first version's classes, and opened by the plan.
// Expected output:
//   V1: ["Ada Lovelace", "Ada Lovelace", "Grace Hopper"]
//   willMigrate sees 3 old, removes 1
//   didMigrate sees 2 new
//   V3: ["Ada Lovelace 0", "Grace Hopper 0"]
//   again: no stage runs, 2
//   backward: refused
//   a plan that lacks the store's version: refused
import CambiumSwiftData
import Foundation

enum V1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Person.self] }
  @Model final class Person {
    var name: String
    init(name: String) { self.name = name }
  }
}
enum V2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Person.self] }
  @Model final class Person {
    @Attribute(originalName: "name") var fullName: String
    var visits: Int = 0
    init(fullName: String) { self.fullName = fullName }
  }
}
enum V3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Person.self] }
  @Model final class Person {
    @Attribute(.unique) var fullName: String
    var visits: Int = 0
    var givenName: String = ""
    var familyName: String = ""
    init(fullName: String) { self.fullName = fullName }
  }
}
typealias Person = V3.Person

enum Plan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self, V3.self] }
  static var stages: [MigrationStage] { [toV2, toV3] }
  static let toV2 = MigrationStage.lightweight(fromVersion: V1.self, toVersion: V2.self)
  static let toV3 = MigrationStage.custom(fromVersion: V2.self, toVersion: V3.self) { context in
    let people = try context.fetch(FetchDescriptor<V2.Person>(sortBy: [SortDescriptor(\.fullName)]))
    var seen: Set<String> = []
    let doubles = people.filter { !seen.insert($0.fullName).inserted }
    print("willMigrate sees \(people.count) old, removes \(doubles.count)")
    for person in doubles { context.delete(person) }
    try context.save()
  } didMigrate: { context in
    let people = try context.fetch(FetchDescriptor<V3.Person>())
    print("didMigrate sees \(people.count) new")
    for person in people {
      let parts = person.fullName.split(separator: " ")
      (person.givenName, person.familyName) = (String(parts[0]), String(parts[1]))
    }
    try context.save()
  }
}
enum Amnesia: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
  static var stages: [MigrationStage] { [Plan.toV2] }
}

@main struct Main {
  static func main() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("corpus-09-\(UUID().uuidString).store")
    defer { try? FileManager.default.removeItem(at: url) }
    do {
      let old = try ModelContainer(for: Schema(versionedSchema: V1.self), configurations: ModelConfiguration(url: url))
      let context = ModelContext(old)
      for name in ["Ada Lovelace", "Ada Lovelace", "Grace Hopper"] { context.insert(V1.Person(name: name)) }
      try context.save()
      print("V1:", try context.fetch(FetchDescriptor<V1.Person>(sortBy: [SortDescriptor(\.name)])).map(\.name))
    }
    do {
      let new = try ModelContainer(
        for: Schema(versionedSchema: V3.self), migrationPlan: Plan.self, configurations: ModelConfiguration(url: url))
      let people = try ModelContext(new).fetch(
        FetchDescriptor<Person>(sortBy: [SortDescriptor(\.familyName, order: .reverse)]))
      print("V3:", people.map { "\($0.givenName) \($0.familyName) \($0.visits)" })
    }
    do {
      let new = try ModelContainer(
        for: Schema(versionedSchema: V3.self), migrationPlan: Plan.self, configurations: ModelConfiguration(url: url))
      print("again: no stage runs, \(try ModelContext(new).fetchCount(FetchDescriptor<Person>()))")
    }
    func opens(_ schema: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)?) -> Bool {
      (try? ModelContainer(
        for: Schema(versionedSchema: schema), migrationPlan: plan, configurations: ModelConfiguration(url: url))) != nil
    }
    print("backward:", opens(V1.self, Plan.self) ? "opened" : "refused")
    print("a plan that lacks the store's version:", opens(V2.self, Amnesia.self) ? "opened" : "refused")
  }
}
