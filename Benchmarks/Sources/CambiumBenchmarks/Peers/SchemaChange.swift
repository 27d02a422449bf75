import CambiumEngine

/// A change of the table of aircraft. They are made one after the other.
enum SchemaChange: String, CaseIterable {
  /// An optional text, `note`.
  case addAttribute
  /// It becomes `remark`.
  case renameAttribute
  /// `note` goes; its bytes may stay for now.
  case dropNoteDeferred
  /// `kind` goes, and its bytes with it.
  case dropAttribute
  /// `type` goes; its bytes may stay for now.
  case dropAttributeDeferred
  /// On `hours`.
  case createIndex
  /// Every row is written anew: `hours` becomes an integer. All three indexes are there afterwards.
  case copyEntity
  /// On `year`. It may be filled later.
  case createIndexDeferred

  /// Whether a part of it may be left to be done later.
  var mayBeLeft: Bool {
    switch self {
    case .dropNoteDeferred, .dropAttributeDeferred, .createIndexDeferred: return true
    default: return false
    }
  }

  /// The change of the entity of a model.
  func apply(to entity: inout EntitySchema) throws {
    func place(_ name: String) throws -> Int {
      guard let place = entity.attributes.firstIndex(where: { $0.name == name }) else { throw NotSupported() }
      return place
    }
    switch self {
    case .addAttribute: entity.attributes.append(AttributeSchema("note", .string))
    case .renameAttribute:
      let note = try place("note")
      entity.attributes[note].name = "remark"
      entity.attributes[note].renamingIdentifier = "note"
    case .dropNoteDeferred: entity.attributes.remove(at: try place("note"))
    case .dropAttribute: entity.attributes.remove(at: try place("kind"))
    case .dropAttributeDeferred: entity.attributes.remove(at: try place("type"))
    case .createIndex: entity.indexes.append(IndexSchema("byHours", [IndexElement("hours")]))
    case .copyEntity: entity.attributes[try place("hours")].type = .integer64
    case .createIndexDeferred: entity.indexes.append(IndexSchema("byYear", [IndexElement("year")]))
    }
  }
}
