/// Macros that expand to nothing: `@Model` reads them where they are written.
enum MarkerMacro {
  /// `@Attribute`, `@Relationship` and `@Transient`.
  static let attached: Set<String> = ["AttributeMacro", "RelationshipMacro", "TransientMacro"]
  /// `#Unique` and `#Index`.
  static let freestanding: Set<String> = ["UniqueMacro", "IndexMacro"]
}
