import CambiumKernel

/// What functions and operators of many values give. Nulls do not count; of no values the sum is 0, and all else null.
enum Aggregates {
  static func sum(_ values: [Value]) -> Value {
    var sum = Value.integer(0)
    for value in values where value.isNumeric { sum = ArithmeticOperator.add.apply(sum, value) }
    return sum
  }

  /// A decimal, if decimals were added up; else a double.
  static func average(_ values: [Value]) -> Value {
    let numbers = values.filter { $0.isNumeric }
    guard !numbers.isEmpty else { return .null }
    let count = Value.integer(Int64(numbers.count))
    let sum = sum(numbers)
    for case .decimal in numbers { return ArithmeticOperator.divide.apply(sum, count) }
    return sum.nearestDouble.map { .double($0 / Double(numbers.count)) } ?? .null
  }

  /// The least or greatest of values that compare; of equal ones the first.
  static func extreme(_ values: [Value], _ order: ValueOrdering) -> Value {
    var result = Value.null
    for value in values where !value.isNull {
      if result.isNull || value.compare(to: result) == order { result = value }
    }
    return result
  }

  /// The number in the middle; between two of them, half of their sum.
  static func median(_ values: [Value]) -> Value {
    let numbers = ordered(values)
    guard !numbers.isEmpty else { return .null }
    let middle = numbers.count / 2
    return numbers.count.isMultiple(of: 2) ? average([numbers[middle - 1], numbers[middle]]) : numbers[middle]
  }

  /// The number that occurs most often; of several the least.
  static func mode(_ values: [Value]) -> Value {
    var best = (count: 0, value: Value.null)
    var run = 0
    var last = Value.null
    for number in ordered(values) {
      run = number.isEqual(to: last) ? run + 1 : 1
      last = number
      if run > best.count { best = (run, number) }
    }
    return best.value
  }

  /// The standard deviation of the whole population.
  static func standardDeviation(_ values: [Value]) -> Value {
    var numbers: [Double] = []
    for value in values {
      if let number = value.nearestDouble { numbers.append(number) }
    }
    guard !numbers.isEmpty else { return .null }
    var mean = 0.0
    for number in numbers { mean += number / Double(numbers.count) }
    var squares = 0.0
    for number in numbers { squares += (number - mean) * (number - mean) }
    return ElementaryFunctions.squareRoot(squares / Double(numbers.count)).map { .double($0) } ?? .null
  }

  private static func ordered(_ values: [Value]) -> [Value] {
    values.filter { $0.isNumeric }.sorted { $0.compare(to: $1) == .less }
  }

  /// The values, each once, in the order of their first places; without nulls.
  static func distinct(_ values: [Value]) -> [Value] {
    var seen = Set<Value>()
    var result: [Value] = []
    for value in values where !value.isNull {
      // Numbers of several kinds are the same if they are the same integer.
      let key = value.isNumeric ? value.exactInteger.map { Value.integer($0) } ?? value : value
      if seen.insert(key).inserted { result.append(value) }
    }
    return result
  }

  /// What a key-path operator gives of values: those of the elements' key path, lists in them opened.
  static func apply(_ operation: CollectionOperator, _ values: [Value]) -> Value {
    switch operation {
    case .count: return .integer(Int64(values.count))
    case .sum: return sum(values)
    case .average: return average(values)
    case .minimum: return extreme(values, .less)
    case .maximum: return extreme(values, .greater)
    case .unionOfObjects, .unionOfArrays, .unionOfSets: return .list(values.filter { !$0.isNull })
    case .distinctUnionOfObjects, .distinctUnionOfArrays, .distinctUnionOfSets: return .list(distinct(values))
    }
  }
}

extension Value {
  /// The elements of a list; no elements of null; a single value as itself.
  var elements: [Value] {
    switch self {
    case .list(let values): return values
    case .null: return []
    default: return [self]
    }
  }
}
