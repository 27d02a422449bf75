// Comparisons that are made of their parts.

@_spi(CoreData) import Cambium
import CambiumEngine

extension FetchPredicate {
  /// How many values of the left side must compare.
  public enum Modifier: UInt, Sendable {
    /// The one that there is.
    case direct = 0
    /// All of them.
    case all = 1
    /// At least one.
    case any = 2
  }

  /// What a comparison asks, with Core Data's raw values.
  public enum Operator: UInt, Sendable {
    /// `<`.
    case lessThan = 0
    /// `<=`.
    case lessThanOrEqualTo = 1
    /// `>`.
    case greaterThan = 2
    /// `>=`.
    case greaterThanOrEqualTo = 3
    /// `==`.
    case equalTo = 4
    /// `!=`.
    case notEqualTo = 5
    /// `MATCHES`.
    case matches = 6
    /// `LIKE`.
    case like = 7
    /// `BEGINSWITH`.
    case beginsWith = 8
    /// `ENDSWITH`.
    case endsWith = 9
    /// `IN`.
    case `in` = 10
    /// `CONTAINS`.
    case contains = 99
    /// `BETWEEN`.
    case between = 100

    fileprivate var comparator: CambiumEngine.Comparator {
      switch self {
      case .lessThan: return .less
      case .lessThanOrEqualTo: return .lessOrEqual
      case .greaterThan: return .greater
      case .greaterThanOrEqualTo: return .greaterOrEqual
      case .equalTo: return .equal
      case .notEqualTo: return .notEqual
      case .matches: return .matches
      case .like: return .like
      case .beginsWith: return .beginsWith
      case .endsWith: return .endsWith
      case .in: return .in
      case .contains: return .contains
      case .between: return .between
      }
    }
  }

  /// How text is compared.
  public struct Options: OptionSet, Sendable {
    /// Core Data's bits.
    public let rawValue: UInt
    /// Options of these bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// `[c]`.
    public static let caseInsensitive = Options(rawValue: 1)
    /// `[d]`.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// `[n]`; without effect, because text is compared in its normal form.
    public static let normalized = Options(rawValue: 4)
  }

  /// A comparison of two expressions.
  public init(
    leftExpression left: FetchExpression, rightExpression right: FetchExpression, modifier: Modifier,
    type: Operator, options: Options = []
  ) {
    var engineOptions: ComparisonOptions = []
    if options.contains(.caseInsensitive) { engineOptions.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { engineOptions.insert(.diacriticInsensitive) }
    let engineModifier: ComparisonModifier =
      switch modifier {
      case .direct: .direct
      case .all: .all
      case .any: .any
      }
    self.init(
      .compare(left.ownExpression, type.comparator, right.ownExpression, engineOptions, modifier: engineModifier))
  }
}
