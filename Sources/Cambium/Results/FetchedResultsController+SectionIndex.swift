// What a list shows at its side, to get to a section by a letter.
extension FetchedResultsController {
  /// The titles of the sections, one for each section that has one: what ``sectionIndexTitle(forSectionName:)``
  /// answers. O(sections).
  public var sectionIndexTitles: [String] { sections.compactMap { sectionIndexTitle(forSectionName: $0.name) } }

  /// The title of a section: what the delegate says, or else the first character of the name as a capital letter; `nil`
  /// for an empty name.
  public func sectionIndexTitle(forSectionName name: String) -> String? {
    guard let delegate else { return FetchedResultsSection<Result>.indexTitle(of: name) }
    return delegate.controller(self, sectionIndexTitleForSectionName: name)
  }

  /// The section of a title. O(sections).
  ///
  /// - Parameters:
  ///   - title: The title.
  ///   - index: Its place in ``sectionIndexTitles``.
  /// - Returns: The section's place; `nil` if another title or none is there, for which Core Data raises.
  @_disfavoredOverload public func section(forSectionIndexTitle title: String, at index: Int) -> Int? {
    var place = 0
    for (section, content) in sections.enumerated() {
      guard let found = sectionIndexTitle(forSectionName: content.name) else { continue }
      if place == index { return found == title ? section : nil }
      place += 1
    }
    return nil
  }
}

extension FetchedResultsSection {
  /// The first character of the name, as a capital letter; `nil` for an empty name.
  public var indexTitle: String? { Self.indexTitle(of: name) }

  static func indexTitle(of name: String) -> String? { name.first.map { $0.uppercased() } }
}
