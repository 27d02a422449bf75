// Settings and a catalog in stores of their own; the catalog is read only.
// Expected output:
//   default store: default.store in the application's folder: true
//   names: ["Catalog", "Settings"] in memory: false
//   two stores: true
//   the catalog cannot be written: true, and is as it was: Lamp
//   settings can: dark
//   files: ["Catalog.store", "Settings.store"]
//   same names: true, unknown class: true, long name: true, slash: true
//   a missing folder: true
//   not a store: true
//   erased: 0 products, 0 settings
//   memory: /dev/null, ids differ: false
//   equal: true, group: nil, cloud: nil
//   debug: ModelConfiguration Notes: in memory
import CambiumSwiftData
import Foundation

@Model final class Product {
  var name: String
  init(name: String) { self.name = name }
}

@Model final class Setting {
  @Attribute(.unique) var key: String
  var value: String
  init(_ key: String, _ value: String) {
    self.key = key
    self.value = value
  }
}

@Model final class Stranger {
  var name: String = ""
  init() {}
}

func throwing(_ wanted: SwiftDataError, _ body: () throws -> Void) -> Bool {
  do {
    try body()
    return false
  } catch wanted {
    return true
  } catch {
    return false
  }
}

@main struct Main {
  static func main() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "stores-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let unnamed = ModelConfiguration()
    let isOwn = unnamed.url.deletingLastPathComponent().path == ModelConfiguration.defaultDirectory.path
    print("default store: \(unnamed.url.lastPathComponent) in the application's folder: \(isOwn)")

    let full = Schema([Product.self, Setting.self], version: Schema.Version(1, 2, 0))
    func open(catalogIsWritable: Bool) throws -> ModelContainer {
      let catalog = ModelConfiguration(
        "Catalog", schema: Schema([Product.self]), url: folder.appending(path: "Catalog.store"),
        allowsSave: catalogIsWritable)
      let settings = ModelConfiguration(
        "Settings", schema: Schema([Setting.self]), url: folder.appending(path: "Settings.store"),
        cloudKitDatabase: .none)
      return try ModelContainer(for: full, configurations: catalog, settings)
    }
    do {
      let container = try open(catalogIsWritable: true)
      let context = ModelContext(container)
      let (lamp, theme) = (Product(name: "Lamp"), Setting("theme", "light"))
      context.insert(lamp)
      context.insert(theme)
      try context.save()
      let names = container.configurations.map(\.name).sorted()
      print("names: \(names) in memory: \(container.configurations.contains { $0.isStoredInMemoryOnly })")
      print("two stores:", lamp.persistentModelID.storeIdentifier != theme.persistentModelID.storeIdentifier)
    }
    do {
      let container = try open(catalogIsWritable: false)
      let context = ModelContext(container)
      let lamp = try context.fetch(FetchDescriptor<Product>())[0]
      lamp.name = "Desk"
      var isRefused = false
      do { try context.save() } catch { isRefused = true }
      context.rollback()
      print("the catalog cannot be written: \(isRefused), and is as it was: \(lamp.name)")
      let theme = try context.fetch(FetchDescriptor<Setting>(predicate: #Predicate { $0.key == "theme" }))[0]
      theme.value = "dark"
      try context.save()
      print("settings can:", try ModelContext(container).fetch(FetchDescriptor<Setting>())[0].value)
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".store") }
    print("files:", files.sorted())

    let sameNames = throwing(.duplicateConfiguration) {
      _ = try ModelContainer(
        for: Product.self, configurations: ModelConfiguration("a", isStoredInMemoryOnly: true),
        ModelConfiguration("a", isStoredInMemoryOnly: true))
    }
    let unknown = throwing(.configurationSchemaNotFoundInContainerSchema) {
      _ = try ModelContainer(
        for: Product.self, configurations: ModelConfiguration(for: Stranger.self, isStoredInMemoryOnly: true))
    }
    let long = throwing(.configurationFileNameTooLong) {
      _ = try ModelContainer(for: Product.self, configurations: ModelConfiguration(String(repeating: "n", count: 256)))
    }
    let slash = throwing(.configurationFileNameContainsInvalidCharacters) {
      _ = try ModelContainer(for: Product.self, configurations: ModelConfiguration("a/b"))
    }
    print("same names: \(sameNames), unknown class: \(unknown), long name: \(long), slash: \(slash)")
    let missing = throwing(.loadIssueModelContainer) {
      let url = folder.appending(path: "no/such/folder/a.store")
      _ = try ModelContainer(for: Product.self, configurations: ModelConfiguration(url: url))
    }
    print("a missing folder:", missing)
    let text = folder.appending(path: "text.store")
    try Data("This is no store. ".utf8).write(to: text)
    print(
      "not a store:",
      throwing(.loadIssueModelContainer) {
        _ = try ModelContainer(for: Product.self, configurations: ModelConfiguration(url: text))
      })

    let writable = try open(catalogIsWritable: true)
    try writable.erase()
    let left = ModelContext(writable)
    let counts = (
      try left.fetchCount(FetchDescriptor<Product>()), try left.fetchCount(FetchDescriptor<Setting>())
    )
    print("erased: \(counts.0) products, \(counts.1) settings")

    let memory = ModelConfiguration("Notes", isStoredInMemoryOnly: true, groupContainer: .identifier("group.x"))
    print("memory: \(memory.url.path), ids differ: \(memory.id != memory.url)")
    let isEqual = left.container == writable && ModelContext(writable) != left
    print(
      "equal: \(isEqual), group: \(memory.groupAppContainerIdentifier ?? "nil"),",
      "cloud: \(memory.cloudKitContainerIdentifier ?? "nil")")
    print("debug: \(String(reflecting: memory))")
  }
}
