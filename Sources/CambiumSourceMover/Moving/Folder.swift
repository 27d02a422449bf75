import CambiumModelFiles

/// The declarations of all files of a folder, and of its model if one was given.
package struct Folder {
  /// The classes of managed objects, without the types around them.
  private(set) var managedClasses: Set<String> = ["NSManagedObject", "ManagedObject"]
  private(set) var enums: [String: FileDeclarations.DeclaredEnum] = [:]
  private(set) var types: Set<String> = []
  private(set) var selectors: Set<String> = []
  /// The types that observe notifications with closures once they are moved.
  private(set) var observers: Set<String> = []
  private(set) var managedProperties: [String: [String: FileDeclarations.ManagedProperty]] = [:]
  /// Whether a source imports Core Data, or CambiumCoreData.
  private(set) var hasCoreData = false
  private var aliases: [String: String] = [:]
  private var conformances: [String: [String]] = [:]
  private var relationships: [String: [String: ModelDocument.Relationship]] = [:]
  /// The types of the attributes that the model has, by class.
  private var attributeTypes: [String: [String: ModelDocument.AttributeType]] = [:]
  /// The properties that the model has, by class.
  private var properties: [String: Set<String>] = [:]
  /// The enumerations that are types of `@NSManaged` properties.
  private(set) var storedEnums: Set<String> = []
  /// What classes validate, by class.
  private(set) var validations: [String: FileDeclarations.Validation] = [:]
  /// The classes that the folder declares, with their superclasses.
  private(set) var superclasses: [String: String] = [:]
  /// The declared classes whose superclasses lead to `NSManagedObject`, or to a class of the model.
  private(set) var declaredClasses: Set<String> = []
  private var observedKeys: [String: Set<String>] = [:]
  /// The classes that the model has.
  private var modelClasses: Set<String> = []
  /// Those that Xcode generates. They are made if no source has them.
  private var generatedClasses: Set<String> = []

  /// Reads the declarations of the files, each a text.
  package init(_ files: [String], model: ModelDocument? = nil) {
    var classes: [FileDeclarations.DeclaredClass] = []
    var observing: [(file: String, types: Set<String>)] = []
    for file in files {
      let declarations = FileDeclarations(SourceStructure(SourceText(file)))
      classes += declarations.classes
      hasCoreData = hasCoreData || declarations.importsCoreData
      for declared in declarations.enums where enums[declared.name] == nil { enums[declared.name] = declared }
      types.formUnion(declarations.types)
      selectors.formUnion(declarations.selectors)
      if !declarations.observers.isEmpty { observing.append((file, declarations.observers)) }
      for (name, validation) in declarations.validations {
        validations[name, default: FileDeclarations.Validation()].merge(validation)
      }
      observedKeys.merge(declarations.observedKeys) { $0.union($1) }
      aliases.merge(declarations.aliases) { first, _ in first }
      conformances.merge(declarations.conformances) { $0 + $1 }
      managedProperties.merge(declarations.managedProperties) { $0.merging($1) { first, _ in first } }
    }
    for declared in classes where superclasses[declared.name] == nil {
      superclasses[declared.name] = declared.superclass ?? ""
    }
    for entity in model?.entities ?? [] {
      let name = entity.className ?? entity.name
      let last = name.split(separator: ".").last.map { String($0) } ?? name
      managedClasses.insert(last)
      modelClasses.insert(last)
      if entity.codeGeneration == .classDefinition { generatedClasses.insert(last) }
      properties[last, default: []].formUnion(entity.attributes.map { $0.name } + entity.relationships.map { $0.name })
      for attribute in entity.attributes { attributeTypes[last, default: [:]][attribute.name] = attribute.type }
      for relationship in entity.relationships { relationships[last, default: [:]][relationship.name] = relationship }
    }
    // A class whose properties are managed is one, whatever its superclass is.
    for name in managedProperties.keys { managedClasses.insert(name) }
    managedClasses.formUnion(Self.subclasses(of: managedClasses, in: classes))
    declaredClasses = Self.subclasses(of: modelClasses.union(["NSManagedObject", "ManagedObject"]), in: classes)
    for properties in managedProperties.values {
      for property in properties.values {
        if let name = ManagedType(resolved(property.type)).elementName, isRawEnum(name) { storedEnums.insert(name) }
      }
    }
    // A file without Core Data keeps its calls.
    for (file, types) in observing where CoreDataNames.isMentioned(in: FileMove(file, in: self)) {
      observers.formUnion(types)
    }
  }

  /// The declared classes whose superclasses lead to one of some classes.
  private static func subclasses(
    of classes: Set<String>, in declared: [FileDeclarations.DeclaredClass]
  ) -> Set<String> {
    var result: Set<String> = []
    while true {
      let known = result.count
      for item in declared {
        if let superclass = item.superclass, classes.contains(superclass) || result.contains(superclass) {
          result.insert(item.name)
        }
      }
      if result.count == known { return result }
    }
  }

  /// Whether an enumeration of the folder has raw values that an attribute can hold.
  func isRawEnum(_ name: String) -> Bool {
    enums[name]?.inherited.contains { ManagedType.rawValues.contains($0) } ?? false
  }

  /// Whether a type of the folder conforms to a protocol.
  func conforms(_ name: String, to protocolName: String) -> Bool {
    (enums[name]?.inherited ?? []).contains(protocolName) || (conformances[name] ?? []).contains(protocolName)
  }

  /// The type that an alias of the folder stands for, or the type itself.
  func resolved(_ type: String) -> String {
    var type = type
    // Aliases may name each other in a circle.
    for _ in 0..<8 {
      let (name, mark) = ManagedType.splitOptional(type)
      guard let target = aliases[name] else { return type }
      type = target + mark
    }
    return type
  }

  /// The name of a to-many relationship of a class whose capitalized name is part of a generated method's name.
  func relationship(capitalized name: String, of className: String) -> (name: String, isOrdered: Bool?) {
    if let known = relationships[className]?.values.first(where: { $0.name.capitalizedFirst == name }) {
      return (known.name, known.isOrdered)
    }
    let properties = managedProperties[className] ?? [:]
    if let known = properties.values.first(where: { $0.key.capitalizedFirst == name }) {
      let type = ManagedType(known.type)
      return (known.key, type.base.contains("OrderedSet") || type.base.hasPrefix("[") ? true : false)
    }
    return (name.uncapitalizedFirst, nil)
  }

  /// The superclasses of a class, as far as the folder declares them, the next first.
  private func superclasses(of name: String) -> [String] {
    var result: [String] = []
    // Classes may name each other in a circle.
    while let next = superclasses[result.last ?? name], next != name, !result.contains(next) { result.append(next) }
    return result
  }

  /// Whether the sources have a class once they are moved.
  func hasClass(_ name: String) -> Bool {
    name != "NSManagedObject" && (superclasses[name] != nil || generatedClasses.contains(name))
  }

  /// Whether a class validates properties by methods of its own, and none of its superclasses does.
  func validatesFirst(_ name: String) -> Bool {
    validations[name]?.isOwn == true && !superclasses(of: name).contains { validations[$0]?.isOwn == true }
  }

  /// Whether a superclass of a class declares a class method for key-value observing.
  func declares(_ method: String, above name: String) -> Bool {
    superclasses(of: name).contains { observedKeys[$0]?.contains(method) == true }
  }

  /// The name of a property of a class or its superclasses whose capitalized name is part of a method's name.
  func property(capitalized name: String, of className: String) -> String {
    for owner in [className] + superclasses(of: className) {
      let names = Set((managedProperties[owner] ?? [:]).values.map { $0.key }).union((properties[owner] ?? []))
      if let known = names.sorted().first(where: { $0.capitalizedFirst == name }) { return known }
    }
    return name.uncapitalizedFirst
  }

  /// The names in the model of properties that follow each other from a class on. Without a class, a property has the
  /// name that all classes with such a property agree on.
  func keys(_ names: [String], from className: String?) -> [String] {
    var keys: [String] = []
    var owner = className
    for name in names {
      let isAnyClass = className == nil && keys.isEmpty
      let known = isAnyClass ? commonProperty(name) : owner.flatMap { managedProperty(name, of: $0) }
      keys.append(known?.key ?? name)
      owner = known.flatMap { ManagedType(resolved($0.type)).elementName }
    }
    return keys
  }

  /// A property that has one name in the model in all classes that have it. The type is empty if the classes differ.
  private func commonProperty(_ name: String) -> FileDeclarations.ManagedProperty? {
    let all = managedProperties.values.compactMap { $0[name] }
    guard let first = all.first, all.allSatisfy({ $0.key == first.key }) else { return nil }
    return FileDeclarations.ManagedProperty(
      type: all.allSatisfy { $0.type == first.type } ? first.type : "", key: first.key)
  }

  /// A property of a class or its superclasses.
  private func managedProperty(_ name: String, of className: String) -> FileDeclarations.ManagedProperty? {
    for owner in [className] + superclasses(of: className) {
      if let known = managedProperties[owner]?[name] { return known }
    }
    return nil
  }

  /// The type of an attribute of a class in the model; `nil` if there is no model, or none with such an attribute.
  func attributeType(_ attribute: String, of className: String) -> ModelDocument.AttributeType? {
    attributeTypes[className]?[attribute]
  }

  /// Whether the model says that a property is a relationship.
  func isRelationship(_ property: String, of className: String) -> Bool {
    relationships[className]?[property] != nil
  }
}

extension String {
  var capitalizedFirst: String { first.map { $0.uppercased() + dropFirst() } ?? self }
  var uncapitalizedFirst: String { first.map { $0.lowercased() + dropFirst() } ?? self }
}
