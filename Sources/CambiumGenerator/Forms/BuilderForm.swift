import CambiumModelFiles

/// Writes a version as code of the model builder.
struct BuilderForm {
  let context: FormContext
  /// Whether entities name the classes of ``ManagedObjectsForm``.
  let namesClasses: Bool

  private var names: TypeNames { context.names }
  private var cambium: (String) -> String { { names.type($0, of: "Cambium") } }

  /// The modules that the code imports.
  var imports: Set<String> {
    let valued = context.allAttributes.filter {
      DefaultValue(of: $0) != nil || DefaultValue(limit: $0.minimum, of: $0) != nil
        || DefaultValue(limit: $0.maximum, of: $0) != nil
    }
    return FormContext.needsFoundation(valued) ? ["Cambium", "Foundation"] : ["Cambium"]
  }

  /// The members of the namespace: a function that makes the model, and a property for each entity, so that the
  /// compiler looks at one at a time.
  func members() -> [String] {
    var writer = SourceWriter()
    let model = cambium("ManagedObjectModel")
    let identifiers =
      context.document.versionIdentifier.map { "(versionIdentifiers: [\(SwiftText.literal($0))])" } ?? ""
    let parts = partNames()
    writer.line("/// Makes the model; each container takes its own.")
    writer.block("\(context.access)static func makeModel() throws -> \(model)") { writer in
      writer.block("try \(model)\(identifiers)") { writer in
        for type in context.document.composites { write(type, to: &writer) }
        for part in parts { writer.line(part) }
        for request in context.document.fetchRequests { writer.line(template(request)) }
        for configuration in context.document.configurations {
          let members = ([configuration.name] + configuration.entities).map { SwiftText.literal($0) }
          writer.line("\(cambium("Configuration"))(\(members.joined(separator: ", ")))")
        }
      }
    }
    for (entity, part) in zip(context.document.entities, parts) {
      writer.line()
      writer.block("private static var \(part): \(cambium("Entity"))") { writer in write(entity, to: &writer) }
    }
    return writer.lines
  }

  /// The names of the properties of the entities.
  private func partNames() -> [String] {
    var taken: Set<String> = []
    return context.document.entities.map { entity in
      let name = VersionNames.capitalized(entity.name)
      var part = "entity" + name
      while !taken.insert(part).inserted { part += "_" }
      return part
    }
  }

  // MARK: Entities

  private func write(_ entity: ModelDocument.Entity, to writer: inout SourceWriter) {
    var arguments = [SwiftText.literal(entity.name)]
    if let parent = entity.parent { arguments.append("parent: \(SwiftText.literal(parent))") }
    if entity.isAbstract { arguments.append("abstract: true") }
    if namesClasses { arguments.append("class: \(FormContext.className(of: entity)).self") }
    if let original = entity.renamingIdentifier { arguments.append("renamed: \(SwiftText.literal(original))") }
    if let modifier = entity.versionHashModifier {
      arguments.append("versionHashModifier: \(SwiftText.literal(modifier))")
    }
    let changes = change("userInfo", entity.userInfo)
    writer.block(
      "\(cambium("Entity"))(\(arguments.joined(separator: ", ")))", closing: "}" + with(changes)
    ) { writer in
      for attribute in entity.attributes { writer.line(source(of: attribute)) }
      for relationship in entity.relationships { writer.line(source(of: relationship)) }
      for property in entity.fetchedProperties {
        writer.line(
          "\(cambium("Fetched"))(\(requestArguments(of: property.request, name: property.name, property.userInfo)))")
      }
      for index in context.index.usableIndexes(of: entity) { writer.line(source(of: index)) }
      for paths in entity.uniquenessConstraints {
        writer.line("\(cambium("Unique"))(\(paths.map { SwiftText.literal($0) }.joined(separator: ", ")))")
      }
    }
  }

  private func write(_ type: ModelDocument.Composite, to writer: inout SourceWriter) {
    writer.block("\(cambium("Composite"))(\(SwiftText.literal(type.name)))") { writer in
      for element in type.elements { writer.line(source(of: element)) }
    }
  }

  /// The change of a description that several parts have; none if there is nothing to say.
  private func change(_ name: String, _ entries: [ModelDocument.UserInfo]) -> [String] {
    entries.isEmpty ? [] : ["$0.\(name) = \(SwiftText.literal(entries.map { ($0.key, $0.value) }))"]
  }

  private func change(_ name: String, _ text: String?) -> [String] {
    text.map { ["$0.\(name) = \(SwiftText.literal($0))"] } ?? []
  }

  private func with(_ changes: [String]) -> String {
    changes.isEmpty ? "" : ".with { \(changes.joined(separator: "; ")) }"
  }

  // MARK: Properties

  private func source(of attribute: ModelDocument.Attribute) -> String {
    var arguments = [SwiftText.literal(attribute.name)]
    var changes: [String] = []
    if attribute.type == .composite {
      arguments.append("composite: \(SwiftText.literal(attribute.compositeName ?? ""))")
      if !attribute.isOptional { arguments.append("optional: false") }
      if attribute.isTransient { changes.append("$0.isTransient = true") }
    } else if let derivation = attribute.derivation {
      arguments += [".\(attribute.type)", "derived: \(SwiftText.literal(derivation))"]
      if !attribute.isOptional { changes.append("$0.isOptional = false") }
      if attribute.isTransient { changes.append("$0.isTransient = true") }
      changes += values(of: attribute).map { "$0.\($0.property) = \($0.source)" }
      changes += change("regularExpression", attribute.regularExpression?.value)
    } else {
      arguments.append(".\(attribute.type)")
      if !attribute.isOptional { arguments.append("optional: false") }
      if attribute.isTransient { arguments.append("transient: true") }
      arguments += values(of: attribute).map { "\($0.label): \($0.source)" }
      if let pattern = attribute.regularExpression { arguments.append("pattern: \(SwiftText.literal(pattern.value))") }
    }
    if let original = attribute.renamingIdentifier { arguments.append("renamed: \(SwiftText.literal(original))") }
    changes += change("valueTransformerName", attribute.valueTransformerName)
    if attribute.allowsExternalBinaryDataStorage { changes.append("$0.allowsExternalBinaryDataStorage = true") }
    if attribute.preservesValueInHistoryOnDeletion { changes.append("$0.preservesValueInHistoryOnDeletion = true") }
    changes += change("versionHashModifier", attribute.versionHashModifier)
    changes += change("userInfo", attribute.userInfo)
    return "\(cambium("Attribute"))(\(arguments.joined(separator: ", ")))\(with(changes))"
  }

  /// The default and the limits: their labels and properties, and the values.
  private func values(
    of attribute: ModelDocument.Attribute
  ) -> [(label: String, property: String, source: String)] {
    var result: [(label: String, property: String, source: String)] = []
    if let value = DefaultValue(of: attribute) { result.append(("default", "defaultValue", source(of: value))) }
    if let value = DefaultValue(limit: attribute.minimum, of: attribute) {
      result.append(("minimum", "minimumValue", source(of: value)))
    }
    if let value = DefaultValue(limit: attribute.maximum, of: attribute) {
      result.append(("maximum", "maximumValue", source(of: value)))
    }
    return result
  }

  /// A value where any value may stand: of those that literals of Swift would have another type for, the type is
  /// written.
  private func source(of value: DefaultValue) -> String {
    let source = value.source(names, isOptional: true)
    switch value {
    case .decimal: return source.contains("(") ? source : "\(names.foundation("Decimal"))(\(source))"
    case .float: return "\(names.swift("Float"))(\(source))"
    case .double: return source.contains(".") || source.contains("e") ? source : source + ".0"
    default: return source
    }
  }

  private func source(of relationship: ModelDocument.Relationship) -> String {
    var arguments = [SwiftText.literal(relationship.name), SwiftText.literal(relationship.destination)]
    if let inverse = relationship.inverse { arguments.append("inverse: \(SwiftText.literal(inverse))") }
    if relationship.isOrdered { arguments.append("ordered: true") }
    switch relationship.deleteRule {
    case .nullify: break
    case .cascade: arguments.append("deleteRule: .cascade")
    case .deny: arguments.append("deleteRule: .deny")
    case .noAction: arguments.append("deleteRule: .noAction")
    }
    if !relationship.isOptional { arguments.append("optional: false") }
    var changes: [String] = []
    if relationship.isToMany {
      if relationship.minimumCount > 0 { arguments.append("minimum: \(relationship.minimumCount)") }
      if relationship.maximumCount > 0 { arguments.append("maximum: \(relationship.maximumCount)") }
    } else if relationship.minimumCount > 0 {
      changes.append("$0.minCount = \(relationship.minimumCount)")
    }
    if let original = relationship.renamingIdentifier { arguments.append("renamed: \(SwiftText.literal(original))") }
    if relationship.isTransient { changes.append("$0.isTransient = true") }
    changes += change("versionHashModifier", relationship.versionHashModifier)
    changes += change("userInfo", relationship.userInfo)
    let type = relationship.isToMany ? "ToMany" : "ToOne"
    return "\(cambium(type))(\(arguments.joined(separator: ", ")))\(with(changes))"
  }

  private func source(of index: ModelDocument.Index) -> String {
    var arguments = [SwiftText.literal(index.name)]
    arguments += index.elements.map { SwiftText.literal(($0.isAscending ? "" : "-") + $0.path) }
    if let predicate = index.partialPredicate { arguments.append("where: \(SwiftText.literal(predicate.value))") }
    if index.elements.first?.kind == .rTree { arguments.append("kind: .rTree") }
    return "\(cambium("Index"))(\(arguments.joined(separator: ", ")))"
  }

  // MARK: Requests

  private func template(_ request: ModelDocument.Request) -> String {
    "\(cambium("RequestTemplate"))(\(requestArguments(of: request, name: request.name, [])))"
  }

  private func requestArguments(
    of request: ModelDocument.Request, name: String, _ entries: [ModelDocument.UserInfo]
  ) -> String {
    var arguments = [SwiftText.literal(name), SwiftText.literal(request.entity)]
    if let predicate = request.predicate { arguments.append("where: \(SwiftText.literal(predicate.value))") }
    if request.fetchLimit > 0 { arguments.append("limit: \(request.fetchLimit)") }
    if !entries.isEmpty { arguments.append("userInfo: \(SwiftText.literal(entries.map { ($0.key, $0.value) }))") }
    return arguments.joined(separator: ", ")
  }
}
