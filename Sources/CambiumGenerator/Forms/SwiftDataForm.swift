import CambiumModelFiles

/// Writes a version as classes with `@Model`.
struct SwiftDataForm {
  let context: FormContext
  private let inverses: InverseSides

  init(_ context: FormContext) {
    self.context = context
    inverses = InverseSides(context.index)
  }

  private var names: TypeNames { context.names }

  /// Writes all classes, then the structures of the composite types that attributes have.
  func declarations() -> [Declaration] {
    context.document.entities.map { declaration(of: $0) }
      + usedComposites().map { type in
        var writer = SourceWriter()
        CompositeWriter(context).writeCodable(type, to: &writer)
        return Declaration(
          name: type.name, imports: FormContext.needsFoundation(type.elements) ? ["Foundation"] : [],
          lines: writer.lines)
      }
  }

  /// The composite types that entities use, directly or within others, in the order of the model.
  func usedComposites() -> [ModelDocument.Composite] {
    var used: Set<String> = []
    var open = context.document.entities.flatMap { $0.attributes }.compactMap { $0.compositeName }
    while let name = open.popLast() {
      guard used.insert(name).inserted, let type = context.index.composite(name) else { continue }
      open += type.elements.compactMap { $0.compositeName }
    }
    return context.document.composites.filter { used.contains($0.name) }
  }

  // MARK: Classes

  private func declaration(of entity: ModelDocument.Entity) -> Declaration {
    var writer = SourceWriter()
    let isParent = context.index.hasChildren(entity.name)
    let original = entity.renamingIdentifier.map { "(originalName: \(SwiftText.literal($0)))" } ?? ""
    let parent = entity.parent.map { ": \($0)" } ?? ""
    writer.block("@Model\(original) \(context.access)\(isParent ? "" : "final ")class \(entity.name)\(parent)") {
      writer in
      let count = writer.lines.count
      writeGroups(of: entity, to: &writer)
      for attribute in entity.attributes { write(attribute, of: entity, to: &writer) }
      for relationship in entity.relationships { write(relationship, of: entity, to: &writer) }
      writeInitializer(of: entity, separated: writer.lines.count > count, to: &writer)
    }
    return Declaration(
      name: entity.name,
      imports: FormContext.needsFoundation(entity.attributes)
        || entity.attributes.contains { $0.type == .transformable }
        ? ["CambiumSwiftData", "Foundation"] : ["CambiumSwiftData"],
      lines: writer.lines)
  }

  /// Writes `#Unique` for constraints that no single property has, and `#Index`.
  private func writeGroups(of entity: ModelDocument.Entity, to writer: inout SourceWriter) {
    let groups = entity.uniquenessConstraints.filter { !isOfOneProperty($0, entity) }
    if !groups.isEmpty {
      let list = groups.map { "[" + $0.map { keyPath($0, entity) }.joined(separator: ", ") + "]" }
      writer.line("#Unique<\(entity.name)>(\(list.joined(separator: ", ")))")
    }
    let indexes = context.index.usableIndexes(of: entity).filter { $0.partialPredicate == nil }
    if indexes.isEmpty { return }
    let hasPlaces = indexes.contains { $0.elements.first?.kind == .rTree }
    let list = indexes.map { index in
      let paths = "[" + index.elements.map { keyPath($0.path, entity) }.joined(separator: ", ") + "]"
      return hasPlaces ? ".\(index.elements.first?.kind == .rTree ? "rtree" : "binary")(\(paths))" : paths
    }
    writer.line("#Index<\(entity.name)>(\(list.joined(separator: ", ")))")
  }

  private func isOfOneProperty(_ paths: [String], _ entity: ModelDocument.Entity) -> Bool {
    guard paths.count == 1, let path = paths.first else { return false }
    return entity.attributes.contains { $0.name == path } || entity.relationships.contains { $0.name == path }
  }

  private func isUnique(_ name: String, _ entity: ModelDocument.Entity) -> Bool {
    entity.uniquenessConstraints.contains([name])
  }

  private func keyPath(_ path: String, _ entity: ModelDocument.Entity) -> String {
    let parts = path.split(separator: ".").map { SwiftText.name(String($0)) }
    guard let (way, _) = context.index.resolve(path, from: entity) else { return "\\." + parts.joined(separator: ".") }
    var result = "\\"
    for (place, part) in parts.enumerated() {
      result += "." + part
      if place < way.count, way[place].isOptional { result += "?" }
    }
    return result
  }

  // MARK: Properties

  private func write(
    _ attribute: ModelDocument.Attribute, of entity: ModelDocument.Entity, to writer: inout SourceWriter
  ) {
    var arguments: [String] = []
    if isUnique(attribute.name, entity) { arguments.append(".unique") }
    if attribute.allowsExternalBinaryDataStorage { arguments.append(".externalStorage") }
    if attribute.preservesValueInHistoryOnDeletion { arguments.append(".preserveValueOnDeletion") }
    if attribute.isTransient { arguments.append(".ephemeral") }
    if attribute.type == .transformable {
      arguments.append(".transformable(by: \(SwiftText.literal(attribute.valueTransformerName ?? "")))")
    }
    if let original = attribute.renamingIdentifier { arguments.append("originalName: \(SwiftText.literal(original))") }
    if let modifier = attribute.versionHashModifier { arguments.append("hashModifier: \(SwiftText.literal(modifier))") }
    let prefix = arguments.isEmpty ? "" : "@Attribute(\(arguments.joined(separator: ", "))) "
    let value = initialValue(of: attribute).map { " = \($0)" } ?? ""
    writer.line("\(prefix)\(context.access)var \(SwiftText.name(attribute.name)): \(type(of: attribute))\(value)")
  }

  private func type(of attribute: ModelDocument.Attribute) -> String {
    var type = names.value(attribute.type) ?? attribute.compositeName ?? ""
    if attribute.type == .transformable { type = SwiftTypeText(attribute.customClassName ?? "")?.text ?? "" }
    return type + (attribute.isOptional ? "?" : "")
  }

  private func initialValue(of attribute: ModelDocument.Attribute) -> String? {
    DefaultValue(of: attribute)?.source(names, isOptional: attribute.isOptional)
  }

  private func write(
    _ relationship: ModelDocument.Relationship, of entity: ModelDocument.Entity, to writer: inout SourceWriter
  ) {
    var arguments: [String] = []
    if isUnique(relationship.name, entity) { arguments.append(".unique") }
    if relationship.isOrdered { arguments.append(".ordered") }
    switch relationship.deleteRule {
    case .nullify: break
    case .cascade: arguments.append("deleteRule: .cascade")
    case .deny: arguments.append("deleteRule: .deny")
    case .noAction: arguments.append("deleteRule: .noAction")
    }
    if relationship.minimumCount > 0 { arguments.append("minimumModelCount: \(relationship.minimumCount)") }
    if relationship.isToMany, relationship.maximumCount > 0 {
      arguments.append("maximumModelCount: \(relationship.maximumCount)")
    }
    if let original = relationship.renamingIdentifier {
      arguments.append("originalName: \(SwiftText.literal(original))")
    }
    if let inverse = relationship.inverse, inverses.isNamed(at: entity.name, relationship.name) {
      arguments.append("inverse: \\\(relationship.destination).\(SwiftText.name(inverse))")
    }
    if let modifier = relationship.versionHashModifier {
      arguments.append("hashModifier: \(SwiftText.literal(modifier))")
    }
    let prefix = arguments.isEmpty ? "" : "@Relationship(\(arguments.joined(separator: ", "))) "
    let isOptionalArray = relationship.isToMany && relationship.isOptional && relationship.minimumCount > 0
    let type =
      relationship.isToMany
      ? "[\(relationship.destination)]\(isOptionalArray ? "?" : "") = []"
      : relationship.destination + (relationship.isOptional ? "?" : "")
    writer.line("\(prefix)\(context.access)var \(SwiftText.name(relationship.name)): \(type)")
  }

  // MARK: Initializers

  private struct Parameter {
    let name: String
    let type: String
  }

  /// The properties that need a value.
  private func parameters(of entity: ModelDocument.Entity) -> [Parameter] {
    entity.attributes.filter { !$0.isOptional && initialValue(of: $0) == nil }
      .map { Parameter(name: SwiftText.name($0.name), type: type(of: $0)) }
      + entity.relationships.filter { !$0.isToMany && !$0.isOptional }
      .map { Parameter(name: SwiftText.name($0.name), type: $0.destination) }
  }

  private func writeInitializer(
    of entity: ModelDocument.Entity, separated: Bool, to writer: inout SourceWriter
  ) {
    let own = parameters(of: entity)
    // A subclass without such properties inherits the initializers.
    if entity.parent != nil, own.isEmpty { return }
    let inherited = context.index.lineage(of: entity).dropFirst().reversed().flatMap { parameters(of: $0) }
    if separated { writer.line() }
    let list = (inherited + own).map { "\($0.name): \($0.type)" }.joined(separator: ", ")
    writer.block("\(context.access)init(\(list))") { writer in
      for parameter in own { writer.line("self.\(parameter.name) = \(parameter.name)") }
      if entity.parent != nil {
        writer.line("super.init(\(inherited.map { "\($0.name): \($0.name)" }.joined(separator: ", ")))")
      }
    }
  }
}
