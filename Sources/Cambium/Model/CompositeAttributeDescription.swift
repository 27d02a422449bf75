import CambiumEngine

/// What ``ManagedObjectModel`` and its parts throw where Core Data raises `NSInvalidArgumentException`.
public enum ManagedObjectModelError: Error, Equatable, Sendable, CustomStringConvertible {
  /// An element of a composite attribute is neither an attribute nor a composite attribute: `type` says what it is.
  case invalidElement(name: String, type: String, composite: String)
  /// A composite would contain itself.
  case cyclicElement(name: String, composite: String)
  /// The element is one of another composite, a property of an entity, or a composite type of a model, already. Give
  /// each place its own description.
  case elementInUse(name: String, composite: String)

  /// What is wrong and what to do.
  public var description: String {
    switch self {
    case .invalidElement(let name, let type, let composite):
      return "'\(name)' is a \(type), which cannot be an element of the composite attribute '\(composite)'; "
        + "use attributes and composite attributes only"
    case .cyclicElement(let name, let composite):
      return "the composite attribute '\(composite)' would contain itself through '\(name)'"
    case .elementInUse(let name, let composite):
      return "'\(name)' belongs to another composite, entity or model; make another description for '\(composite)'"
    }
  }
}

/// An attribute made of named elements, each an attribute or a composite again, to any depth (the engine stops at 64).
/// Core Data: `NSCompositeAttributeDescription`.
///
/// Objects give and take its values as `[String: Any]` dictionaries keyed by element name, or as a Swift type of the
/// application's: see ``CompositeRepresentable``. Predicates, sort descriptors and indexes reach the elements by key
/// paths such as `colorScheme.primary`.
///
/// **Defaults.** An element that a dictionary leaves out takes its default, and an element that it sets to `nil` is
/// null. A new object has a required composite with the defaults of its elements, if one of them has a default. An
/// optional composite begins as null. The same holds for composites within composites. For example, with a required
/// element `zone` whose default is "UTC", `["latitude": 47.5]` sets `zone` to "UTC".
public final class CompositeAttributeDescription: AttributeDescription, @unchecked Sendable {
  // `@unchecked`: set up on one thread; from when its model is in use, assignments are refused, so that it only is
  // read.
  private var storedElements: [AttributeDescription] = []
  /// A type that was assigned and cannot be.
  @ModelValue private var refusedType: AttributeType?
  /// The model-level type (one of ``ManagedObjectModel/compositeTypes``) that the elements come from; `nil` if they are
  /// the attribute's own. When it is set, the type counts and ``elements`` are a copy of the type's.
  @ModelValue public var compositeTypeName: String?

  /// A composite attribute without name and elements.
  public override init() {
    super.init()
    storedType = .composite
  }

  /// A composite attribute of its own elements.
  ///
  /// - Throws: ``ManagedObjectModelError``, as ``setElements(_:)``.
  public convenience init(_ name: String, elements: [PropertyDescription], isOptional: Bool = true) throws {
    self.init()
    self.name = name
    self.isOptional = isOptional
    try setElements(elements)
  }

  /// A composite attribute of a type that the model declares.
  public convenience init(_ name: String, compositeTypeName: String, isOptional: Bool = true) {
    self.init()
    self.name = name
    self.isOptional = isOptional
    self.compositeTypeName = compositeTypeName
  }

  /// Always `AttributeType.composite`. Another type that was assigned makes compiling the model throw
  /// (``ManagedObjectModel/schema()``), until `AttributeType.composite` is assigned.
  public override var attributeType: AttributeType {
    get { .composite }
    set { refusedType = newValue == .composite ? nil : newValue }
  }

  /// The elements, in declared order.
  public var elements: [AttributeDescription] { storedElements }

  /// Replaces the elements. Where else Core Data raises, <doc:FromCoreData> says.
  ///
  /// - Throws: ``ManagedObjectModelError`` for anything but attributes and composite attributes (Core Data:
  ///   `NSInvalidArgumentException`), or for a composite within itself; nothing is changed then. ``CambiumError`` when
  ///   the model is in use.
  public func setElements(_ elements: [PropertyDescription]) throws {
    try checkMutable("the elements of '\(name)'")
    var attributes: [AttributeDescription] = []
    for element in elements {
      guard let attribute = element as? AttributeDescription else {
        throw ManagedObjectModelError.invalidElement(
          name: element.name, type: "\(type(of: element))", composite: name)
      }
      if attribute === self || attribute.contains(self) {
        throw ManagedObjectModelError.cyclicElement(name: element.name, composite: name)
      }
      if attribute.isOwned, attribute.parentElement !== self {
        throw ManagedObjectModelError.elementInUse(name: element.name, composite: name)
      }
      attributes.append(attribute)
    }
    adopt(attributes)
  }

  func adopt(_ attributes: [AttributeDescription]) {
    for element in storedElements where element.parentElement === self { element.parentElement = nil }
    storedElements = attributes
    for element in attributes { element.parentElement = self }
  }

  /// Takes over the elements that a named type, of this composite or of one in it, was found to have. As deep as the
  /// schema.
  func fillElements(from attribute: AttributeSchema) {
    guard compositeTypeName == nil else { return adopt(attribute.elements.map { attributeDescription($0) }) }
    for case let composite as CompositeAttributeDescription in storedElements {
      if let element = attribute.element(named: composite.name) { composite.fillElements(from: element) }
    }
  }

  /// The element of a name. O(number of elements).
  public func element(named name: String) -> AttributeDescription? { storedElements.first { $0.name == name } }

  override func schema() throws -> AttributeSchema {
    if let refusedType {
      throw CambiumError(
        .invalidModel,
        "the attributeType of the composite attribute '\(name)' was set to \(refusedType.name), and is always Composite; "
          + "make an AttributeDescription of that type", entityName: entity?.name, key: name)
    }
    var result: AttributeSchema
    if let compositeTypeName {
      result = AttributeSchema(name, composite: compositeTypeName)
    } else {
      result = AttributeSchema(name, elements: try storedElements.map { try $0.schema() })
    }
    try fill(&result)
    return result
  }
}

extension AttributeDescription {
  /// Whether `other` is somewhere among the elements. The tree cannot be cyclic, since every way to build it checks.
  fileprivate func contains(_ other: AttributeDescription) -> Bool {
    var pending: [AttributeDescription] = [self]
    while let next = pending.popLast() {
      guard let composite = next as? CompositeAttributeDescription else { continue }
      for element in composite.elements {
        if element === other { return true }
        pending.append(element)
      }
    }
    return false
  }
}
