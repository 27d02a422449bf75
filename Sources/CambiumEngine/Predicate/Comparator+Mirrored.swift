extension Comparator {
  /// What says the same with the sides exchanged; nil where there is none.
  var mirrored: Comparator? {
    switch self {
    case .equal, .notEqual: return self
    case .less: return .greater
    case .lessOrEqual: return .greaterOrEqual
    case .greater: return .less
    case .greaterOrEqual: return .lessOrEqual
    default: return nil
    }
  }
}
