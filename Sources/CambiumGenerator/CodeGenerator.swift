import CambiumModelFiles

/// Makes Swift code of the versions of a model.
///
/// A model of one version becomes a file for each class and structure. Of several versions each becomes a file with a
/// namespace, and one more file names the classes of the current version.
public struct CodeGenerator {
  private let options: CodeOptions
  private let versions: [CodeVersion]
  private let current: String?
  private var contexts: [FormContext] = []
  private var names: VersionNames

  private init(_ versions: [CodeVersion], current: String?, _ options: CodeOptions) {
    (self.versions, self.current, self.options) = (versions, current, options)
    contexts = versions.map { FormContext($0.document, options) }
    names = VersionNames(
      model: options.modelName, versions: versions.map { $0.name },
      taken: Set(versions.flatMap { version in Self.typeNames(of: version.document) }))
  }

  private static func typeNames(of document: ModelDocument) -> [String] {
    document.entities.flatMap { [$0.name, FormContext.className(of: $0)] } + document.composites.map { $0.name }
  }

  /// Generates the code of a model.
  ///
  /// - Parameters:
  ///   - versions: The versions, in order.
  ///   - current: The name of the version that is in use.
  /// - Throws: all that the code cannot express, of all versions.
  public static func generate(
    _ versions: [CodeVersion], current: String?, _ options: CodeOptions
  ) throws(Refusals) -> GeneratedCode {
    let generator = CodeGenerator(versions, current: current, options)
    let notes = try generator.check()
    return GeneratedCode(files: generator.files(), notes: notes)
  }

  // MARK: Checks

  private func check() throws(Refusals) -> [String] {
    var refusals: [Refusal] = []
    var notes: [String] = []
    for (version, context) in zip(versions, contexts) {
      var structure = StructureCheck(context.index)
      structure.run()
      var found = structure.refusals
      var noted: [String] = []
      // The other checks go by names.
      if found.isEmpty {
        if options.forms.contains(.swiftData) {
          var check = SwiftDataCheck(context)
          check.run()
          (found, noted) = (check.refusals, check.notes)
        }
        if options.forms.contains(.managedObjects) {
          var check = ManagedObjectsCheck(context)
          check.run()
          found += check.refusals
        }
      }
      if options.forms != [.managedObjects] { noted += Self.notesOnDefaults(version.document) }
      let isOneOfSeveral = versions.count > 1
      refusals += found.map { refusal in
        var refusal = refusal
        if isOneOfSeveral { refusal.version = version.name }
        return refusal
      }
      let warnings = version.document.warnings.map { "line \($0.line): \($0.text)" }
      notes += (warnings + noted).map { isOneOfSeveral ? "version \(version.name), \($0)" : $0 }
    }
    guard refusals.isEmpty else { throw Refusals(all: refusals) }
    if options.forms.contains(.swiftData), versions.count > 1 {
      for place in names.unnumbered {
        let number = names.numbers[place].map { "\($0)" }.joined(separator: ".")
        notes.append(
          "version \(versions[place].name) has no number of its own in its name, and becomes \(number); end the names of "
            + "versions with numbers to choose the order")
      }
    }
    return notes
  }

  /// Notes on defaults that mean nothing for the type of their attribute.
  private static func notesOnDefaults(_ document: ModelDocument) -> [String] {
    let places = document.entities.map { ($0.name, $0.attributes) } + document.composites.map { ($0.name, $0.elements) }
    return places.flatMap { place, attributes in
      attributes.compactMap { attribute in
        guard attribute.defaultValue?.value.isEmpty == false || attribute.defaultInterval != nil,
          DefaultValue(of: attribute) == nil
        else { return nil }
        let text = (attribute.defaultInterval ?? attribute.defaultValue)?.value ?? ""
        return "\(place).\(attribute.name): the default '\(text)' is no \(attribute.type.rawValue), and is left out"
      }
    }
  }

  // MARK: Files

  private var heading: String { "\(SourceFile.origin) of \(SwiftText.comment(options.sourceName)). Do not edit." }

  private func file(_ name: String, _ imports: Set<String>, _ lines: [String]) -> SourceFile {
    SourceFile(name: name + ".swift", imports: imports.sorted(), lines: lines, heading: heading)
  }

  private func files() -> [SourceFile] {
    guard versions.count > 1 else { return contexts.first.map { filesOfOneVersion($0) } ?? [] }
    var files: [SourceFile] = []
    for place in versions.indices {
      var writer = SourceWriter()
      let imports = write(place, to: &writer)
      files.append(file(names.namespaces[place], imports, writer.lines))
    }
    if let place = versions.firstIndex(where: { $0.name == current }) {
      files.append(fileOfCurrentVersion(place))
    }
    return files
  }

  private func filesOfOneVersion(_ context: FormContext) -> [SourceFile] {
    var taken: Set<String> = []
    var files = declarations(context).map { declaration -> SourceFile in
      var name = declaration.name
      // File systems may not tell capital letters from small ones.
      while !taken.insert(name.lowercased()).inserted { name += "_" }
      return file(name, declaration.imports, declaration.lines)
    }
    if options.forms.contains(.builder) {
      let form = BuilderForm(context: context, namesClasses: options.forms.contains(.managedObjects))
      var name = names.model + (names.model.hasSuffix("Model") ? "" : "Model")
      while Self.typeNames(of: context.document).contains(name) || taken.contains(name.lowercased()) { name += "_" }
      var writer = SourceWriter()
      writer.line("/// The model \(SwiftText.comment(options.modelName)).")
      writer.block("\(context.access)enum \(name)") { $0.append(form.members()) }
      files.append(file(name, form.imports, writer.lines))
    }
    return files
  }

  private func declarations(_ context: FormContext) -> [Declaration] {
    if options.forms.contains(.swiftData) { return SwiftDataForm(context).declarations() }
    return options.forms.contains(.managedObjects) ? ManagedObjectsForm(context).declarations() : []
  }

  /// Writes a version as a namespace. Returns the modules to import.
  private func write(_ place: Int, to writer: inout SourceWriter) -> Set<String> {
    let context = contexts[place]
    let declarations = declarations(context)
    var imports = Set(declarations.flatMap { $0.imports })
    let isVersioned = options.forms.contains(.swiftData)
    if isVersioned { imports.insert("CambiumSwiftData") }
    writer.line(
      "/// Version \"\(SwiftText.comment(versions[place].name))\" of the model \(SwiftText.comment(options.modelName))."
    )
    let conformance = isVersioned ? ": " + context.names.type("VersionedSchema", of: "CambiumSwiftData") : ""
    writer.block("\(context.access)enum \(names.namespaces[place])\(conformance)") { writer in
      var isFirst = true
      if isVersioned {
        writeSchema(place, to: &writer)
        isFirst = false
      }
      if options.forms.contains(.builder) {
        let form = BuilderForm(context: context, namesClasses: options.forms.contains(.managedObjects))
        imports.formUnion(form.imports)
        writer.append(form.members())
        isFirst = false
      }
      for declaration in declarations {
        if !isFirst { writer.line() }
        isFirst = false
        writer.append(declaration.lines)
      }
    }
    return imports
  }

  private func writeSchema(_ place: Int, to writer: inout SourceWriter) {
    let context = contexts[place]
    let names = context.names
    let schema = names.type("Schema", of: "CambiumSwiftData")
    let numbers = self.names.numbers[place].map { "\($0)" }.joined(separator: ", ")
    writer.line("\(context.access)static var versionIdentifier: \(schema).Version { \(schema).Version(\(numbers)) }")
    let classes = context.document.entities.map { "\($0.name).self" }
    let model = names.type("PersistentModel", of: "CambiumSwiftData")
    writer.block("\(context.access)static var models: [any \(model).Type]") { writer in
      writer.line("[\(classes.joined(separator: ", "))]")
    }
  }

  /// The file that names what the current version has.
  private func fileOfCurrentVersion(_ place: Int) -> SourceFile {
    let context = contexts[place]
    let namespace = names.namespaces[place]
    var writer = SourceWriter()
    writer.line("// The current version.")
    var taken = Set(declarations(context).map { $0.name })
    let whole = names.model + (options.forms.contains(.swiftData) ? "Schema" : "Model")
    if taken.insert(whole).inserted, !names.namespaces.contains(whole) {
      writer.line("\(context.access)typealias \(whole) = \(namespace)")
    }
    for declaration in declarations(context) {
      writer.line("\(context.access)typealias \(declaration.name) = \(namespace).\(declaration.name)")
    }
    var name = names.model
    while names.namespaces.contains(where: { $0.lowercased() == name.lowercased() }) { name += "_" }
    return file(name, [], writer.lines)
  }
}
