#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How the results of a controller became others. Index paths are a section and a place in it.
///
/// Old places are those before anything was changed, new ones those after everything was. To follow a difference in a
/// list of sections: take out the objects that were deleted or moved, from the back; then the deleted sections; put in
/// the inserted sections, from the front; then the objects that were inserted or moved.
public struct FetchedResultsDifference: Sendable, Equatable {
  /// What became of an object.
  public enum Change: Sendable, Equatable {
    /// It is new at a place.
    case insert(ManagedObjectID, at: IndexPath)
    /// It is gone from its old place.
    case delete(ManagedObjectID, at: IndexPath)
    /// It has another place among the others, or is in another section; its values may be others, too.
    case move(ManagedObjectID, from: IndexPath, to: IndexPath)
    /// It was changed, and kept its place among the others.
    case update(ManagedObjectID, at: IndexPath, newIndexPath: IndexPath)
  }

  /// The sections that are gone, by their old places, ascending.
  public internal(set) var deletedSections: [Int] = []
  /// The sections that are new, by their new places, ascending.
  public internal(set) var insertedSections: [Int] = []
  /// Deletions by their old places, then the others by their new ones.
  public internal(set) var changes: [Change] = []

  /// Whether nothing changed.
  public var isEmpty: Bool { deletedSections.isEmpty && insertedSections.isEmpty && changes.isEmpty }
}

/// Results as they are compared: by section the names, and the objects with their identifiers.
struct ResultsList<Element: Hashable> {
  var names: [String] = []
  var sections: [[Element]] = []

  /// How this list becomes another.
  ///
  /// - Parameters:
  ///   - changed: The elements that may have another place.
  ///   - updated: Those that are told where they keep it.
  func difference(
    to new: ResultsList, changed: Set<Element>, updated: Set<Element>, identifier: (Element) -> ManagedObjectID
  ) -> FetchedResultsDifference {
    var result = FetchedResultsDifference()
    let oldSections = Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    // Sections that changed their order go and come again.
    let common = new.names.enumerated().compactMap { place, name in oldSections[name].map { (new: place, old: $0) } }
    let steady = longestIncreasing(common.map { $0.old })
    var newSection: [Int: Int] = [:]
    for index in steady { newSection[common[index].old] = common[index].new }
    let keptSections = Set(newSection.values)
    result.deletedSections = names.indices.filter { newSection[$0] == nil }
    result.insertedSections = new.names.indices.filter { !keptSections.contains($0) }

    var old: [Element: (path: [Int], order: Int)] = [:]
    var order = 0
    for (section, elements) in sections.enumerated() {
      for (item, element) in elements.enumerated() {
        old[element] = ([section, item], order)
        order += 1
      }
    }
    var stays: [(element: Element, order: Int)] = []
    var present = Set<Element>()
    for (section, elements) in new.sections.enumerated() {
      for element in elements {
        present.insert(element)
        if let known = old[element], newSection[known.path[0]] == section { stays.append((element, known.order)) }
      }
    }
    let kept = keptElements(stays, changed)
    for (section, elements) in sections.enumerated() {
      for (item, element) in elements.enumerated() where !present.contains(element) {
        result.changes.append(.delete(identifier(element), at: IndexPath(indexes: [section, item])))
      }
    }
    for (section, elements) in new.sections.enumerated() {
      for (item, element) in elements.enumerated() {
        let path = IndexPath(indexes: [section, item])
        guard let known = old[element] else {
          result.changes.append(.insert(identifier(element), at: path))
          continue
        }
        let from = IndexPath(indexes: known.path)
        if !kept.contains(element) {
          result.changes.append(.move(identifier(element), from: from, to: path))
        } else if updated.contains(element) {
          result.changes.append(.update(identifier(element), at: from, newIndexPath: path))
        }
      }
    }
    return result
  }

  /// The elements that keep their order among each other: the unchanged ones, if they do, with the changed ones that
  /// fit between them, so that of two that change places the one moves whose value is another.
  private func keptElements(_ stays: [(element: Element, order: Int)], _ changed: Set<Element>) -> Set<Element> {
    let fixed = stays.filter { !changed.contains($0.element) }.map { $0.order }
    guard zip(fixed, fixed.dropFirst()).allSatisfy({ $0 < $1 }) else {
      return Set(longestIncreasing(stays.map { $0.order }).map { stays[$0].element })
    }
    var kept = Set<Element>()
    var upcoming = fixed[...]
    var last = -1
    for (element, order) in stays {
      if !changed.contains(element) {
        upcoming = upcoming.dropFirst()
      } else if order < last || order > upcoming.first ?? .max {
        continue
      }
      kept.insert(element)
      last = order
    }
    return kept
  }

  /// The places of a longest increasing part of distinct numbers.
  private func longestIncreasing(_ numbers: [Int]) -> [Int] {
    /// For each length, the place of the smallest number that ends such a part.
    var ends: [Int] = []
    var previous = [Int?](repeating: nil, count: numbers.count)
    for (place, number) in numbers.enumerated() {
      var low = 0
      var high = ends.count
      while low < high {
        let middle = (low + high) / 2
        if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
      }
      previous[place] = low > 0 ? ends[low - 1] : nil
      if low == ends.count { ends.append(place) } else { ends[low] = place }
    }
    var result: [Int] = []
    var next = ends.last
    while let place = next {
      result.append(place)
      next = previous[place]
    }
    return result.reversed()
  }
}
