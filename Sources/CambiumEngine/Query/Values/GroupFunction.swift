/// What is computed of the values of a group.
enum GroupFunction: UInt8, Equatable {
  case count, sum, average, minimum, maximum

  /// The aggregate of a function's name; nil if it is none.
  init?(_ name: String) {
    switch name {
    case "count", "count:": self = .count
    case "sum", "sum:": self = .sum
    case "average", "average:", "avg", "avg:": self = .average
    case "min", "min:": self = .minimum
    case "max", "max:": self = .maximum
    default: return nil
    }
  }
}

/// What is known so far of a group's values.
struct GroupAggregate {
  private let function: GroupFunction
  private var count: Int64 = 0
  private var sum = GroupSum()
  private var extreme = Value.null

  init(_ function: GroupFunction) { self.function = function }

  /// Takes a value in; a list, value by value.
  mutating func add(_ value: Value) {
    switch value {
    case .null: return
    case .list(let values):
      // What is read from relationships is flat: no list has lists in it.
      for value in values where !value.isNull { addOne(value) }
    default: addOne(value)
    }
  }

  private mutating func addOne(_ value: Value) {
    switch function {
    case .count: count += 1
    case .sum, .average: if sum.add(value) { count += 1 }
    case .minimum: if extreme.isNull || value.compare(to: extreme) == .less { extreme = value }
    case .maximum: if extreme.isNull || value.compare(to: extreme) == .greater { extreme = value }
    }
  }

  /// The aggregate of what was taken in.
  var value: Value {
    switch function {
    case .count: return .integer(count)
    case .sum: return count == 0 ? .null : sum.value
    case .average: return count == 0 ? .null : sum.double.map { .double($0 / Double(count)) } ?? .null
    case .minimum, .maximum: return extreme
    }
  }
}
