/// Conforms enumerations that are types of managed properties to `AttributeRepresentable`, which converts their values.
enum StoredEnumerations {
  static func run(_ move: inout FileMove) {
    for scope in move.structure.scopes where scope.kind == "enum" && move.folder.storedEnums.contains(scope.lastName) {
      guard !move.folder.conforms(scope.lastName, to: "AttributeRepresentable"),
        let last = scope.inheritance?.upperBound,
        let token = move.source[last]
      else { continue }
      move.insert(", AttributeRepresentable", at: token.range.upperBound)
      move.note("enum \(scope.name) conforms to AttributeRepresentable", at: token.range.lowerBound)
    }
  }
}
