import Cambium
import Foundation

/// The models that a container has. SwiftData: `Schema`.
///
/// A schema contains the classes that it is made of, and those that they lead to by relationships or inherit from.
public final class Schema: Sendable, CustomDebugStringConvertible {
  /// A version of a schema.
  public struct Version: Codable, Comparable, CustomStringConvertible, Hashable, Sendable {
    /// The first number.
    public let major: Int
    /// The second number.
    public let minor: Int
    /// The third number.
    public let patch: Int

    /// A version of three numbers.
    public init(_ major: Int, _ minor: Int, _ patch: Int) {
      (self.major, self.minor, self.patch) = (major, minor, patch)
    }

    /// Whether a version is earlier than another one.
    public static func < (a: Version, b: Version) -> Bool {
      (a.major, a.minor, a.patch) < (b.major, b.minor, b.patch)
    }

    /// The numbers with dots between.
    public var description: String { "\(major).\(minor).\(patch)" }
  }

  /// The version of the form in which ``save(to:)`` writes.
  public static let schemaEncodingVersion = Version(1, 0, 0)

  /// The version.
  public let version: Version
  /// The version of the form in which ``save(to:)`` writes.
  public let encodingVersion = Schema.schemaEncodingVersion
  /// The models, in the order of their names. Empty if the classes make no schema; the container says why.
  public let entities: [Entity]
  let classes: [ModelClass]
  /// The model of the object graph, or why there is none.
  let compiled: Result<ManagedObjectModel, any Error>

  /// A schema without models.
  public convenience init() { self.init([] as [any PersistentModel.Type]) }

  /// A schema of classes.
  public convenience init(_ types: any PersistentModel.Type..., version: Version = Version(1, 0, 0)) {
    self.init(types, version: version)
  }

  /// A schema of the classes of a version of the application; see ``SchemaMigrationPlan``.
  public convenience init(versionedSchema: any VersionedSchema.Type) {
    self.init(versionedSchema.models, version: versionedSchema.versionIdentifier)
  }

  /// A schema of classes.
  public convenience init(_ types: [any PersistentModel.Type], version: Version = Version(1, 0, 0)) {
    self.init(types, version: version) { model in _ = try model.schema() }
  }

  /// - Parameter check: Compiles the model, and may change it before.
  init(_ types: [any PersistentModel.Type], version: Version, check: (ManagedObjectModel) throws -> Void) {
    self.version = version
    let classes = ModelClass.reachable(from: types.map { ModelClass.of($0) })
    self.classes = classes
    compiled = Result {
      let model = try Self.model(of: classes, version)
      try check(model)
      return model
    }
    entities = ((try? compiled.get()) == nil ? [] : Entity.all(of: classes)).sorted { $0.name < $1.name }
  }

  /// Makes a model of the object graph, for one container.
  ///
  /// - Parameters:
  ///   - version: The version that stores note down, if it is another than the schema's.
  ///   - namesClasses: Whether the objects are rows of models. If not, another stack fixes their classes.
  func makeModel(version: Version? = nil, namesClasses: Bool = true) throws -> ManagedObjectModel {
    let model = try Self.model(of: classes, version ?? self.version)
    if !namesClasses { for entity in model.entities { entity.forgetClass() } }
    return model
  }

  private static func model(of classes: [ModelClass], _ version: Version) throws -> ManagedObjectModel {
    let model = try SchemaCompiler.model(of: classes)
    model.versionIdentifiers = ["\(version)"]
    return model
  }

  /// The models by name.
  public var entitiesByName: [String: Entity] {
    Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The model of a class; `nil` if the schema lacks it.
  public func entity<T: PersistentModel>(for type: T.Type) -> Entity? {
    guard classes.contains(where: { $0.typeID == ObjectIdentifier(type) }) else { return nil }
    return entitiesByName[Schema.entityName(for: type)]
  }

  /// The name of a class's model: that of the class, without what it is nested in.
  public static func entityName<T: PersistentModel>(for type: T.Type) -> String { "\(type)" }

  /// Writes the schema as JSON, in the form in which `ManagedObjectModel` of `Cambium` is encoded.
  ///
  ///     let model = try JSONDecoder().decode(ManagedObjectModel.self, from: Data(contentsOf: url))
  ///
  /// The tool `cambium` does not read JSON. It reads the model of a store, and the file that
  /// `ManagedObjectModel.writeXcodeModel(to:)` writes.
  ///
  /// - Throws: why the classes make no schema; what writing the file throws.
  public func save(to toURL: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(try compiled.get()).write(to: toURL)
  }

  /// The version and the names of the models.
  public var debugDescription: String { "Schema \(version): \(entities.map { $0.name }.joined(separator: ", "))" }
}

extension Schema: Hashable {
  /// Whether both store the same models alike, and have the same version.
  public static func == (a: Schema, b: Schema) -> Bool { a === b || a.version == b.version && a.checksum == b.checksum }

  /// Hashes the version and how models are stored.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(version)
    hasher.combine(checksum)
  }

  /// How the models are stored; nil if the classes make no schema.
  var checksum: String? { try? compiled.get().versionChecksum }
}
