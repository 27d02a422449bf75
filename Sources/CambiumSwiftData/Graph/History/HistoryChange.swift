import Cambium
import CambiumEngine

/// A change of one model in a transaction. SwiftData: `HistoryChange`.
///
///     for change in transaction.changes {
///       switch change {
///       case .insert(let insert as DefaultHistoryInsert<Trip>): show(insert.changedPersistentIdentifier)
///       case .update(let update as DefaultHistoryUpdate<Trip>): print(update.updatedAttributes.contains(\.name))
///       case .delete(let delete as DefaultHistoryDelete<Trip>): print(delete.tombstone[\.name] as? String ?? "")
///       default: break
///       }
///     }
public enum HistoryChange: Sendable {
  /// The model was inserted.
  case insert(any HistoryInsert)
  /// Properties of the model were changed.
  case update(any HistoryUpdate)
  /// The model was deleted.
  case delete(any HistoryDelete)

  /// The identifier of the model.
  public var changedPersistentIdentifier: PersistentIdentifier {
    switch self {
    case .insert(let change): change.changedPersistentIdentifier
    case .update(let change): change.changedPersistentIdentifier
    case .delete(let change): change.changedPersistentIdentifier
    }
  }

  init(_ change: PersistentHistoryChange, _ stores: ContainerStores) {
    func make<M: PersistentModel>(_ type: M.Type) -> HistoryChange {
      let place = ChangePlace(change)
      switch change.changeType {
      case .insert: return .insert(DefaultHistoryInsert<M>(place: place))
      case .update: return .update(DefaultHistoryUpdate<M>(place: place, names: change.updatedProperties ?? []))
      case .delete: return .delete(DefaultHistoryDelete<M>(place: place, kept: change.keptValues))
      }
    }
    // A container of fewer classes than the store has entities still reads all of the history.
    let known = stores.classes[change.changedObjectID.entityName]?.type
    self = known.map { make($0) } ?? make(NoModel.self)
  }
}

/// The place of a change in the history, and its model.
struct ChangePlace: Sendable {
  let changeIdentifier: Int64
  let transactionIdentifier: Int64
  let model: PersistentIdentifier

  init(_ change: PersistentHistoryChange) {
    changeIdentifier = change.changeID
    transactionIdentifier = change.transactionNumber
    model = PersistentIdentifier(change.changedObjectID)
  }
}

/// The insertion of a model. SwiftData: `HistoryInsert`.
public protocol HistoryInsert<Model>: Sendable {
  /// The class of the model.
  associatedtype Model: PersistentModel
  /// The type of the place in the transaction.
  associatedtype ChangeIdentifier: Hashable & Sendable
  /// The type of the number of the transaction.
  associatedtype TransactionIdentifier: Hashable & Sendable
  /// The place in the transaction.
  var changeIdentifier: ChangeIdentifier { get }
  /// The number of the transaction.
  var transactionIdentifier: TransactionIdentifier { get }
  /// The identifier of the model.
  var changedPersistentIdentifier: PersistentIdentifier { get }
}

/// The change of a model's properties. SwiftData: `HistoryUpdate`.
public protocol HistoryUpdate<Model>: Sendable {
  /// The class of the model.
  associatedtype Model: PersistentModel
  /// The type of the place in the transaction.
  associatedtype ChangeIdentifier: Hashable & Sendable
  /// The type of the number of the transaction.
  associatedtype TransactionIdentifier: Hashable & Sendable
  /// The place in the transaction.
  var changeIdentifier: ChangeIdentifier { get }
  /// The number of the transaction.
  var transactionIdentifier: TransactionIdentifier { get }
  /// The identifier of the model.
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The key paths of the changed properties, relationships included.
  var updatedAttributes: [any PartialKeyPath<Model> & Sendable] { get }
}

/// The deletion of a model. SwiftData: `HistoryDelete`.
public protocol HistoryDelete<Model>: Sendable {
  /// The class of the model.
  associatedtype Model: PersistentModel
  /// The type of the place in the transaction.
  associatedtype ChangeIdentifier: Hashable & Sendable
  /// The type of the number of the transaction.
  associatedtype TransactionIdentifier: Hashable & Sendable
  /// The place in the transaction.
  var changeIdentifier: ChangeIdentifier { get }
  /// The number of the transaction.
  var transactionIdentifier: TransactionIdentifier { get }
  /// The identifier that the model had.
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The values that the model leaves behind.
  var tombstone: HistoryTombstone<Model> { get }
}

/// The insertion of a model. SwiftData: `DefaultHistoryInsert`.
public struct DefaultHistoryInsert<Model: PersistentModel>: HistoryInsert {
  let place: ChangePlace
  /// The place in the transaction, from 1.
  public var changeIdentifier: Int64 { place.changeIdentifier }
  /// The number of the transaction.
  public var transactionIdentifier: Int64 { place.transactionIdentifier }
  /// The identifier of the model.
  public var changedPersistentIdentifier: PersistentIdentifier { place.model }
}

/// The change of a model's properties. SwiftData: `DefaultHistoryUpdate`.
public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate {
  let place: ChangePlace
  /// The names of the changed properties, relationships included, as the container's schema calls them.
  public let names: Set<String>
  /// The place in the transaction, from 1.
  public var changeIdentifier: Int64 { place.changeIdentifier }
  /// The number of the transaction.
  public var transactionIdentifier: Int64 { place.transactionIdentifier }
  /// The identifier of the model.
  public var changedPersistentIdentifier: PersistentIdentifier { place.model }

  /// The key paths of the changed properties, relationships included, in the order in which the class declares them.
  public var updatedAttributes: [any PartialKeyPath<Model> & Sendable] {
    ModelClass.of(Model.self).properties.compactMap { property in
      guard names.contains(property.name), let path = property.metadata.keypath as? PartialKeyPath<Model> else {
        return nil
      }
      // A cast cannot add `Sendable`, which has no form at run time. Key paths of properties capture nothing.
      return unsafeBitCast(path, to: (any PartialKeyPath<Model> & Sendable).self)
    }
  }
}

/// The deletion of a model. SwiftData: `DefaultHistoryDelete`.
public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete {
  let place: ChangePlace
  /// The values of the attributes with `.preserveValueOnDeletion`.
  public let tombstone: HistoryTombstone<Model>
  /// The place in the transaction, from 1.
  public var changeIdentifier: Int64 { place.changeIdentifier }
  /// The number of the transaction.
  public var transactionIdentifier: Int64 { place.transactionIdentifier }
  /// The identifier that the model had.
  public var changedPersistentIdentifier: PersistentIdentifier { place.model }

  init(place: ChangePlace, kept: [String: Value]) {
    self.place = place
    tombstone = HistoryTombstone(kept)
  }
}
