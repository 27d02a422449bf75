extension SchemaError: CustomStringConvertible {
  /// One sentence for the developer.
  #if !hasFeature(Embedded)
    @_optimize(none)
  #endif
  public var description: String {
    switch self {
    case .invalidName(let name, let place, let reason): return "\(place): the name '\(name)' cannot be used: \(reason)"
    case .duplicateName(let name, let place): return "\(place): the name '\(name)' is used twice"
    case .unknownParent(let parent, let entity): return "entity \(entity): the model has no parent '\(parent)'"
    case .inheritanceCycle(let entity): return "entity \(entity) is its own ancestor"
    case .propertyShadowsAncestor(let property, let entity, let ancestor):
      return "\(entity).\(property) has the name of a property of its ancestor \(ancestor)"
    case .unknownEntity(let name, let place): return "\(place): the model has no entity '\(name)'"
    case .unknownInverse(let inverse, let relationship, let entity):
      return "\(entity).\(relationship): the destination has no relationship '\(inverse)' to be its inverse"
    case .inverseMismatch(let relationship, let entity, let inverse, let destination):
      return "\(entity).\(relationship) and \(destination).\(inverse) do not name each other as inverses"
    case .invalidCounts(let relationship, let entity):
      return "\(entity).\(relationship): least and greatest count contradict each other, or its being to-one"
    case .orderedToOne(let relationship, let entity): return "\(entity).\(relationship) is to-one and cannot be ordered"
    case .undefinedType(let attribute, let place):
      return "\(place).\(attribute) has no type: give it one, or make it transient"
    case .invalidElement(let element, let place, let reason): return "\(place).\(element): \(reason)"
    case .unknownComposite(let name, let place): return "\(place): the model has no composite type '\(name)'"
    case .compositeCycle(let name): return "composite type '\(name)' contains itself"
    case .compositeTooDeep(let place):
      return "\(place): composites are nested deeper than \(Schema.compositeDepthLimit)"
    case .tooManyProperties:
      return
        "the model has more than \(Schema.propertyLimit) properties, or its entities inherit more than "
        + "\(Schema.inheritedPropertyLimit) in all"
    case .notComposite(let attribute, let place):
      return "\(place).\(attribute): elements and a composite type go together with the type composite"
    case .invalidValue(let what, let attribute, let place):
      return "\(place).\(attribute): the \(what) is not of the attribute's type"
    case .invalidPattern(let pattern, let attribute, let place, let reason):
      return "\(place).\(attribute): the pattern \"\(pattern)\" cannot be used: \(reason)"
    case .invalidRule(let predicate, let attribute, let place, let reason):
      return "\(place).\(attribute): the validation predicate \"\(predicate)\" cannot be used: \(reason)"
    case .invalidIndex(let name, let entity, let reason): return "\(entity), index '\(name)': \(reason)"
    case .invalidIndexPath(let path, let index, let entity, let reason):
      return "\(entity), index '\(index)', element '\(path)': \(reason)"
    case .unknownKeyPath(let path, let component, let entity):
      return "'\(path)': \(entity) has no property '\(component)'"
    case .keyPathTooLong(let components):
      return "a key path has \(components) components; at most \(Predicate.depthLimit) are followed"
    case .malformed(let offset, let detail): return "the stored model is damaged at byte \(offset): \(detail)"
    case .unsupportedVersion(let version):
      return "the stored model has version \(version), which this version does not know; use a newer version of Cambium"
    case .identifiersExhausted: return "all identifiers for entities, properties or indexes have been used"
    }
  }
}
