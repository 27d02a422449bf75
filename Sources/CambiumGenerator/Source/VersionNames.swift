/// The names that code gives to the versions of a model: a namespace, and numbers.
struct VersionNames {
  /// The namespace of each version, in the order of the versions.
  let namespaces: [String]
  /// The numbers of each version: three of them.
  let numbers: [[Int]]
  /// The model's name as an identifier, which begins with a capital letter.
  let model: String

  /// - Parameter taken: The names of classes and structures, which no namespace may have.
  init(model name: String, versions: [String], taken: Set<String>) {
    model = Self.capitalized(name)
    numbers = versions.map { Self.numbers(of: $0, model: name) ?? [1, 0, 0] }
    var namespaces = zip(versions, numbers).map { [model] version, numbers -> String in
      guard Self.numbers(of: version, model: name) != nil || version == name else {
        let suffix = Self.capitalized(version)
        return suffix.hasPrefix(model) ? suffix : model + suffix
      }
      let kept = numbers.dropLast(numbers[2] != 0 ? 0 : numbers[1] != 0 ? 1 : 2)
      return model + "V" + kept.map { "\($0)" }.joined(separator: "_")
    }
    // Versions that look alike have their whole names.
    let counts = Dictionary(namespaces.map { ($0, 1) }, uniquingKeysWith: +)
    for place in namespaces.indices where counts[namespaces[place]] != 1 {
      namespaces[place] += "_" + Self.capitalized(versions[place])
    }
    var seen = taken
    for place in namespaces.indices {
      while !seen.insert(namespaces[place]).inserted { namespaces[place] += "_" }
    }
    self.namespaces = namespaces
  }

  /// The numbers at the end of a version's name, such as 2 and 5 of `Flights v2.5`; `nil` if there are none, or other
  /// words.
  private static func numbers(of version: String, model: String) -> [Int]? {
    var rest = version.hasPrefix(model) ? Substring(version.dropFirst(model.count)) : Substring(version)
    while let first = rest.unicodeScalars.first, [" ", "-", "_", "."].contains(first) { rest = rest.dropFirst() }
    if rest.first == "v" || rest.first == "V" { rest = rest.dropFirst() }
    while rest.first == " " { rest = rest.dropFirst() }
    let parts = rest.split(separator: ".", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part in part.allSatisfy { ("0"..."9").contains($0) } ? Int(part) : nil }
    guard !parts.isEmpty, parts.count <= 3, numbers.count == parts.count else { return nil }
    return numbers + [Int](repeating: 0, count: 3 - numbers.count)
  }

  /// A name as an identifier that begins with a capital letter.
  static func capitalized(_ name: String) -> String {
    let parts = SwiftText.identifierParts(of: name)
    guard let first = parts.unicodeScalars.first else { return "Model" }
    if !(first == "_" || first.properties.isXIDStart) { return "Model" + parts }
    return String(Character(first)).uppercased() + String(String.UnicodeScalarView(parts.unicodeScalars.dropFirst()))
  }
}
