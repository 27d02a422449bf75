import Foundation

/// Where a store of a container is, and which models it has. SwiftData: `ModelConfiguration`.
///
///     ModelConfiguration(isStoredInMemoryOnly: true)
///     ModelConfiguration("Archive", schema: Schema([Trip.self]))
///     ModelConfiguration(url: folder.appendingPathComponent("Trips.store"))
///
/// Without a URL the store is `<name>.store`, or `default.store`, in a folder of the application's own:
/// ``defaultDirectory``. SwiftData's is shared by all applications of a Mac that have no sandbox.
public struct ModelConfiguration: Hashable, Sendable, Identifiable {
  /// The folder of an application group. Without effect.
  public struct GroupContainer: Hashable, Sendable {
    private let name: String
    /// The application's own folder.
    public static let automatic = GroupContainer(name: "automatic")
    /// No group.
    public static let none = GroupContainer(name: "none")
    /// A group.
    public static func identifier(_ identifier: String) -> GroupContainer { GroupContainer(name: identifier) }
  }

  /// A database in the cloud. Without effect: nothing is synchronized.
  public struct CloudKitDatabase: Hashable, Sendable {
    private let name: String
    /// None, because there is no cloud.
    public static let automatic = CloudKitDatabase(name: "automatic")
    /// None.
    public static let none = CloudKitDatabase(name: "none")
    /// None, whatever the name.
    public static func `private`(_ name: String) -> CloudKitDatabase { CloudKitDatabase(name: name) }
  }

  /// The name; empty for the default store.
  public let name: String
  /// The file. `/dev/null` for a store in memory.
  public let url: URL
  /// The models that the store has; `nil` for all of the container's that no other configuration has.
  public var schema: Schema?
  /// Whether the store is in memory only, and gone with the container.
  public let isStoredInMemoryOnly: Bool
  /// Whether the store may be written.
  public let allowsSave: Bool
  /// Without effect.
  public let groupContainer: GroupContainer
  /// Without effect.
  public let cloudKitDatabase: CloudKitDatabase
  private let hasOwnURL: Bool

  /// The file.
  public var id: URL { url }
  /// None: there are no groups.
  public var groupAppContainerIdentifier: String? { nil }
  /// None: there is no cloud.
  public var cloudKitContainerIdentifier: String? { nil }

  private init(
    name: String?, schema: Schema?, url: URL?, isStoredInMemoryOnly: Bool, allowsSave: Bool,
    groupContainer: GroupContainer, cloudKitDatabase: CloudKitDatabase
  ) {
    self.name = name ?? ""
    self.schema = schema
    self.isStoredInMemoryOnly = isStoredInMemoryOnly
    self.allowsSave = allowsSave
    self.groupContainer = groupContainer
    self.cloudKitDatabase = cloudKitDatabase
    hasOwnURL = url != nil
    let file = "\(name.flatMap { $0.isEmpty ? nil : $0 } ?? "default").store"
    self.url =
      isStoredInMemoryOnly
      ? URL(fileURLWithPath: "/dev/null") : url ?? Self.defaultDirectory.appendingPathComponent(file)
  }

  /// The default store, or one in memory.
  public init(isStoredInMemoryOnly: Bool = false) {
    self.init(
      name: nil, schema: nil, url: nil, isStoredInMemoryOnly: isStoredInMemoryOnly, allowsSave: true,
      groupContainer: .automatic, cloudKitDatabase: .automatic)
  }

  /// A store for some classes.
  public init(for forTypes: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
    self.init(
      name: nil, schema: Schema(forTypes), url: nil, isStoredInMemoryOnly: isStoredInMemoryOnly, allowsSave: true,
      groupContainer: .automatic, cloudKitDatabase: .automatic)
  }

  /// A store with a name.
  public init(
    _ name: String? = nil, schema: Schema? = nil, isStoredInMemoryOnly: Bool = false, allowsSave: Bool = true,
    groupContainer: GroupContainer = .automatic, cloudKitDatabase: CloudKitDatabase = .automatic
  ) {
    self.init(
      name: name, schema: schema, url: nil, isStoredInMemoryOnly: isStoredInMemoryOnly, allowsSave: allowsSave,
      groupContainer: groupContainer, cloudKitDatabase: cloudKitDatabase)
  }

  /// A store in a file.
  public init(
    _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
    cloudKitDatabase: CloudKitDatabase = .automatic
  ) {
    self.init(
      name: name, schema: schema, url: url, isStoredInMemoryOnly: url.path == "/dev/null", allowsSave: allowsSave,
      groupContainer: .automatic, cloudKitDatabase: cloudKitDatabase)
  }

  /// The folder of stores without a URL of their own: one that is called like the executable, in the user's folder for
  /// the data of applications. On Linux this is `$XDG_DATA_HOME/<executable>`, or `~/.local/share/<executable>`. A
  /// container makes the folder.
  public static var defaultDirectory: URL {
    let process = ProcessInfo.processInfo
    let support: URL
    if let given = process.environment["XDG_DATA_HOME"], given.hasPrefix("/") {
      support = URL(fileURLWithPath: given, isDirectory: true)
    } else if let found = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first {
      support = found
    } else {
      support = FileManager.default.temporaryDirectory
    }
    return support.appendingPathComponent(process.processName, isDirectory: true)
  }

  /// Makes the folder of a store without a URL of its own, and checks the name.
  ///
  /// - Throws: ``SwiftDataError``; what making the folder throws.
  public func validate() throws {
    guard !isStoredInMemoryOnly else { return }
    if name.utf8.count > 249 {
      throw SwiftDataError(
        .configurationFileNameTooLong, "the configuration's name '\(name.prefix(40))…' is too long for a file")
    }
    if !hasOwnURL, name.contains("/") || name.contains("\0") || name == "." || name == ".." {
      throw SwiftDataError(
        .configurationFileNameContainsInvalidCharacters, "no file can be called like the configuration '\(name)'")
    }
    if !hasOwnURL {
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    }
  }
}

extension ModelConfiguration: CustomDebugStringConvertible {
  /// The name and the file.
  public var debugDescription: String {
    "ModelConfiguration \(name.isEmpty ? "default" : name): \(isStoredInMemoryOnly ? "in memory" : url.path)"
  }
}
