/// Gives bodies to the methods that Xcode generates for to-many relationships: `@NSManaged func addToItems(_:)`.
enum GeneratedMethods {
  static func run(_ move: inout FileMove) {
    let source = move.source
    for index in source.tokens.indices where source.tokens[index].isWord("func") {
      let head = DeclarationHead(source, introducer: index)
      guard let attribute = head.attribute("@NSManaged"), let open = source.parameterBracket(at: index),
        let close = source.tokens[open].partner
      else { continue }
      let className = move.structure.innermostType(around: index)?.lastName ?? ""
      guard let body = body(of: index, head, className, move) else {
        move.find(unknown, attribute.tokens.lowerBound...close)
        continue
      }
      move.remove(attribute.tokens, isReported: false)
      move.insert(" { \(body) }", at: source.tokens[close].range.upperBound)
      move.note(
        "@NSManaged func \(source[index + 1]?.text ?? "") gets a body", at: source.tokens[index].range.lowerBound)
    }
  }

  private enum Operation { case add, remove, insert, replace }

  private static func body(of index: Int, _ head: DeclarationHead, _ className: String, _ move: FileMove) -> String? {
    let source = move.source
    let parameters = source.parameters(at: index)
    guard let name = source[index + 1]?.text, let first = parameters.first,
      let (operation, property) = operation(name, objectiveCName(head, source), parameters.count)
    else { return nil }
    let (key, isOrdered) = move.folder.relationship(capitalized: property, of: className)
    let isPlace = ["Int", "NSInteger"].contains(first.type)
    let arePlaces = ["NSIndexSet", "IndexSet"].contains(first.type)
    let isList = isOrdered ?? (parameters.count > 1 || isPlace || arePlaces || first.type == "NSOrderedSet")
    let relationship = "\(isList ? "mutableOrderedSetValue" : "mutableSetValue")(forKey: \"\(key)\")"
    let type = ManagedType(first.type)
    let isMany = type.isCollection || ["NSSet", "NSOrderedSet", "NSArray"].contains(type.base)
    // Foundation's collections hold anything.
    let objects =
      type.isCollection && type.mark == ""
      ? first.name
      : "\(first.name)\(type.mark == "?" ? "?" : "").compactMap { $0 as? NSManagedObject }"
        + (type.mark == "?" ? " ?? []" : "")
    switch (operation, parameters.count) {
    case (.add, 1): return isMany ? "\(relationship).formUnion(\(objects))" : "\(relationship).add(\(first.name))"
    case (.remove, 1) where isPlace: return "\(relationship).removeObject(at: \(first.name))"
    case (.remove, 1) where arePlaces:
      return "\(relationship).removeObjects(at: \(first.name)\(first.type == "IndexSet" ? "" : " as IndexSet"))"
    case (.remove, 1): return isMany ? "\(relationship).subtract(\(objects))" : "\(relationship).remove(\(first.name))"
    case (.insert, 2):
      let second = parameters[1]
      if !isMany { return "\(relationship).insert(\(first.name), at: \(second.name))" }
      return "for (value, place) in zip(\(objects), \(second.name)) { \(relationship).insert(value, at: place) }"
    case (.replace, 2):
      let second = parameters[1]
      if isPlace { return "\(relationship).replaceObject(at: \(first.name), with: \(second.name))" }
      return "for (place, value) in zip(\(first.name), \(second.name)) "
        + "{ \(relationship).replaceObject(at: place, with: value) }"
    default: return nil
    }
  }

  /// `addItemsObject:` of `@objc(addItemsObject:)`.
  private static func objectiveCName(_ head: DeclarationHead, _ source: SourceText) -> String? {
    guard let open = head.attribute("@objc")?.arguments, let close = source.tokens[open].partner, close > open + 1
    else {
      return nil
    }
    return source.text(tokens: (open + 1)...(close - 1))
  }

  /// Which operation a method's name stands for, and of which relationship, with a capital letter.
  private static func operation(
    _ name: String, _ objectiveCName: String?, _ parameters: Int
  ) -> (Operation, String)? {
    typealias Form = (prefix: String, suffix: String, operation: Operation)
    let forms: [Form] = [
      ("insertObject:in", "AtIndex:", .insert), ("insert", ":atIndexes:", .insert),
      ("removeObjectFrom", "AtIndex:", .remove), ("remove", "AtIndexes:", .remove),
      ("replaceObjectIn", "AtIndex:withObject:", .replace), ("add", "Object:", .add), ("remove", "Object:", .remove),
    ]
    if let objectiveCName {
      // `replaceItemsAtIndexes:withItems:` has the name twice.
      let parts = objectiveCName.split(separator: ":")
      if objectiveCName.hasPrefix("replace"), parts.count == 2, let first = parts.first, first.hasSuffix("AtIndexes") {
        return named(String(first), "replace", "AtIndexes", .replace)
      }
      for form in forms where objectiveCName.hasPrefix(form.prefix) && objectiveCName.hasSuffix(form.suffix) {
        return named(objectiveCName, form.prefix, form.suffix, form.operation)
      }
      for form: Form in [("add", ":", .add), ("remove", ":", .remove)]
      where objectiveCName.hasPrefix(form.prefix) && objectiveCName.hasSuffix(form.suffix) {
        return named(objectiveCName, form.prefix, form.suffix, form.operation)
      }
    }
    let swiftForms: [Form] = [
      ("addTo", "", .add), ("removeFrom", "", .remove), ("insertInto", "", .insert), ("replace", "", .replace),
      ("add", "Object", .add), ("remove", "Object", .remove), ("add", "", .add), ("remove", "", .remove),
    ]
    for form in swiftForms where name.hasPrefix(form.prefix) && name.hasSuffix(form.suffix) {
      if let result = named(name, form.prefix, form.suffix, form.operation) { return result }
    }
    return nil
  }

  private static func named(
    _ name: String, _ prefix: String, _ suffix: String, _ operation: Operation
  ) -> (Operation, String)? {
    guard name.utf8.count > prefix.utf8.count + suffix.utf8.count else { return nil }
    let property = String(name.dropFirst(prefix.count).dropLast(suffix.count))
    // `address` does not add a relationship.
    guard let first = property.first, first.isUppercase || !first.isLetter else { return nil }
    return (operation, property)
  }

  private static let unknown = Cause(
    "an @NSManaged method that the tool does not know: @Managed goes with properties alone",
    "give it a body, with mutableSetValue(forKey:), value(forKey:) or primitiveValue(forKey:)")
}
