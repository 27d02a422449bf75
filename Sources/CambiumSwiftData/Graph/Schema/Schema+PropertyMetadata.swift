import Observation

extension Schema {
  /// What a class says of one of its properties, or of several. The expansion of ``Model()`` makes it.
  public struct PropertyMetadata {
    enum Role {
      case property
      case groups(any PathGroups)
      case originalName(String, of: any PersistentModel.Type)
    }

    let role: Role
    let name: String
    let keypath: AnyKeyPath
    /// The same, beginning at the class that declares the property.
    let declaredKeyPath: AnyKeyPath
    /// Makes the initial value that the class gives; nil if it gives none.
    let makeDefault: (() -> Any?)?
    let metadata: (any SchemaProperty)?
    /// Tells observers of a model that the property changes.
    let tell: ((ObservationRegistrar, AnyObject) -> Void)?

    var attribute: Schema.Attribute? { metadata as? Schema.Attribute }
    var relationship: Schema.Relationship? { metadata as? Schema.Relationship }

    /// A property.
    public init(name: String, keypath: AnyKeyPath, defaultValue: Any? = nil, metadata: (any SchemaProperty)? = nil) {
      self.init(.property, name, keypath, keypath, defaultValue.map { value in { value } }, metadata, nil)
    }

    private init(
      _ role: Role, _ name: String, _ keypath: AnyKeyPath, _ declared: AnyKeyPath, _ makeDefault: (() -> Any?)?,
      _ metadata: (any SchemaProperty)?, _ tell: ((ObservationRegistrar, AnyObject) -> Void)?
    ) {
      (self.role, self.name, self.keypath, declaredKeyPath) = (role, name, keypath, declared)
      (self.makeDefault, self.metadata, self.tell) = (makeDefault, metadata, tell)
    }

    private static func teller<Owner: Observable & AnyObject, Value>(
      _ keyPath: KeyPath<Owner, Value>
    ) -> (ObservationRegistrar, AnyObject) -> Void {
      { registrar, model in
        guard let owner = model as? Owner else { return }
        registrar.withMutation(of: owner, keyPath: keyPath) {}
      }
    }

    /// A property without an initial value.
    ///
    /// - Parameters:
    ///   - keyPath: From the class that is asked, which may inherit the property.
    ///   - declared: From the class that declares the property.
    public static func property<Model: PersistentModel, Owner: Observable & AnyObject, Value>(
      _ name: String, _ keyPath: KeyPath<Model, Value>, _ declared: KeyPath<Owner, Value>,
      metadata: (any SchemaProperty)? = nil
    ) -> PropertyMetadata {
      PropertyMetadata(.property, name, keyPath, declared, nil, metadata, teller(declared))
    }

    /// A property with an initial value.
    public static func property<Model: PersistentModel, Owner: Observable & AnyObject, Value>(
      _ name: String, _ keyPath: KeyPath<Model, Value>, _ declared: KeyPath<Owner, Value>,
      default initial: @autoclosure @escaping () -> Value, metadata: (any SchemaProperty)? = nil
    ) -> PropertyMetadata {
      PropertyMetadata(.property, name, keyPath, declared, { initial() }, metadata, teller(declared))
    }

    /// What `#Unique` or `#Index` says.
    public static func constraints<P: SchemaProperty>(_ name: String, _ groups: P) -> PropertyMetadata {
      guard let paths = groups as? any PathGroups else { return PropertyMetadata(name: name, keypath: \Schema.version) }
      return PropertyMetadata(.groups(paths), name, \Schema.version, \Schema.version, nil, groups, nil)
    }

    /// What a class was called before.
    public static func originalName<Model: PersistentModel>(_ name: String, of type: Model.Type) -> PropertyMetadata {
      PropertyMetadata(.originalName(name, of: type), "", \Schema.version, \Schema.version, nil, nil, nil)
    }
  }
}
