import Cambium
import CambiumEngine
@_spi(Reflection) import Swift

/// The fields of a structure that is stored as a composite. A class, because each value that is read holds it.
final class CompositeShape: Sendable {
  /// A field.
  struct Field: @unchecked Sendable {
    // `@unchecked`: a key path to a stored property captures nothing.
    let name: String
    let type: Any.Type
    let isOptional: Bool
    let kind: ValueKind
    let keyPath: AnyKeyPath
  }

  let typeName: String
  let fields: [Field]
  /// Those of ``fields``.
  let names: [String]

  /// The field of a name.
  subscript(name: String) -> Field? { place(of: name).map { fields[$0] } }

  /// The place of a field among ``fields``.
  func place(of name: String) -> Int? { names.firstIndex(of: name) }

  /// Whether the field at a place has values of a type, as they are.
  func isDirect<A: ModelAttribute>(_ place: Int, _ type: A.Type) -> Bool { fields[place].type == type }

  /// The shape of a structure. Nil for a type that is stored as one coded value: one that is no structure, has no
  /// fields, has fields of types that are not stored by themselves, or codes itself otherwise than field by field.
  init?(of type: any Codable.Type) {
    var fields: [Field] = []
    var isComplete = true
    func gather<T: Codable>(_ type: T.Type) -> Bool {
      _forEachFieldWithKeyPath(of: type) { name, keyPath in
        let fieldType = Swift.type(of: keyPath).valueType
        let plain = (fieldType as? any OptionalType.Type)?.wrappedType ?? fieldType
        let kind = ValueKinds.kind(of: plain)
        if case .none = kind { isComplete = false }
        fields.append(
          Field(
            name: String(cString: name), type: plain, isOptional: fieldType is any OptionalType.Type, kind: kind,
            keyPath: keyPath))
        return true
      }
    }
    guard !(type is any RawRepresentable.Type), !(type is any OptionalType.Type), CompositeShape.isStructure(type),
      gather(type), isComplete, !fields.isEmpty
    else { return nil }
    typeName = "\(type)"
    self.fields = fields
    names = fields.map { $0.name }
    guard isCodedByFields(type) else { return nil }
  }

  /// Whether values code themselves by the names and the types of their fields. It is tried on a value that is made up.
  private func isCodedByFields<T: Codable>(_ type: T.Type) -> Bool {
    guard let coded = CodedKeys.of(type), Set(coded.types.keys) == Set(names) else { return false }
    for field in fields {
      if case .some(.some(let asked)) = coded.types[field.name], asked != field.type { return false }
    }
    return (try? CompositeEncoder.elements(of: coded.value, self)) != nil
  }

  /// The name of the field that a key path leads to.
  func name(of keyPath: AnyKeyPath) -> String? { fields.first { $0.keyPath == keyPath }?.name }

  /// Collections code themselves as lists, and types of Foundation as they like.
  private static func isStructure(_ type: Any.Type) -> Bool {
    if type is AnyClass || type is any Sequence.Type { return false }
    let module = String(reflecting: type).prefix { $0 != "." }
    return !["Swift", "Foundation", "FoundationEssentials"].contains(String(module))
  }
}
