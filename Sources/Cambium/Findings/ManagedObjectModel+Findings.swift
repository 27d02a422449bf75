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

  /// What in the model is probably not meant: a least value above the greatest, a default that breaks a rule, a predicate of a fetched
  /// property or request template that names what is not there, relationships whose deletions fail or go too far, and so on. A model
  /// that a store can be opened with may have such; a test of an application may well demand that its own has none.
  ///
  ///     for finding in try model.findings() { print(finding) }
  ///
  /// Of classes with ``ManagedPaths()`` that are named by their entities, each property is looked for in its entity (`class-property`), and its
  /// type compared.
  ///
  /// The model is not in use for it, and may be changed afterwards. What `cambium model lint` is to model files. O(size of the model).
  ///
  /// - Throws: ``CambiumError/Code/invalidModel`` if the model cannot be used at all.
  public func findings() throws -> [Finding] {
    let schema = try Self.compile(try definition()).findings().map {
      Finding(rule: $0.rule, place: $0.place, text: $0.text)
    }
    return schema + entities.flatMap { ClassFindings(of: $0).all }
  }
}
