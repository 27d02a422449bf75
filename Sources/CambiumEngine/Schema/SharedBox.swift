/// What a value that is copied often keeps behind one reference: a copy counts that alone.
///
/// Values are made anew before they change, unless nobody else has them: see `isKnownUniquelyReferenced`.
final class SharedBox<Content: Sendable>: @unchecked Sendable {
  // Unchecked: who changes the content has made sure that nobody else has the box.
  @exclusivity(unchecked) var content: Content

  init(_ content: Content) { self.content = content }
}
