import Foundation

/// Results in sections. SwiftData: `SectionedResults`.
public struct SectionedResults<Element, SectionTitle: Hashable>: RandomAccessCollection {
  private let sections: [ResultsSection<Element, SectionTitle>]
  private let places: [SectionTitle: Int]

  /// Makes results without sections.
  public init() { self.init([]) }

  init(_ sections: [ResultsSection<Element, SectionTitle>]) {
    self.sections = sections
    places = Dictionary(
      sections.enumerated().map { ($1.title, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The titles of the sections, in their order.
  public var sectionTitles: [SectionTitle] { sections.map { $0.title } }
  /// 0.
  public var startIndex: Int { 0 }
  /// The number of sections.
  public var endIndex: Int { sections.count }

  /// Returns whether there is a section of a title. O(1).
  public func contains(sectionTitle: SectionTitle) -> Bool { places[sectionTitle] != nil }

  /// Returns the place of the section of a title; `nil` if there is none. O(1).
  public func index(ofSectionTitled title: SectionTitle) -> Int? { places[title] }

  /// Returns the section at a place.
  public subscript(position: Int) -> ResultsSection<Element, SectionTitle> { sections[position] }

  /// Returns the section of a title; `nil` if there is none. O(1).
  public subscript(sectionTitle title: SectionTitle) -> ResultsSection<Element, SectionTitle>? {
    places[title].map { sections[$0] }
  }
}

extension SectionedResults: Equatable where Element: Equatable {
  /// Returns whether both have the same sections with the same models, in the same order.
  public static func == (a: Self, b: Self) -> Bool { a.sections == b.sections }
}

/// A section of results. SwiftData: `ResultsSection`.
public struct ResultsSection<Element, SectionTitle: Hashable>: RandomAccessCollection, Identifiable {
  /// The value that the models of the section share.
  public let title: SectionTitle
  private let elements: FetchResultsCollection<Element>

  init(title: SectionTitle, elements: FetchResultsCollection<Element>) {
    (self.title, self.elements) = (title, elements)
  }

  /// The title.
  public var id: SectionTitle { title }
  /// 0.
  public var startIndex: Int { 0 }
  /// The number of models.
  public var endIndex: Int { elements.count }
  /// Returns the model at a place.
  public subscript(position: Int) -> Element { elements[position] }
}

extension ResultsSection: Equatable where Element: Equatable {
  /// Returns whether both have the same title and the same models, in the same order.
  public static func == (a: Self, b: Self) -> Bool { a.title == b.title && a.elementsEqual(b) }
}
