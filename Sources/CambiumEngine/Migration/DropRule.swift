// An inferred migration with drops is made only if one of these holds:
//
//   (a) the application knows the store's model by its checksum
//   (b) both models carry a number, and the application's is higher
//   (c) the application's model names every drop
//   (d) the application sets the option
//
// If the application's number is lower than the store's, (a) and (b) do not count. If the store had the application's
// model before, only (b), (d) or the leave to return to former models count. The rule does not look at rows, so that an
// empty store behaves as a full one does.

/// The rule that decides whether an inferred migration may drop parts of a store's model.
public struct DropRule: Sendable {
  /// The version checksums (``Schema/versionChecksum``) of the models that the application knows.
  public var knownModels: Set<String> = []
  /// Whether the store had the application's model before.
  public var isFormerModel = false
  /// Whether the application allows every drop.
  public var allowsDroppingUnknownData = false
  /// Whether the application allows the store to return to a model that it had before.
  public var allowsReturningToFormerModels = false

  /// The rule for an application that knows no models and allows nothing.
  public init() {}

  /// The reason for a refusal.
  public enum Refusal: Sendable, Equatable {
    /// The application does not know the store's model.
    case unknownModel
    /// The store's model has a higher number than the application's.
    case olderApplication(ModelVersionNumber, store: ModelVersionNumber)
    /// The store had the application's model before.
    case formerModel
  }

  /// Returns the reason if the migration must be refused; nil if it may be made.
  public func refusal(of step: ModelStep, from source: Schema, to destination: Schema) -> Refusal? {
    if step.drops.isEmpty || allowsDroppingUnknownData { return nil }
    let (application, store) = (destination.versionNumber, source.versionNumber)
    if let application, let store, application > store { return nil }
    if isFormerModel, !isPlanted(.formerModelDrops) { return allowsReturningToFormerModels ? nil : .formerModel }
    if step.drops.allSatisfy({ $0.isNamed }) { return nil }
    if let application, let store, application < store, !isPlanted(.lowerNumberDrops) {
      return .olderApplication(application, store: store)
    }
    return knownModels.contains(source.versionChecksum) ? nil : .unknownModel
  }
}
