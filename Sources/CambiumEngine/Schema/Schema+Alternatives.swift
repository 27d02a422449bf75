// What errors add where a name was not found: those that there are.

extension Schema {
  /// The names that can stand where a key path goes wrong, as the end of a message; empty if it leads somewhere. O(size
  /// of the entity reached).
  public func alternatives(along keyPath: String, from entity: UInt32) -> String {
    do throws(SchemaError) {
      _ = try resolve(keyPath: keyPath, from: entity)
      return ""
    } catch {
      guard case .unknownKeyPath(_, let component, let holder) = error else { return "" }
      let components = keyPathNames(keyPath)
      // The longest part that leads somewhere leads to the holder: an entity, or a composite attribute.
      for count in stride(from: components.count - 1, to: 0, by: -1) {
        let prefix = components[..<count].joined(separator: ".")
        do throws(SchemaError) {
          guard let attribute = try resolve(keyPath: prefix, from: entity).attribute else { break }
          return listed(attribute.elements.map { $0.name }, of: holder, instead: component)
        } catch { continue }
      }
      return self.entity(named: holder)?.alternatives(to: component) ?? ""
    }
  }
}

extension EntitySchema {
  /// The names of the properties, as the end of a message about one that is not there: first the one that was probably
  /// meant. O(number of properties).
  public func alternatives(to name: String) -> String {
    listed(allAttributes.map { $0.name } + allRelationships.map { $0.name }, of: self.name, instead: name)
  }
}

/// A message is read as a whole: the names of a very large entity are not all in it.
private func listed(_ names: [String], of holder: String, instead name: String) -> String {
  let most = 40
  if names.isEmpty { return "" }
  let rest = names.count > most ? ", and \(names.count - most) more" : ""
  let guess = suggestion(for: name, among: names)
  return "\(guess.isEmpty ? ";" : guess) \(holder) has \(names.prefix(most).joined(separator: ", "))\(rest)"
}
