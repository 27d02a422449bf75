import Observation

/// Tells Observation of what is read and changed of a model, for accessors written by hand. The registrar is made when
/// the first property is read, because nobody can observe a model before.
public struct ModelObservation {
  private let row: ModelRow

  /// Of the model of a row.
  public init(_ row: ModelRow) { self.row = row }

  /// Tells that a property is read.
  public func access<Subject: Observable, Member>(_ subject: Subject, keyPath: KeyPath<Subject, Member>) {
    row.observedRegistrar.access(subject, keyPath: keyPath)
  }

  /// Tells that a property is changed by `mutation`.
  public func withMutation<Subject: Observable, Member, Result>(
    of subject: Subject, keyPath: KeyPath<Subject, Member>, _ mutation: () throws -> Result
  ) rethrows -> Result {
    guard let registrar = row.registrar else { return try mutation() }
    return try registrar.withMutation(of: subject, keyPath: keyPath, mutation)
  }
}
