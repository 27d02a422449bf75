/// The names that code gives to the versions of a model: a namespace, and numbers.
struct VersionNames {
  /// The namespace of each version, in the order of the versions.
  let namespaces: [String]
  /// The numbers of each version: three of them, and no two versions have the same.
  let numbers: [[Int]]
  /// The places of versions whose number is not in their name.
  let unnumbered: [Int]
  /// The model's name as an identifier, which begins with a capital letter.
  let model: String

  /// - Parameter taken: The names of classes and structures, which no namespace may have.
  init(model name: String, versions: [String], taken: Set<String>) {
    model = Self.capitalized(name)
    let named = versions.map { Self.numbers(of: $0, model: name) }
    (numbers, unnumbered) = Self.distinct(named, versions, model: name)
    var namespaces = zip(versions, named).map { [model] version, found -> String in
      guard let numbers = found ?? (version == name ? [1, 0, 0] : nil) else {
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

  /// Gives each version numbers of its own. The version with the model's name is the first, 1.0.0, or 0.1.0 if another
  /// one has that. Versions without a number follow the highest, in the order given.
  private static func distinct(
    _ named: [[Int]?], _ versions: [String], model: String
  ) -> (numbers: [[Int]], unnumbered: [Int]) {
    var numbers = [[Int]](repeating: [], count: named.count)
    var unnumbered: [Int] = []
    var taken: Set<[Int]> = []
    for place in named.indices {
      if let found = named[place], taken.insert(found).inserted { numbers[place] = found }
    }
    for place in named.indices where numbers[place].isEmpty {
      if versions[place] == model, let first = [[1, 0, 0], [0, 1, 0]].first(where: { !taken.contains($0) }) {
        numbers[place] = first
        taken.insert(first)
      } else {
        unnumbered.append(place)
      }
    }
    for place in unnumbered {
      let highest = taken.map { $0[0] }.max() ?? 0
      let (next, isTooLarge) = highest.addingReportingOverflow(1)
      numbers[place] = [isTooLarge ? highest : next, 0, 0]
      taken.insert(numbers[place])
    }
    return (numbers, unnumbered)
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
