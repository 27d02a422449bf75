// Equal trees have equal hashes: what is hashed is what `==` compares, so that 0 and -0, which are equal and written
// differently, are the same. Below the depth that predicates may have, nothing is hashed: trees can be built of any
// depth.

extension Predicate: Hashable {
  /// Hashes the tree.
  public func hash(into hasher: inout Hasher) { hash(into: &hasher, depth: 0) }

  fileprivate func hash(into hasher: inout Hasher, depth: Int) {
    guard depth < Self.depthLimit else { return }
    switch self {
    case .true: hasher.combine(0)
    case .false: hasher.combine(1)
    case .comparison(let comparison):
      hasher.combine(2)
      hasher.combine(comparison.comparator)
      hasher.combine(comparison.options)
      hasher.combine(comparison.modifier)
      comparison.left.hash(into: &hasher, depth: depth + 1)
      comparison.right.hash(into: &hasher, depth: depth + 1)
    case .and(let parts): Self.hash(parts, 3, into: &hasher, depth)
    case .or(let parts): Self.hash(parts, 4, into: &hasher, depth)
    case .not(let part): Self.hash([part], 5, into: &hasher, depth)
    }
  }

  private static func hash(_ parts: [Predicate], _ kind: Int, into hasher: inout Hasher, _ depth: Int) {
    hasher.combine(kind)
    hasher.combine(parts.count)
    for part in parts { part.hash(into: &hasher, depth: depth + 1) }
  }
}

extension Expression: Hashable {
  /// Hashes the tree.
  public func hash(into hasher: inout Hasher) { hash(into: &hasher, depth: 0) }

  fileprivate func hash(into hasher: inout Hasher, depth: Int) {
    guard depth < Predicate.depthLimit else { return }
    switch self {
    case .constant(let value): hasher.combine(value)
    case .keyPath(let name), .variable(let name): hasher.combine(name)
    case .function(let name, let arguments):
      hasher.combine(name)
      hasher.combine(arguments.count)
    case .arithmetic(let sign, _, _): hasher.combine(sign)
    case .cast(_, let type): hasher.combine(type)
    case .aggregate(let function, _, let path):
      hasher.combine(function)
      hasher.combine(path)
    case .member(_, let path): hasher.combine(path)
    case .subquery(_, let variable, _), .assignment(let variable, _): hasher.combine(variable)
    default: break
    }
    forEachPart { (part) throws(Never) in
      part.hash(into: &hasher, depth: depth + 1)
    } _: { (condition) throws(Never) in
      condition.hash(into: &hasher, depth: depth + 1)
    }
  }
}
