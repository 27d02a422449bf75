/// What a fetch in batches has found: models are made as they are asked for. SwiftData: `FetchResultsCollection`.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
  private let make: (Int) -> Element
  /// The number of elements.
  public let count: Int

  init(count: Int, _ make: @escaping (Int) -> Element) { (self.count, self.make) = (count, make) }

  /// 0.
  public var startIndex: Int { 0 }
  /// ``count``.
  public var endIndex: Int { count }

  /// The element at a place.
  public subscript(position: Int) -> Element {
    precondition(position >= 0 && position < count, "place \(position) of \(count) results")
    return make(position)
  }
}
