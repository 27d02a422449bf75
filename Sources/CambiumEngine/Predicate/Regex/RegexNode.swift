/// A regular expression as a tree.
indirect enum RegexNode {
  /// Matches nothing but the empty text.
  case empty
  case scalar(UInt32)
  case set(ScalarSet)
  case anchor(RegexAnchor)
  case sequence([RegexNode])
  case choice([RegexNode])
  /// At least `minimum` times, and at most `maximum`, if there is one.
  case repeated(RegexNode, minimum: Int, maximum: Int?)
}

/// A condition on a place in the text.
enum RegexAnchor {
  case start
  case end
  /// The end, or before the line end that the text ends in.
  case endOrLastLineEnd
  case wordBoundary
  case noWordBoundary
}
