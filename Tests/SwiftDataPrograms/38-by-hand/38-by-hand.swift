// What some write by hand: accessors with initializers of their own, a subclass without the macro, transformers, coded values, and what
// a class was called in an earlier version.
// Expected output:
//   initialized by hand: closed 2, raw 2
//   set by hand: open 1
//   stored: [1]
//   told: true
//   subclass: 4, fetched as Account
//   transformed: #0a0bff, none nil
//   coded: true, not a composite: true
//   storage: Account, temporary: true
//   metadata: 4 properties and more
//   renamed: ["first", "second"] 7 new
//   errors differ: true, described: SwiftDataError.unsupportedPredicate
//   in a set: 2
import Cambium
import CambiumSwiftData
import Foundation
import Synchronization

enum Status: Int { case open = 1, closed = 2 }

struct Color: Equatable {
  var components: [UInt8]
  var text: String { "#" + components.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

struct ColorTransformer: AttributeTransformer {
  func data(from value: Any) throws -> Data { Data((value as? Color)?.components ?? []) }
  func value(from data: Data) throws -> Any { Color(components: Array(data)) }
}

struct Point: Codable, Equatable {
  var x: Int
  var y: Int
}

@Model class Account {
  private var rawStatus: Int
  @Attribute(.transformable(by: "ColorTransformer")) var color: Color?
  @Attribute(.codable) var point: Point
  @Relationship(.unique, originalName: "mate", hashModifier: "1") var partner: Account?

  var status: Status {
    @storageRestrictions(accesses: _$backingData, initializes: _rawStatus)
    init(initialValue) {
      _$backingData.setValue(forKey: \.rawStatus, to: initialValue.rawValue)
      _rawStatus = _SwiftDataNoType()
    }
    get {
      _$observationRegistrar.access(self, keyPath: \.status)
      return Status(rawValue: getValue(forKey: \.rawStatus)) ?? .open
    }
    set {
      _$observationRegistrar.withMutation(of: self, keyPath: \.status) {
        setValue(forKey: \.rawStatus, to: newValue.rawValue)
      }
    }
  }

  init(status: Status) {
    self.point = Point(x: 0, y: 0)
    self.status = status
  }

  static var byStatus: KeyPath<Account, Int> & Sendable { \.rawStatus }
}

/// Lives in memory only: the store has its superclass.
final class Draft: Account {
  var note = "draft"

  override init(status: Status) { super.init(status: status) }
  required init(backingData: any BackingData<Account.Root>) { super.init(backingData: backingData) }
}

enum V1 {
  @Model final class Entry {
    var text: String
    init(text: String) { self.text = text }
  }
}

enum V2 {
  @Model(originalName: "Entry") final class LogLine {
    @Attribute(originalName: "text") var message: String
    var level: Int = 3 + 4
    var kind: String? = "new"
    init(message: String) { self.message = message }
  }
}

@main struct Main {
  static func main() throws {
    AttributeTransformers.register(ColorTransformer(), forName: "ColorTransformer")
    let container = try ModelContainer(
      for: Account.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let account = Account(status: .closed)
    print(
      "initialized by hand: \(account.status) \(account.status.rawValue), raw \(account[keyPath: Account.byStatus])")
    account.status = .open
    print("set by hand: \(account.status) \(account[keyPath: Account.byStatus])")
    context.insert(account)
    account.color = Color(components: [10, 11, 255])
    account.point.x = 5
    try context.save()
    let other = ModelContext(container)
    print("stored:", try other.values(of: Account.byStatus, FetchDescriptor<Account>()))
    let isTold = Mutex(false)
    withObservationTracking {
      _ = account.status
    } onChange: {
      isTold.withLock { $0 = true }
    }
    account.status = .closed
    print("told:", isTold.withLock { $0 })

    let draft = Draft(status: .open)
    draft.point = Point(x: 4, y: 0)
    other.insert(draft)
    try other.save()
    let four = try ModelContext(container).fetch(FetchDescriptor<Account>()).first { $0.point.x == 4 }
    print("subclass: \(draft.point.x), fetched as \(four.map { "\(type(of: $0))" } ?? "nothing")")

    let again = try ModelContext(container).fetch(FetchDescriptor<Account>()).first { $0.point.x == 5 }
    let color: Color? = again?.getTransformableValue(forKey: \.color)
    print("transformed: \(color?.text ?? "nil"), none \(four?.color?.text ?? "nil")")
    again?.setTransformableValue(forKey: \.color, to: Color(components: [1]))
    let entity = container.schema.entity(for: Account.self)
    let point = entity?.attributesByName["point"]
    print("coded: \(point?.isCodable ?? false), not a composite: \(!(point is Schema.CompositeAttribute))")
    let fresh = Account(status: .open)
    let storage = fresh.persistentBackingData
    let identifier = storage.persistentModelID
    print("storage: \(identifier?.entityName ?? "-"), temporary: \(identifier?.storeIdentifier == nil)")
    print("metadata: \(Account.schemaMetadata.count) properties", "and more")

    try migrate()

    let kinds: Set<SwiftDataError> = [.unsupportedPredicate, .unknownSchema, .unsupportedPredicate]
    print(
      "errors differ: \(SwiftDataError.unknownSchema != .unsupportedKeyPath), described: \(SwiftDataError.unsupportedPredicate)"
    )
    print("in a set:", kinds.count)
  }

  static func migrate() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "log-\(UUID().uuidString).store")
    defer { try? FileManager.default.removeItem(at: url) }
    do {
      let context = ModelContext(try ModelContainer(for: V1.Entry.self, configurations: ModelConfiguration(url: url)))
      for text in ["first", "second"] { context.insert(V1.Entry(text: text)) }
      try context.save()
    }
    let context = ModelContext(try ModelContainer(for: V2.LogLine.self, configurations: ModelConfiguration(url: url)))
    let lines = try context.fetch(FetchDescriptor<V2.LogLine>(sortBy: [SortDescriptor(\.message)]))
    print("renamed: \(lines.map(\.message)) \(lines[0].level) \(lines[0].kind ?? "nil")")
  }
}
