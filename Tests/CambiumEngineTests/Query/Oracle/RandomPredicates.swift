import CambiumEngine
import CambiumKernel
import CambiumTesting

/// Random predicates about the objects of a store: of what its model has, and mostly with values that are in it.
struct RandomPredicates {
  let values: NaiveValues
  var random: SplitMix64
  private var extra: SplitMix64?

  init(values: NaiveValues, random: SplitMix64) {
    self.values = values
    self.random = random
  }

  private var schema: Schema { values.schema }

  mutating func predicate(_ entity: EntitySchema, depth: Int) -> Predicate {
    if random.oneIn(60) { return random.oneIn(2) ? .false : .true }
    if random.oneIn(4), let about = aboutIndexes(entity) { return about }
    switch random.below(depth == 0 ? 4 : 9) {
    case 4: return .not(predicate(entity, depth: depth - 1))
    case 5, 6: return .or((0..<(1 + random.below(3))).map { _ in predicate(entity, depth: depth - 1) })
    case 7, 8: return .and((0..<(1 + random.below(3))).map { _ in predicate(entity, depth: depth - 1) })
    default: return condition(entity, [], entity, hops: 2)
    }
  }

  /// Conditions on the parts of indexes, from the first part on; nil if there are none.
  private mutating func aboutIndexes(_ entity: EntitySchema) -> Predicate? {
    if entity.indexes.isEmpty { return nil }
    let types = Dictionary(Self.attributes(entity).map { ($0.path, $0.type) }, uniquingKeysWith: { a, _ in a })
    var conditions: [Predicate] = []
    for _ in 0..<(1 + random.below(3)) {
      let index = random.pick(entity.indexes)
      if index.elements[0].kind == .rTree, index.elements.count == 2 {
        conditions += aboutPlaces(index, types, entity)
        continue
      }
      // The condition of a partial index finds the index by itself.
      if let text = index.partialPredicate, random.oneIn(4), let partial = try? Predicate(format: text) {
        conditions.append(partial)
        continue
      }
      for (part, element) in index.elements.prefix(1 + random.below(index.elements.count)).enumerated() {
        guard let type = types[element.path] else { continue }
        if case .string(let text) = value(at: element.path, entity), random.oneIn(3) {
          let start = String(String.UnicodeScalarView(text.unicodeScalars.prefix(1 + random.below(2))))
          conditions.append(.compare(.keyPath(element.path), .beginsWith, .constant(.string(start))))
        } else if part + 1 < index.elements.count, random.oneIn(2) {
          conditions.append(
            .compare(.keyPath(element.path), .equal, .constant(constant(type, element.path, entity))))
        } else {
          conditions.append(comparison(.keyPath(element.path), type, of: element.path, entity))
        }
      }
      if let text = index.partialPredicate, random.oneIn(2), let partial = try? Predicate(format: text) {
        conditions.append(partial)
      }
    }
    return conditions.count == 1 ? conditions[0] : .and(conditions)
  }

  /// A condition on an attribute.
  mutating func about(_ path: String, _ entity: EntitySchema) -> Predicate {
    guard let type = Self.attributes(entity).first(where: { $0.path == path })?.type else { return .true }
    return comparison(.keyPath(path), type, of: path, entity)
  }

  /// A box or a distance, of values that an index of places has.
  private mutating func aboutPlaces(
    _ index: IndexSchema, _ types: [String: AttributeType], _ entity: EntitySchema
  ) -> [Predicate] {
    let paths = index.elements.map { $0.path }
    if random.oneIn(2) {
      let center = paths.map { value(at: $0, entity) }
      let distance = Expression.function(
        "distanceToLocation:fromLocation:",
        [
          paths == ["spot.latitude", "spot.longitude"] && random.oneIn(2)
            ? .keyPath("spot") : .list(paths.map { .keyPath($0) }), .constant(.list(center)),
        ])
      let metres = Value.double(random.pick([0, 1, 1000, 2_000_000, 9_000_000]))
      return [.compare(distance, random.pick([.less, .lessOrEqual, .lessOrEqual, .greater]), .constant(metres))]
    }
    return paths.compactMap { path in
      guard let type = types[path] else { return nil }
      if random.oneIn(2) {
        let bounds = [constant(type, path, entity), constant(type, path, entity)]
        if !bounds.contains(where: { $0.isNull }) {
          return .compare(.keyPath(path), .between, .constant(.list(bounds)))
        }
      }
      return comparison(.keyPath(path), type, of: path, entity)
    }
  }

  /// The paths of the attributes and elements of an entity that have a type of their own.
  static func attributes(_ entity: EntitySchema) -> [(path: String, type: AttributeType)] {
    func leaves(_ attribute: AttributeSchema, _ path: String) -> [(String, AttributeType)] {
      if attribute.type == .composite { return attribute.elements.flatMap { leaves($0, path + "." + $0.name) } }
      return attribute.type == .transformable ? [] : [(path, attribute.type)]
    }
    return entity.allAttributes.flatMap { leaves($0, $0.name) }
  }

  /// A condition on an object: on `entity`, which `path` leads to from `origin`.
  private mutating func condition(
    _ entity: EntitySchema, _ path: [String], _ origin: EntitySchema, hops: Int
  ) -> Predicate {
    let relationships = entity.allRelationships.filter { !$0.isTransient }
    let attributes = Self.attributes(entity)
    if attributes.isEmpty || (hops > 0 && !relationships.isEmpty && random.oneIn(3)) {
      guard hops > 0, !relationships.isEmpty else { return random.oneIn(2) ? identity(origin) : .true }
      return related(random.pick(relationships), path, origin, hops: hops)
    }
    if path.isEmpty, random.oneIn(12) { return identity(origin) }
    let (name, type) = random.pick(attributes)
    let whole = (path + [name]).joined(separator: ".")
    return comparison(.keyPath(whole), type, of: whole, origin)
  }

  private mutating func related(
    _ relationship: RelationshipSchema, _ path: [String], _ origin: EntitySchema, hops: Int
  ) -> Predicate {
    guard let destination = schema.entity(named: relationship.destination) else { return .true }
    let there = path + [relationship.name]
    let whole = there.joined(separator: ".")
    if !relationship.isToMany {
      if random.oneIn(3) { return reference(.keyPath(whole), whole, origin) }
      return condition(destination, there, origin, hops: hops - 1)
    }
    switch random.below(6) {
    case 0:
      let count = Value.integer(Int64(random.below(3)))
      return .compare(
        .aggregate(.count, .keyPath(whole), path: nil), random.pick([.equal, .greater, .lessOrEqual, .notEqual]),
        .constant(count))
    case 1 where path.isEmpty:
      let known = value(at: whole, origin)
      return random.oneIn(2)
        ? .compare(.keyPath(whole), .contains, .constant(known)) : .compare(.constant(known), .in, .keyPath(whole))
    case 2 where path.isEmpty:
      let inner = condition(destination, [], destination, hops: 0)
      let subquery = Expression.subquery(
        collection: .keyPath(whole), variable: "x", condition: inner.about(variable: "x"))
      return .compare(
        .aggregate(.count, subquery, path: nil), random.pick([.greater, .greater, .equal, .notEqual]),
        .constant(.integer(Int64(random.below(2)))))
    default:
      let attributes = Self.attributes(destination)
      guard
        case .comparison(var comparison) =
          attributes.isEmpty || random.oneIn(5)
          ? reference(.keyPath(whole), whole, origin)
          : {
            let (name, type) = random.pick(attributes)
            return plainComparison(.keyPath(whole + "." + name), type, of: whole + "." + name, origin)
          }()
      else { return .true }
      if case .constant = comparison.left { return .true }
      comparison.modifier = random.pick([.any, .any, .any, .all, .none])
      return .comparison(comparison)
    }
  }

  private mutating func identity(_ origin: EntitySchema) -> Predicate {
    reference(.evaluatedObject, "self", origin)
  }

  private mutating func reference(_ left: Expression, _ path: String, _ origin: EntitySchema) -> Predicate {
    switch random.below(4) {
    case 0: return .compare(left, .in, .constant(.list((0..<random.below(4)).map { _ in value(at: path, origin) })))
    case 1: return .compare(left, .notEqual, .constant(value(at: path, origin)))
    default: return .compare(left, .equal, .constant(value(at: path, origin)))
    }
  }

  /// What some object has at a path.
  private mutating func value(at path: String, _ origin: EntitySchema) -> Value {
    let objects = values.objects(of: origin, includesSubentities: true)
    if objects.isEmpty { return .null }
    let found = values.value(random.pick(objects), path)
    if case .list(let list) = found { return list.isEmpty ? .null : random.pick(list) }
    return found
  }

  private mutating func constant(_ type: AttributeType, _ path: String, _ origin: EntitySchema) -> Value {
    if random.oneIn(10) { return .null }
    if random.oneIn(5) { return RandomModel.value(type, &random) }
    let found = value(at: path, origin)
    return found.isNull ? RandomModel.value(type, &random) : found
  }

  private mutating func comparison(
    _ left: Expression, _ type: AttributeType, of path: String, _ origin: EntitySchema
  ) -> Predicate {
    let plain = plainComparison(left, type, of: path, origin)
    // By numbers of their own, so that the others are what they were before there was anything computed.
    var next = random
    var own = extra ?? SplitMix64(seed: ~next.next())
    swap(&random, &own)
    defer {
      swap(&random, &own)
      extra = own
    }
    guard random.oneIn(9), case .keyPath = left else { return plain }
    return computed(left, type, of: path, origin) ?? plain
  }

  private mutating func plainComparison(
    _ left: Expression, _ type: AttributeType, of path: String, _ origin: EntitySchema
  ) -> Predicate {
    let value = constant(type, path, origin)
    switch random.below(7) {
    case 0:
      let list = (0..<random.below(5)).map { _ in constant(type, path, origin) }
      return .compare(left, .in, .constant(.list(list)))
    case 1:
      let other = constant(type, path, origin)
      if value.isNull || other.isNull { return .compare(left, .notEqual, .constant(.null)) }
      return .compare(left, .between, .constant(.list([value, other])))
    case 2, 3, 4: if case .string(let text) = value { return textual(left, text) }
    default: break
    }
    let comparator: Comparator
    switch type {
    case .uuid, .binary, .boolean: comparator = random.pick([.equal, .equal, .notEqual])
    default:
      comparator = random.pick([.equal, .equal, .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual])
    }
    let options: ComparisonOptions = type == .string && random.oneIn(4) ? .caseInsensitive : []
    if random.oneIn(8), case .keyPath = left { return .compare(.constant(value), comparator, left, options) }
    return .compare(left, comparator, .constant(value), options)
  }

  private mutating func textual(_ left: Expression, _ text: String) -> Predicate {
    let options = random.pick([
      ComparisonOptions(), [], [], [], .caseInsensitive, [.caseInsensitive, .diacriticInsensitive],
    ])
    let scalars = Array(text.unicodeScalars.prefix(40))
    let cut = random.below(scalars.count + 1)
    func joined(_ part: ArraySlice<Unicode.Scalar>) -> String {
      var result = ""
      result.unicodeScalars.append(contentsOf: part)
      return result
    }
    switch random.below(7) {
    case 0, 1, 2, 6: return .compare(left, .beginsWith, .constant(.string(joined(scalars[..<cut]))), options)
    case 3: return .compare(left, .contains, .constant(.string(joined(scalars[cut...]))), options)
    case 4: return .compare(left, .like, .constant(.string(joined(scalars[..<cut]) + "*")), options)
    default: return .compare(left, .endsWith, .constant(.string(joined(scalars[cut...]))), options)
    }
  }
}

extension RandomPredicates {
  /// A condition on what is computed of an attribute: arithmetic, a function, a choice, a cast; or a regular
  /// expression.
  private mutating func computed(
    _ left: Expression, _ type: AttributeType, of path: String, _ origin: EntitySchema
  ) -> Predicate? {
    let value = Expression.constant(constant(type, path, origin))
    let sign: Comparator = random.pick([.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual])
    if random.oneIn(6) {
      let test = Predicate.compare(left, random.pick([.equal, .notEqual]), value)
      return .compare(.ternary(test, then: left, otherwise: value), .equal, left)
    }
    if type == .string {
      let function = random.pick(["uppercase", "lowercase", "canonical"])
      switch random.below(5) {
      case 0: return .compare(.function(function, [left]), sign, .function(function, [value]))
      case 1: return .compare(.function("length", [left]), sign, .constant(.integer(Int64(random.below(6)))))
      case 2: return .compare(left, .like, .constant(.string(random.pick(["?", "?*", "*a*", "??", "c*\u{E9}", "*"]))))
      default:
        let pattern = random.pick([
          "[a-c].*", ".", "(a|b)*", "caf\u{E9}", "\\w+", ".*[^a]", "(?:x )?y?.*z", "A?B?", "\\p{Lu}.*",
        ])
        return .compare(
          left, .matches, .constant(.string(pattern)), random.pick([[], .caseInsensitive, .diacriticInsensitive]))
      }
    }
    guard type.isNumeric, type != .boolean else { return nil }
    let few = Expression.constant(.integer(Int64(random.below(7)) - 3))
    switch random.below(6) {
    case 0, 1:
      let operation: ArithmeticOperator = random.pick([.add, .subtract, .multiply, .divide, .power])
      return .compare(.arithmetic(operation, left, few), sign, .arithmetic(operation, value, few))
    case 2:
      let function = random.pick(["abs", "floor", "ceiling", "trunc", "sqrt", "exp"])
      return .compare(.function(function, [left]), sign, .function(function, [value]))
    case 3: return .compare(.function("modulus:by:", [left, few]), sign, .constant(.integer(Int64(random.below(3)))))
    case 4:
      return .compare(
        .cast(left, type: "NSString"), .beginsWith, .constant(.string(random.pick(["-", "1", "0.", "n"]))))
    default:
      return .compare(.negated(left), sign, .function(random.pick(["max", "min", "sum"]), [few, .negated(value)]))
    }
  }
}

extension Predicate {
  /// The same of a subquery's element.
  fileprivate func about(variable: String) -> Predicate {
    switch self {
    case .true, .false: return self
    case .not(let inner): return .not(inner.about(variable: variable))
    case .and(let parts): return .and(parts.map { $0.about(variable: variable) })
    case .or(let parts): return .or(parts.map { $0.about(variable: variable) })
    case .comparison(var comparison):
      comparison.left = comparison.left.about(variable: variable)
      comparison.right = comparison.right.about(variable: variable)
      return .comparison(comparison)
    }
  }
}

extension Expression {
  fileprivate func about(variable: String) -> Expression {
    switch self {
    case .keyPath(let path): return .member(.variable(variable), path: path)
    case .evaluatedObject: return .variable(variable)
    case .aggregate(let operation, let inner, let path):
      return .aggregate(operation, inner.about(variable: variable), path: path)
    case .arithmetic(let operation, let a, let b):
      return .arithmetic(operation, a.about(variable: variable), b.about(variable: variable))
    case .negated(let inner): return .negated(inner.about(variable: variable))
    case .function(let name, let arguments): return .function(name, arguments.map { $0.about(variable: variable) })
    case .cast(let inner, let type): return .cast(inner.about(variable: variable), type: type)
    case .ternary(let test, let a, let b):
      return .ternary(
        test.about(variable: variable), then: a.about(variable: variable), otherwise: b.about(variable: variable))
    default: return self
    }
  }
}
