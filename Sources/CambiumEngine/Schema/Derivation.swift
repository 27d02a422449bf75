/// What a derived attribute is computed from.
public enum Derivation: Equatable, Sendable {
  /// The value at a key path: of an attribute, through to-one relationships and into composites.
  case keyPath(String)
  /// A string at a key path, brought into another form.
  case text(TextForm, String)
  /// The number of destinations of a to-many relationship.
  case count(relationship: String)
  /// The sum of an attribute of the destinations of a to-many relationship.
  case sum(relationship: String, path: String)
  /// The moment of saving.
  case now

  /// How a string is changed.
  public enum TextForm: String, CaseIterable, Sendable {
    /// Without case and marks.
    case canonical
    /// In lower case.
    case lowercase
    /// In upper case.
    case uppercase
  }

  /// Reads an expression such as `logEntries.@count`; `nil` for those that are not supported.
  public init?(_ text: String) {
    // `now()` and `now:()` are the same to Core Data.
    if text == "now()" || text == "now:()" {
      self = .now
      return
    }
    for form in TextForm.allCases {
      let start = form.rawValue + ":("
      guard text.hasPrefix(start), text.hasSuffix(")") else { continue }
      let path = String(text.dropFirst(start.count).dropLast())
      guard isKeyPath(path) else { return nil }
      self = .text(form, path)
      return
    }
    var names = keyPathNames(text).map { String($0) }
    guard let place = names.firstIndex(where: { $0.utf8.first == UInt8(ascii: "@") }) else {
      guard isKeyPath(text) else { return nil }
      self = .keyPath(text)
      return
    }
    let operation = names.remove(at: place)
    let path = names[place...].joined(separator: ".")
    // The operator stands behind the relationship, or, as Xcode writes it too, behind the whole path.
    guard place > 0, isKeyPath(names[0]) else { return nil }
    switch operation {
    case "@count" where place == 1 && path.isEmpty: self = .count(relationship: names[0])
    case "@sum" where place == 1 && isKeyPath(path): self = .sum(relationship: names[0], path: path)
    default: return nil
    }
  }

  /// The key path, or the name of the relationship, that comes first.
  public var path: String? {
    switch self {
    case .keyPath(let path), .text(_, let path): return path
    case .count(let relationship): return relationship
    case .sum(let relationship, let path): return relationship + "." + path
    case .now: return nil
    }
  }
}

private func isKeyPath(_ text: String) -> Bool {
  for name in keyPathNames(text) {
    guard let first = name.utf8.first, isNameStart(first) else { return false }
    for byte in name.utf8 where !isNameStart(byte) && !isDigit(byte) { return false }
  }
  return true
}
