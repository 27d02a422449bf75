import CambiumModelFiles
import CambiumSourceText

/// The classes that Xcode generates of a model with every build, where no source shows them.
///
/// An application whose entities have the code generation "Class Definition" has no source of its classes, and one with
/// "Category/Extension" none of their properties. Both are written as Xcode writes them, and then moved as any source.
/// Entities with "Manual/None" get nothing.
package struct GeneratedClasses {
  /// A source that the folder lacks.
  package struct File: Equatable {
    /// The name of the file, such as `Item+CoreDataProperties.swift`.
    package var name: String
    /// The source, moved to CambiumCoreData.
    package var text: String
  }

  /// The sources of the classes and properties that a folder lacks, in the order of the model's entities.
  package static func missing(in folder: Folder, of model: ModelDocument) -> [File] {
    var classes: [String: String] = [:]
    for entity in model.entities { classes[entity.name] = className(of: entity) }
    return model.entities.compactMap { entity in
      guard let name = classes[entity.name], name != "NSManagedObject", let generation = entity.codeGeneration else {
        return nil
      }
      let needsClass = generation == .classDefinition && !folder.declaredClasses.contains(name)
      let hasProperties = !entity.attributes.isEmpty || !entity.relationships.isEmpty
      if !needsClass && (!hasProperties || folder.managedProperties[name] != nil) {
        return nil
      }
      var writer = Writer(entity: entity, name: name, classes: classes)
      if needsClass {
        let parent = entity.parent.flatMap { classes[$0] } ?? "NSManagedObject"
        writer.lines += ["public class \(Keywords.escaped(name)): \(Keywords.escaped(parent)) {", "}", ""]
      }
      writer.writeProperties()
      let text = (["import Foundation", "import CoreData", ""] + writer.lines).joined(separator: "\n") + "\n"
      return File(
        name: "\(name)+CoreData\(needsClass ? "Class" : "Properties").swift",
        text: SourceMover.move(text, in: folder).text)
    }
  }

  private static func className(of entity: ModelDocument.Entity) -> String {
    let name = entity.className ?? entity.name
    return name.split(separator: ".").last.map { String($0) } ?? name
  }

  private struct Writer {
    let entity: ModelDocument.Entity
    /// The class, as source.
    let name: String
    /// The classes by entity.
    let classes: [String: String]
    var lines: [String] = []

    init(entity: ModelDocument.Entity, name: String, classes: [String: String]) {
      self.entity = entity
      self.name = Keywords.escaped(name)
      self.classes = classes
    }

    mutating func writeProperties() {
      lines += [
        "extension \(name) {", "", "    @nonobjc public class func fetchRequest() -> NSFetchRequest<\(name)> {",
        "        return NSFetchRequest<\(name)>(entityName: \"\(entity.name)\")", "    }", "",
      ]
      for attribute in entity.attributes {
        if attribute.type == .date, attribute.usesScalarValueType == true {
          writeInterval(attribute.name)
        } else {
          write(attribute.name, type(of: attribute))
        }
      }
      for relationship in entity.relationships {
        write(
          relationship.name,
          !relationship.isToMany
            ? "\(destination(of: relationship))?"
            : relationship.isOrdered ? "NSOrderedSet?" : "NSSet?")
      }
      lines += ["", "}", ""]
      for relationship in entity.relationships where relationship.isToMany { writeMethods(of: relationship) }
      // A subclass has it of its superclass.
      if entity.parent == nil { lines += ["extension \(name): Identifiable {", "}"] }
    }

    private mutating func write(_ name: String, _ type: String) {
      lines.append("    @NSManaged public var \(Keywords.escaped(name)): \(type)")
    }

    /// A date as a number. `@NSManaged` converts it, which `@Managed` does not do.
    private mutating func writeInterval(_ name: String) {
      lines += [
        "    public var \(Keywords.escaped(name)): TimeInterval {",
        "        get { (value(forKey: \"\(name)\") as? Date)?.timeIntervalSinceReferenceDate ?? 0 }",
        "        set { setValue(Date(timeIntervalSinceReferenceDate: newValue), forKey: \"\(name)\") }", "    }",
      ]
    }

    /// The class of the destination, as source.
    private func destination(of relationship: ModelDocument.Relationship) -> String {
      classes[relationship.destination].map { Keywords.escaped($0) } ?? "NSManagedObject"
    }

    private mutating func writeMethods(of relationship: ModelDocument.Relationship) {
      let destination = destination(of: relationship)
      let plural = relationship.name.capitalizedFirst
      let collection = relationship.isOrdered ? "NSOrderedSet" : "NSSet"
      lines += ["// MARK: Generated accessors for \(relationship.name)", "extension \(name) {", ""]
      if relationship.isOrdered {
        for method in [
          "insertInto\(plural)(_ value: \(destination), at idx: Int)", "removeFrom\(plural)(at idx: Int)",
          "insertInto\(plural)(_ values: [\(destination)], at indexes: NSIndexSet)",
          "removeFrom\(plural)(at indexes: NSIndexSet)", "replace\(plural)(at idx: Int, with value: \(destination))",
          "replace\(plural)(at indexes: NSIndexSet, with values: [\(destination)])",
        ] {
          lines += ["    @NSManaged public func \(method)", ""]
        }
      }
      for method in [
        "addTo\(plural)(_ value: \(destination))", "removeFrom\(plural)(_ value: \(destination))",
        "addTo\(plural)(_ values: \(collection))", "removeFrom\(plural)(_ values: \(collection))",
      ] {
        lines += ["    @NSManaged public func \(method)", ""]
      }
      lines += ["}", ""]
    }

    /// As Xcode has it: numbers and booleans are never optional unless they are objects, everything else always is.
    private func type(of attribute: ModelDocument.Attribute) -> String {
      let numbers: Set<ModelDocument.AttributeType> = [.integer16, .integer32, .integer64, .double, .float, .boolean]
      if attribute.usesScalarValueType == false, numbers.contains(attribute.type) { return "NSNumber?" }
      switch attribute.type {
      case .integer16: return "Int16"
      case .integer32: return "Int32"
      case .integer64: return "Int64"
      case .double: return "Double"
      case .float: return "Float"
      case .boolean: return "Bool"
      case .decimal: return "NSDecimalNumber?"
      case .string: return "String?"
      case .date: return "Date?"
      case .binary: return "Data?"
      case .uuid: return "UUID?"
      case .uri: return "URL?"
      case .objectID: return "NSManagedObjectID?"
      case .composite: return "[String: Any]?"
      case .transformable: return (attribute.customClassName ?? "NSObject") + "?"
      case .undefined: return "NSObject?"
      }
    }
  }
}
