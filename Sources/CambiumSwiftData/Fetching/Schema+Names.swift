extension Schema {
  /// The names of all properties, by their key paths.
  var names: [AnyKeyPath: String] {
    var names: [AnyKeyPath: String] = [:]
    for modelClass in classes { for (keyPath, property) in modelClass.byKeyPath { names[keyPath] = property.name } }
    return names
  }
}
