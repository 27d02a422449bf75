import Cambium
import Foundation

/// Names a model, in any context and process. SwiftData: `PersistentIdentifier`.
///
/// The identifier of a model is temporary until the model is saved, and is another one then.
public struct PersistentIdentifier: Sendable, Identifiable {
  /// Tells identifiers apart.
  public struct ID: Hashable, Sendable {
    fileprivate let store: String
    fileprivate let entity: String
    fileprivate let number: UInt64
  }

  private enum Source: Sendable {
    /// An object of a store.
    case object(ManagedObjectID)
    /// One that is not inserted yet, or was read from somewhere.
    case named(store: String?, entity: String, number: UInt64)
  }

  private let source: Source

  init(_ id: ManagedObjectID) { source = .object(id) }

  init(of row: ModelRow) {
    if row.isNew {
      source = .named(store: nil, entity: row.entity.name, number: row.newNumber)
    } else {
      source = .object(row.objectID)
    }
  }

  private init(store: String?, entity: String, number: UInt64) {
    source = .named(store: store, entity: entity, number: number)
  }

  private var number: UInt64 {
    switch source {
    case .object(let id): id.number
    case .named(_, _, let number): number
    }
  }

  private var isTemporary: Bool { number >= PersistentStoreCoordinator.firstTemporaryNumber }

  /// The name of the model.
  public var entityName: String {
    switch source {
    case .object(let id): id.entityName
    case .named(_, let entity, _): entity
    }
  }

  /// The identifier of the store; `nil` while this one is temporary.
  public var storeIdentifier: String? {
    if isTemporary { return nil }
    switch source {
    case .object(let id): return id.storeIdentifier
    case .named(let store, _, _): return store
    }
  }

  /// The same in another form.
  public var id: ID { ID(store: storeIdentifier ?? "", entity: entityName, number: number) }

  /// The identifier in the object graph of a container; nil if none of its stores can have the model.
  func objectID(in coordinator: PersistentStoreCoordinator) -> ManagedObjectID? {
    switch source {
    case .object(let id):
      return coordinator.persistentStores.contains { $0.identifier == id.storeIdentifier } ? id : nil
    case .named(let store?, let entity, let number):
      return coordinator.managedObjectID(store: store, entityName: entity, number: number)
    case .named(nil, _, _): return nil
    }
  }

  /// The identifier of a row of a store.
  ///
  /// - Parameter primaryKey: The number of the row.
  /// - Throws: ``SwiftDataError/unsupportedKeyPath`` for a key that is no number of a row.
  public static func identifier<T: Comparable & CustomStringConvertible & Codable & Hashable>(
    for storeIdentifier: String, entityName: String, primaryKey: T
  ) throws -> PersistentIdentifier {
    let text = primaryKey.description
    guard let number = UInt64(text.hasPrefix("p") ? String(text.dropFirst()) : text), number > 0,
      number < PersistentStoreCoordinator.firstTemporaryNumber
    else { throw SwiftDataError(.unsupportedKeyPath, "'\(text)' is no number of a row") }
    return PersistentIdentifier(store: storeIdentifier, entity: entityName, number: number)
  }
}

extension PersistentIdentifier: Hashable {
  /// Whether both name the same model.
  public static func == (a: PersistentIdentifier, b: PersistentIdentifier) -> Bool {
    if a.number != b.number { return false }
    if case .object(let first) = a.source, case .object(let second) = b.source { return first == second }
    // A temporary number is of one object of the process.
    return a.isTemporary || a.storeIdentifier == b.storeIdentifier && a.entityName == b.entityName
  }

  /// Hashes the number.
  public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

extension PersistentIdentifier: Comparable {
  /// By store, model and number, so that models of one class come in the order in which they were inserted.
  public static func < (a: PersistentIdentifier, b: PersistentIdentifier) -> Bool {
    (a.storeIdentifier ?? "", a.entityName, a.number) < (b.storeIdentifier ?? "", b.entityName, b.number)
  }
}

extension PersistentIdentifier: Codable {
  private struct Form: Codable { var implementation: Implementation }
  private struct Implementation: Codable {
    var primaryKey: String
    var uriRepresentation: String
    var isTemporary: Bool
    var storeIdentifier: String?
    var entityName: String
  }

  /// Reads what ``encode(to:)`` wrote. The identifier is equal to the one that was written, unless that was temporary
  /// and of another process.
  public init(from decoder: any Decoder) throws {
    let form = try Form(from: decoder).implementation
    guard let number = UInt64(form.primaryKey.dropFirst()), form.isTemporary || form.storeIdentifier != nil else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "'\(form.primaryKey)' is no key of a model"))
    }
    let first = PersistentStoreCoordinator.firstTemporaryNumber
    self.init(
      store: form.isTemporary ? nil : form.storeIdentifier, entity: form.entityName,
      number: form.isTemporary ? first | number : min(number, first - 1))
  }

  /// Writes the store, the name of the model and the number, under SwiftData's keys.
  public func encode(to encoder: any Encoder) throws {
    let first = PersistentStoreCoordinator.firstTemporaryNumber
    let key = isTemporary ? "t\(number - first)" : "p\(number)"
    let form = Form(
      implementation: Implementation(
        primaryKey: key, uriRepresentation: "x-cambium://\(storeIdentifier ?? "")/\(entityName)/\(key)",
        isTemporary: isTemporary, storeIdentifier: storeIdentifier, entityName: entityName))
    try form.encode(to: encoder)
  }
}

extension PersistentIdentifier: CustomStringConvertible {
  /// The name of the model and the number.
  public var description: String {
    "\(entityName)/\(isTemporary ? "t" : "p")\(number % PersistentStoreCoordinator.firstTemporaryNumber)"
  }
}
