import CambiumModelFiles

/// Writes the names of types of Swift and Foundation, with their module where the model has a class or property of the
/// name.
struct TypeNames {
  private let taken: Set<String>

  /// - Parameter taken: The names that the generated code declares.
  init(taken: Set<String>) { self.taken = taken }

  /// A type of the standard library.
  func swift(_ name: String) -> String { taken.contains(name) ? "Swift." + name : name }
  /// A type of Foundation.
  func foundation(_ name: String) -> String { taken.contains(name) ? "Foundation." + name : name }
  /// A type of another module.
  func type(_ name: String, of module: String) -> String { taken.contains(name) ? "\(module).\(name)" : name }

  /// The type of an attribute's values; `nil` for types that depend on the form.
  func value(_ type: ModelDocument.AttributeType) -> String? {
    switch type {
    case .integer16: return swift("Int16")
    case .integer32: return swift("Int32")
    case .integer64: return swift("Int64")
    case .double: return swift("Double")
    case .float: return swift("Float")
    case .string: return swift("String")
    case .boolean: return swift("Bool")
    case .decimal: return foundation("Decimal")
    case .date: return foundation("Date")
    case .binary: return foundation("Data")
    case .uuid: return foundation("UUID")
    case .uri: return foundation("URL")
    case .undefined, .transformable, .objectID, .composite: return nil
    }
  }

  /// Modules whose names no declaration may have, because the code names types by them.
  static let modules: Set<String> = ["Swift", "Foundation", "Cambium", "CambiumSwiftData", "Observation"]
}
