/// Which relationships of classes lead back to each other.
///
/// A relationship whose class names its inverse has that one. If neither side names one, two relationships are each
/// other's inverses if each is the only one that leads from its class to the other's. A relationship of a class to
/// itself needs `inverse:`.
struct Inverses {
  private struct Place: Hashable {
    let owner: ObjectIdentifier
    let name: String
  }

  private var found: [Place: ModelProperty] = [:]

  init(of classes: [ModelClass]) {
    for modelClass in classes {
      for property in modelClass.ownProperties {
        guard let keyPath = property.metadata.relationship?.inverseKeyPath, let destination = property.destination,
          let other = ModelClass.of(destination).byKeyPath[keyPath]
        else { continue }
        pair(property, of: modelClass, with: other, of: Self.owner(of: other, in: .of(destination)))
      }
    }
    for modelClass in classes {
      for property in modelClass.ownProperties where isFree(property, of: modelClass) {
        guard let destination = property.destination.map({ ModelClass.of($0) }),
          destination.typeID != modelClass.typeID,
          let other = only(from: destination, to: modelClass), only(from: modelClass, to: destination) === property
        else { continue }
        pair(property, of: modelClass, with: other, of: destination)
      }
    }
  }

  /// The relationship that leads back; nil if there is none.
  func inverse(of property: ModelProperty, in modelClass: ModelClass) -> ModelProperty? {
    found[Place(owner: Self.owner(of: property, in: modelClass).typeID, name: property.name)]
  }

  /// The class that declares a property.
  private static func owner(of property: ModelProperty, in modelClass: ModelClass) -> ModelClass {
    var owner = modelClass
    while let parent = owner.superclass, parent.byName[property.name] != nil { owner = parent }
    return owner
  }

  private mutating func pair(
    _ a: ModelProperty, of first: ModelClass, with b: ModelProperty, of second: ModelClass
  ) {
    found[Place(owner: first.typeID, name: a.name)] = b
    found[Place(owner: second.typeID, name: b.name)] = a
  }

  private func isFree(_ property: ModelProperty, of modelClass: ModelClass) -> Bool {
    property.destination != nil && property.metadata.relationship?.inverseKeyPath == nil
      && found[Place(owner: modelClass.typeID, name: property.name)] == nil
  }

  /// The one relationship from a class to another that has no inverse yet; nil if there are none or several.
  private func only(from source: ModelClass, to destination: ModelClass) -> ModelProperty? {
    let leading = source.ownProperties.filter {
      isFree($0, of: source) && $0.destination.map { ObjectIdentifier($0) } == destination.typeID
    }
    return leading.count == 1 ? leading[0] : nil
  }
}

extension ModelProperty {
  /// The class that a relationship leads to; nil for an attribute.
  var destination: (any PersistentModel.Type)? {
    switch kind {
    case .attribute: nil
    case .toOne(let type), .toMany(let type): type
    }
  }
}
