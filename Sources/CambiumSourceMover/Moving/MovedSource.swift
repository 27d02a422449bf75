/// A source after its move, with a report.
package struct MovedSource: Equatable {
  /// A place that the tool rewrote.
  package struct Change: Equatable {
    /// The line of the old source, from 1.
    package var line: Int
    /// The old and the new code, as one phrase.
    package var text: String
  }

  /// A place that needs a decision.
  package struct Finding: Equatable {
    /// The line of the old source, from 1.
    package var line: Int
    package var cause: Cause
    /// The name or the code in question.
    package var text: String
  }

  /// The new source; the old one if nothing was to be changed.
  package var text: String
  package var changes: [Change] = []
  package var findings: [Finding] = []
}

/// Why a place is left, and the way out. Equal causes are reported together.
package struct Cause: Hashable {
  /// One phrase: what cannot stay.
  package var reason: String
  /// One phrase: what to write.
  package var remedy: String

  init(_ reason: String, _ remedy: String) {
    self.reason = reason
    self.remedy = remedy
  }
}
