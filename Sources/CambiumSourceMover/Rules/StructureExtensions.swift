/// Extensions of classes that are structures here have no `convenience` initializers and no `class` methods.
enum StructureExtensions {
  private static let structures: Set<String> = [
    "NSPredicate", "NSCompoundPredicate", "NSExpression", "NSSortDescriptor",
    "NSManagedObjectID", "NSPersistentHistoryChangeRequest", "NSPersistentHistoryTransaction",
    "NSPersistentHistoryChange", "NSPersistentHistoryToken", "NSMappingModel", "NSEntityMapping", "NSPropertyMapping",
  ]

  static func run(_ move: inout FileMove) {
    let source = move.source
    for scope in move.structure.scopes where scope.kind == "extension" && structures.contains(scope.lastName) {
      for index in move.structure.members(["init", "func", "var"], of: scope) {
        for modifier in DeclarationHead(source, introducer: index).modifiers {
          switch source.tokens[modifier].text {
          case "convenience": move.remove(modifier...modifier)
          case "class": move.replace(modifier...modifier, with: "static")
          default: break
          }
        }
      }
    }
  }
}
