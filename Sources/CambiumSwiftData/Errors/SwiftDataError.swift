import Cambium

/// What went wrong in this API, with SwiftData's names. Each error also says what, where and what to do, and carries
/// the error underneath.
///
///     do { try context.save() } catch SwiftDataError.modelValidationFailure { … }
///
/// Errors that SwiftData has no name for, such as a conflict with what others saved or a full disk, come as they are,
/// as `CambiumError` of `Cambium`.
public struct SwiftDataError: Error, Sendable {
  /// The kinds of errors.
  enum Kind: String, Sendable {
    case includePendingChangesWithBatchSize, sortingPendingChangesWithIdentifiers
    case unsupportedPredicate, unsupportedKeyPath, unsupportedSortDescriptor
    case duplicateConfiguration, configurationFileNameTooLong, configurationFileNameContainsInvalidCharacters
    case configurationSchemaNotFoundInContainerSchema, loadIssueModelContainer
    case modelValidationFailure, missingModelContext, backwardMigration, unknownSchema
    case historyTokenExpired, invalidTransactionFetchRequest, unknownDataStoreSchema
  }

  let kind: Kind
  /// What happened, where, and what to do; empty for the named kinds, which are for comparing.
  public let message: String
  /// What caused the error.
  public let underlying: (any Error)?

  init(_ kind: Kind, _ message: String = "", _ underlying: (any Error)? = nil) {
    self.kind = kind
    self.message = message
    self.underlying = underlying
  }

  /// The error underneath, if it is one of the object graph: it has the code, the entity, the property and the model.
  public var cambiumError: CambiumError? { underlying as? CambiumError }

  /// Whether an error is of a kind, so that `catch SwiftDataError.unsupportedPredicate` works.
  public static func ~= (pattern: SwiftDataError, error: any Error) -> Bool {
    (error as? SwiftDataError)?.kind == pattern.kind
  }

  /// Never thrown: fetching with a batch size and pending changes works here.
  public static let includePendingChangesWithBatchSize = SwiftDataError(.includePendingChangesWithBatchSize)
  /// Never thrown: fetching identifiers in an order with pending changes works here.
  public static let sortingPendingChangesWithIdentifiers = SwiftDataError(.sortingPendingChangesWithIdentifiers)
  /// A predicate that the store cannot answer. The message names the part.
  public static let unsupportedPredicate = SwiftDataError(.unsupportedPredicate)
  /// A key path that leads to nothing that is stored.
  public static let unsupportedKeyPath = SwiftDataError(.unsupportedKeyPath)
  /// An order that the store has no way to follow.
  public static let unsupportedSortDescriptor = SwiftDataError(.unsupportedSortDescriptor)
  /// Two configurations of one container with one name or one file.
  public static let duplicateConfiguration = SwiftDataError(.duplicateConfiguration)
  /// A configuration's name that is too long for a file.
  public static let configurationFileNameTooLong = SwiftDataError(.configurationFileNameTooLong)
  /// A configuration's name that no file can have.
  public static let configurationFileNameContainsInvalidCharacters =
    SwiftDataError(.configurationFileNameContainsInvalidCharacters)
  /// A configuration whose schema has a model that the container's lacks.
  public static let configurationSchemaNotFoundInContainerSchema =
    SwiftDataError(.configurationSchemaNotFoundInContainerSchema)
  /// A container that cannot be made: its models don't fit together, or a store cannot be opened.
  public static let loadIssueModelContainer = SwiftDataError(.loadIssueModelContainer)
  /// A model that may not be saved as it is.
  public static let modelValidationFailure = SwiftDataError(.modelValidationFailure)
  /// Something that needs a model of a context.
  public static let missingModelContext = SwiftDataError(.missingModelContext)
  /// A store of a newer version of the application.
  public static let backwardMigration = SwiftDataError(.backwardMigration)
  /// A schema that names a model which is not in it.
  public static let unknownSchema = SwiftDataError(.unknownSchema)
  /// A token of history that was deleted since.
  public static let historyTokenExpired = SwiftDataError(.historyTokenExpired)
  /// A condition on history that cannot be asked for.
  public static let invalidTransactionFetchRequest = SwiftDataError(.invalidTransactionFetchRequest)
  /// A store whose schema is none that the application knows.
  public static let unknownDataStoreSchema = SwiftDataError(.unknownDataStoreSchema)
}

extension SwiftDataError: Hashable {
  /// Whether both are of one kind.
  public static func == (a: SwiftDataError, b: SwiftDataError) -> Bool { a.kind == b.kind }

  /// Hashes the kind.
  public func hash(into hasher: inout Hasher) { hasher.combine(kind) }
}

extension SwiftDataError: CustomStringConvertible {
  /// The kind, what happened, and what caused it.
  public var description: String {
    var text = "SwiftDataError.\(kind.rawValue)"
    if !message.isEmpty { text += ": \(message)" }
    // An error that only has another kind here says nothing new.
    if let underlying, cambiumError?.message != message {
      let cause = "\(underlying)"
      if !message.contains(cause) { text += "\n  caused by \(cause)" }
    }
    return text
  }
}
