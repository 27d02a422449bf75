extension EntityDescription {
  /// Whether this is the entity of a name, or inherits from it.
  func descends(from name: String) -> Bool {
    var next: EntityDescription? = self
    // A hierarchy that goes in a circle cannot be in use; it would not matter here.
    for _ in 0..<1_000 {
      guard let entity = next else { return false }
      if entity.name == name { return true }
      next = entity.superentity
    }
    return false
  }
}
