/// A version of an application's schema. SwiftData: `VersionedSchema`.
///
///     enum Version1: VersionedSchema {
///       static let versionIdentifier = Schema.Version(1, 0, 0)
///       static var models: [any PersistentModel.Type] { [Trip.self] }
///       @Model final class Trip { … }
///     }
///
/// Nest a copy of each class in the version, as it was then. A class that several versions list has the properties of
/// today in all of them.
public protocol VersionedSchema: SendableMetatype {
  /// The classes. Those that they lead to need not be listed.
  static var models: [any PersistentModel.Type] { get }
  /// The version. Stores keep it, and an application of a lower version cannot drop what a higher one has added.
  static var versionIdentifier: Schema.Version { get }
}
