/// The results of an observer over time. Read it where the observer is used.
public struct ResultsSequence<Element: PersistentModel>: AsyncSequence {
  private let changes: AsyncStream<Void>
  private let read: () -> FetchResultsCollection<Element>?

  init(_ changes: AsyncStream<Void>, _ read: @escaping () -> FetchResultsCollection<Element>?) {
    (self.changes, self.read) = (changes, read)
  }

  /// Returns an iterator. A sequence has one reader.
  public func makeAsyncIterator() -> Iterator { Iterator(changes: changes.makeAsyncIterator(), read: read) }

  /// Waits for changes, and reads the results after each.
  public struct Iterator: AsyncIteratorProtocol {
    private var changes: AsyncStream<Void>.Iterator
    private let read: () -> FetchResultsCollection<Element>?

    fileprivate init(changes: AsyncStream<Void>.Iterator, read: @escaping () -> FetchResultsCollection<Element>?) {
      (self.changes, self.read) = (changes, read)
    }

    /// Returns the results after the next change; `nil` when the observer is gone or the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> FetchResultsCollection<Element>? {
      await changes.next(isolation: actor) == nil ? nil : read()
    }

    /// Returns the results after the next change; `nil` when the observer is gone or the task was cancelled.
    public mutating func next() async -> FetchResultsCollection<Element>? { await next(isolation: nil) }
  }
}
