import CambiumEngine

/// How strings are compared: upper and lower case, letters with and without marks. Core Data:
/// `NSComparisonPredicate.Options`.
public typealias FetchComparisonOptions = CambiumEngine.ComparisonOptions

extension TypedFetchExpression where Output == String {
  /// Whether the text is another one, compared in some way.
  public func equals(_ text: String, _ options: FetchComparisonOptions) -> FetchPredicate {
    compared(.equal, text, options)
  }

  /// Whether the text begins with another one; a missing one does not.
  public func beginsWith(_ text: String, _ options: FetchComparisonOptions = []) -> FetchPredicate {
    compared(.beginsWith, text, options)
  }

  /// A store does not compare as Swift does: see ``beginsWith(_:_:)``.
  @available(*, unavailable, renamed: "beginsWith")
  public func hasPrefix(_ text: String) -> FetchPredicate { beginsWith(text) }

  /// A store does not compare as Swift does: see ``beginsWith(_:_:)``.
  @available(*, unavailable, renamed: "beginsWith")
  public func starts(with text: String) -> FetchPredicate { beginsWith(text) }

  /// A store does not compare as Swift does: see ``endsWith(_:_:)``.
  @available(*, unavailable, renamed: "endsWith")
  public func hasSuffix(_ text: String) -> FetchPredicate { endsWith(text) }

  /// Whether the text ends with another one; a missing one does not.
  public func endsWith(_ text: String, _ options: FetchComparisonOptions = []) -> FetchPredicate {
    compared(.endsWith, text, options)
  }

  /// Whether another text is part of this one; a missing one has no parts.
  public func contains(_ text: String, _ options: FetchComparisonOptions = []) -> FetchPredicate {
    compared(.contains, text, options)
  }

  /// Whether the whole text is as a pattern says: `?` stands for one character, `*` for any number of them.
  public func like(_ pattern: String, _ options: FetchComparisonOptions = []) -> FetchPredicate {
    compared(.like, pattern, options)
  }

  /// Whether the whole text matches a regular expression.
  public func matches(_ pattern: String, _ options: FetchComparisonOptions = []) -> FetchPredicate {
    compared(.matches, pattern, options)
  }

  private func compared(
    _ comparator: Comparator, _ text: String, _ options: FetchComparisonOptions
  ) -> FetchPredicate {
    FetchPredicate(fetchExpression.engine, comparator, .constant(.string(text)), options)
  }

  /// The text's length.
  public var length: FetchValue<Int> { FetchValue<Int>(.function("length", [fetchExpression.engine])) }

  /// The text in lower case.
  public var lowercased: FetchValue<String> { FetchValue<String>(.function("lowercase", [fetchExpression.engine])) }

  /// The text in upper case.
  public var uppercased: FetchValue<String> { FetchValue<String>(.function("uppercase", [fetchExpression.engine])) }
}
