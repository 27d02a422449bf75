import CambiumModelFiles

/// Writes a version as subclasses of `ManagedObject`.
struct ManagedObjectsForm {
  let context: FormContext
  /// The composite types that become structures. Attributes of other types are dictionaries.
  private let structures: Set<String>

  init(_ context: FormContext) {
    self.context = context
    structures = Self.structures(of: context)
  }

  private var names: TypeNames { context.names }

  /// Writes all classes, then the structures.
  func declarations() -> [Declaration] {
    context.document.entities.map { declaration(of: $0) }
      + context.document.composites.filter { structures.contains($0.name) }.map { type in
        var writer = SourceWriter()
        CompositeWriter(context).writeRepresentable(type, to: &writer)
        return Declaration(
          name: type.name,
          imports: FormContext.needsFoundation(type.elements) ? ["Cambium", "Foundation"] : ["Cambium"],
          lines: writer.lines)
      }
  }

  private func declaration(of entity: ModelDocument.Entity) -> Declaration {
    var writer = SourceWriter()
    let name = FormContext.className(of: entity)
    let isParent = context.index.hasChildren(entity.name)
    let parent = entity.parent.flatMap { context.index.entity($0) }.map { FormContext.className(of: $0) }
    // The paths of a superclass are those of its subclasses as well, without what these add.
    var paths = parent == nil ? "@ManagedPaths " : ""
    let members = entity.attributes.map { $0.name } + entity.relationships.map { $0.name }
    if let taken = members.first(where: { ["paths", "predicateKeyPaths"].contains($0) }), parent == nil {
      writer.line("// Not with @ManagedPaths, which adds a member '\(taken)'.")
      paths = ""
    }
    let opening = "\(paths)\(context.access)\(isParent ? "" : "final ")class \(name): "
    writer.block(opening + (parent ?? names.type("ManagedObject", of: "Cambium"))) { writer in
      for attribute in entity.attributes {
        write(attribute.name, type(of: attribute), isComputed: attribute.derivation != nil, to: &writer)
      }
      for relationship in entity.relationships { write(relationship.name, type(of: relationship), to: &writer) }
      for property in entity.fetchedProperties {
        write(property.name, "[\(className(property.request.entity))]", isComputed: true, to: &writer)
      }
    }
    return Declaration(
      name: name, imports: needsFoundation(entity) ? ["Cambium", "Foundation"] : ["Cambium"],
      lines: writer.lines)
  }

  /// The type of transformable values may be one of Foundation's as well.
  private func needsFoundation(_ entity: ModelDocument.Entity) -> Bool {
    FormContext.needsFoundation(entity.attributes) || entity.attributes.contains { $0.type == .transformable }
  }

  /// - Parameter isComputed: Whether the store computes the values, so that nobody sets them.
  private func write(_ name: String, _ type: String, isComputed: Bool = false, to writer: inout SourceWriter) {
    writer.line("@Managed \(context.access)\(isComputed ? "private(set) " : "")var \(SwiftText.name(name)): \(type)")
  }

  private func className(_ entity: String) -> String {
    context.index.entity(entity).map { FormContext.className(of: $0) } ?? entity
  }

  private func type(of attribute: ModelDocument.Attribute) -> String {
    if let type = names.value(attribute.type) {
      // There is no URL to be read where there is no value.
      return type + (attribute.isOptional || attribute.type == .uri ? "?" : "")
    }
    switch attribute.type {
    case .objectID: return names.type("ManagedObjectID", of: "Cambium") + "?"
    case .composite:
      guard let type = attribute.compositeName, structures.contains(type) else {
        return "[\(names.swift("String")): Any]?"
      }
      return type + "?"
    case .transformable:
      // Without a transformer the bytes are the value.
      if attribute.valueTransformerName == nil { return names.foundation("Data") + "?" }
      return (attribute.customClassName.flatMap { SwiftTypeText($0)?.text } ?? "Any") + "?"
    default: return "Any?"
    }
  }

  private func type(of relationship: ModelDocument.Relationship) -> String {
    let destination = className(relationship.destination)
    if !relationship.isToMany { return destination + "?" }
    return relationship.isOrdered ? "[\(destination)]" : "\(names.swift("Set"))<\(destination)>"
  }

  /// The composite types that can be structures: all elements have names and types of Swift.
  private static func structures(of context: FormContext) -> Set<String> {
    var result = Set(
      context.document.composites.filter { type in
        !type.elements.isEmpty && context.index.entity(type.name) == nil
          && NameCheck.type(type.name, of: "", what: "", remedy: "") == nil
          && type.elements.allSatisfy { element in
            NameCheck.property(element.name, of: "", reserved: [], member: "") == nil
              && ![.undefined, .transformable, .objectID].contains(element.type)
          }
      }.map { $0.name })
    for entity in context.document.entities { result.remove(FormContext.className(of: entity)) }
    // One that has a dictionary within is a dictionary.
    while let type = context.document.composites.first(where: { type in
      result.contains(type.name)
        && type.elements.contains { element in
          element.type == .composite && !(element.compositeName.map { result.contains($0) } ?? false)
        }
    }) {
      result.remove(type.name)
    }
    return result
  }
}
