import CambiumEngine

/// A predicate of a command line.
struct PredicateText {
  /// Where the text stands, at the beginning of messages.
  private let place: String
  private let parsed: Predicate
  /// Hints about comparisons that probably mean something else than their author thinks.
  let notes: [String]

  /// Reads the text, without the model.
  ///
  /// - Throws: ``ToolError/usage(_:)`` for what cannot be read.
  init(_ text: String, place: String = "") throws(ToolError) {
    self.place = place
    do throws(PredicateError) {
      parsed = try Predicate(format: text)
      notes = try parsed.notes().map { place + $0 }
    } catch { throw .usage(place + error.description) }
  }

  /// The predicate, with objects in place of names such as `Aircraft/12`.
  func predicate(in schema: Schema, of entity: EntitySchema) throws(ToolError) -> Predicate {
    do throws(PredicateError) { return try parsed.namingObjects(of: schema, entity: entity.id) } catch {
      throw .usage(place + error.description)
    }
  }
}
