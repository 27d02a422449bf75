import CambiumModelFiles

/// A kind of Swift code that a model can be written as.
public enum CodeForm: String, CaseIterable, Sendable {
  /// Classes with `@Model` for `CambiumSwiftData`.
  case swiftData = "swiftdata"
  /// Subclasses of `ManagedObject` with `@Managed` properties for `Cambium`.
  case managedObjects = "managed-objects"
  /// The model in the model builder of `Cambium`.
  case builder
}

/// The forms of the code to generate, and their options.
public struct CodeOptions: Sendable {
  /// The model's name, from which the names of namespaces are made.
  public var modelName: String
  /// The kinds of code: one, or both ``CodeForm/managedObjects`` and ``CodeForm/builder``.
  public var forms: Set<CodeForm>
  /// Whether the declarations are public.
  public var isPublic = false
  /// A name of the model's file, for the head of the generated files.
  public var sourceName: String

  /// Options for a model.
  public init(modelName: String, forms: Set<CodeForm>, sourceName: String) {
    self.modelName = modelName
    self.forms = forms
    self.sourceName = sourceName
  }
}

/// A version of a model, to be generated from.
public struct CodeVersion: Sendable {
  /// The version's name.
  public var name: String
  /// The model.
  public var document: ModelDocument

  /// A version.
  public init(name: String, document: ModelDocument) {
    self.name = name
    self.document = document
  }

  /// Returns a sentence if a model has several versions, and nothing says which of them is the current one.
  package static func problem(ofCurrent current: String?, among names: [String]) -> String? {
    if names.count < 2 || current.map({ names.contains($0) }) ?? false { return nil }
    return "nothing says which version is the current one; choose it in the model editor (.xccurrentversion)"
  }
}

/// Generated files.
public struct GeneratedCode: Sendable {
  /// The files, in order.
  public let files: [SourceFile]
  /// Parts of the model without effect on the stored data that the code leaves out, one sentence each.
  public let notes: [String]
}
