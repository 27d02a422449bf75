import Cambium

/// Every object of a store as a line of text: its entity, its `name`, and all other properties in the order of their
/// names, objects by the names that they have. So what is expected can be written down, and nothing is left out.
///
///     Aircraft A0 color=blue flights={F0,F1} owner=P1 scheme=(primary=white)
enum ObjectListing {
  static func lines(_ context: ManagedObjectContext, _ model: ManagedObjectModel) throws -> [String] {
    var result: [String] = []
    for entity in model.entities where !entity.isAbstract {
      let request = FetchRequest<ManagedObject>(entityName: entity.name)
      request.includesSubentities = false
      for object in try context.fetch(request) { result.append(line(object, entity)) }
    }
    return result.sorted()
  }

  private static func line(_ object: ManagedObject, _ entity: EntityDescription) -> String {
    var parts = [entity.name, name(object)]
    for key in entity.propertiesByName.keys.sorted() where key != "name" {
      parts.append("\(key)=\(text(object.value(forKey: key)))")
    }
    return parts.joined(separator: " ")
  }

  private static func name(_ object: ManagedObject) -> String { object.value(forKey: "name") as? String ?? "?" }

  private static func text(_ value: Any?) -> String {
    switch value {
    case nil: "nil"
    case let object as ManagedObject: name(object)
    // Unordered objects in braces, ordered ones in brackets.
    case let objects as Set<ManagedObject>: "{" + objects.map { name($0) }.sorted().joined(separator: ",") + "}"
    case let objects as [ManagedObject]: "[" + objects.map { name($0) }.joined(separator: ",") + "]"
    case let elements as [String: Any]:
      "(" + elements.sorted { $0.key < $1.key }.map { "\($0.key)=\(text($0.value))" }.joined(separator: ",") + ")"
    case let value?: "\(value)"
    }
  }
}
