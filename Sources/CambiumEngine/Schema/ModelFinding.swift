/// Something in a model that works, but often is not what was meant.
public struct ModelFinding: Equatable, Sendable {
  /// Which rule found it: a word or a few with hyphens, for filters.
  public var rule: String
  /// The entity, property, type, configuration or template in question.
  public var place: String
  /// What it leads to, and what to do.
  public var text: String

  init(_ rule: String, _ place: String, _ text: String) {
    self.rule = rule
    self.place = place
    self.text = text
  }
}

extension ModelFinding: CustomStringConvertible {
  /// The place, the text and the rule.
  public var description: String { place + ": " + text + " [" + rule + "]" }
}
