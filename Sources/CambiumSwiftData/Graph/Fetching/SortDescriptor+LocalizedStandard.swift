import Foundation

#if !canImport(Darwin)
  /// A comparator that Foundation has on Apple's platforms only.
  public enum LocalizedStandardComparator: Sendable {
    /// Compares texts as people do: upper and lower case alike, numbers by their value.
    case localizedStandard
  }

  // An order without a comparator is this one already. The compiler chooses these for `.localizedStandard`, which
  // Foundation's own comparator lacks here.
  extension SortDescriptor where Compared: PersistentModel {
    /// Makes an order by a text, as people compare texts.
    public init(
      _ keyPath: any KeyPath<Compared, String> & Sendable, comparator: LocalizedStandardComparator,
      order: SortOrder = .forward
    ) {
      self.init(keyPath, order: order)
    }

    /// Makes an order by a text that may be missing, as people compare texts.
    public init(
      _ keyPath: any KeyPath<Compared, String?> & Sendable, comparator: LocalizedStandardComparator,
      order: SortOrder = .forward
    ) {
      self.init(keyPath, order: order)
    }
  }
#endif
