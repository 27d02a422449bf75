import CambiumEngine

extension ManagedObjectModel {
  /// Something in a model that works, but often is not what was meant.
  public struct Finding: Hashable, Sendable, CustomStringConvertible {
    /// Which rule found it, for filters: a word or a few with hyphens, as `cambium model lint` prints them.
    public var rule: String
    /// The entity, property, composite type, configuration or request template in question.
    public var place: String
    /// What it leads to, and what to do.
    public var text: String

    /// The place, the text and the rule.
    public var description: String { "\(place): \(text) [\(rule)]" }
  }

  /// The use that a model is examined for.
  public enum Purpose: Sendable {
    /// Stores of one device.
    case general
    /// Stores that devices synchronise, by way of a cloud database such as CloudKit's.
    case sync
  }

  /// Returns the parts of the model that are probably not meant: a least value above the greatest, a default that
  /// breaks a rule, a predicate of a fetched property or request template that names a missing property, relationships
  /// whose deletions fail or go too far, and so on. A store opens with such a model. A test of an application may
  /// demand that its model has none.
  ///
  ///     for finding in try model.findings(for: .sync) { print(finding) }
  ///
  /// Of classes with ``ManagedPaths()`` that are named by their entities, each property is looked for in its entity
  /// (`class-property`), and its type compared.
  ///
  /// For ``Purpose/sync``, the reasons why the model cannot be synchronised come last, with the rule `sync`: uniqueness
  /// constraints, attributes of type Undefined or ObjectID, transient ones too, required values without a default, and
  /// relationships that are required, ordered, without an inverse, deny deletions, or leave a configuration.
  ///
  /// The model is not in use afterwards, and may be changed. `cambium model lint` and `cambium model lint --sync` find
  /// the same in model files. O(size of the model).
  ///
  /// - Throws: ``CambiumError/Code/invalidModel`` if the model cannot be used at all.
  public func findings(for purpose: Purpose = .general) throws -> [Finding] {
    let schema = try Self.compile(try definition())
    var result = schema.findings().map { Finding($0) }
    result += entities.flatMap { ClassFindings(of: $0).all }
    if purpose == .sync { result += schema.syncFindings().map { Finding($0) } }
    return result
  }
}

extension ManagedObjectModel.Finding {
  init(_ finding: ModelFinding) { self.init(rule: finding.rule, place: finding.place, text: finding.text) }
}
