/// A regular expression that strings have to match as a whole: the rule of a string attribute
/// (``AttributeSchema/regularExpression``).
///
/// The dialect is that of `MATCHES` without options (`Specs/07-predicates.md`): a part of ICU's, read and matched in
/// Unicode's form C, with upper and lower case told apart. Reading takes O(size of the pattern), matching at most
/// O(length of the text times size of the pattern), whatever the pattern. Immutable, and may be used on any thread.
public struct StringPattern: Sendable {
  /// The pattern as it was given.
  public let text: String
  private let expression: RegularExpression

  /// Reads a pattern.
  ///
  /// - Throws: ``PredicateError`` of kind `syntax` for what is no regular expression, `unsupported` for a part of ICU's
  ///   dialect that is not supported, or `tooDeep` for one that is nested too deep or too large when its repetitions
  ///   are written out; ``PredicateError/advice`` says what is wrong, and where in the pattern.
  public init(_ text: String) throws(PredicateError) {
    self.text = text
    expression = try RegularExpression(text, [])
  }

  /// Whether the pattern describes the whole of a string.
  public func matches(_ string: String) -> Bool { expression.matches(FoldedText(string, [])) }
}
