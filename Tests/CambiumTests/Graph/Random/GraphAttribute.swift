import CambiumTesting
import Foundation

@testable import Cambium

/// What an attribute has, as plain as can be: a number that stands for a value of its type, or the elements of a
/// composite that have a value.
enum GraphValue: Hashable, ExpressibleByIntegerLiteral, CustomStringConvertible {
  case number(Int)
  indirect case elements([String: GraphValue])

  init(integerLiteral value: Int) { self = .number(value) }

  var number: Int? { if case .number(let number) = self { number } else { nil } }

  var elements: [String: GraphValue] { if case .elements(let elements) = self { elements } else { [:] } }

  /// An element; nil if there is none.
  func element(_ path: ArraySlice<String>) -> GraphValue? {
    guard let first = path.first else { return self }
    return elements[first]?.element(path.dropFirst())
  }

  /// The value with an element replaced: composites on the way that are not there come into being.
  static func replacing(_ path: ArraySlice<String>, of value: GraphValue?, with new: GraphValue?) -> GraphValue? {
    guard let first = path.first else { return new }
    var elements = value?.elements ?? [:]
    elements[first] = replacing(path.dropFirst(), of: elements[first], with: new)
    return .elements(elements)
  }

  /// Returns the result of a change here and one elsewhere. Elements of composites are decided about one by one.
  static func merged(_ mine: GraphValue?, _ theirs: GraphValue?, base: GraphValue?, keepsMine: Bool) -> GraphValue? {
    guard case .elements(let here)? = mine, case .elements(let there)? = theirs, case .elements(let before)? = base
    else {
      return keepsMine ? mine : theirs
    }
    var result: [String: GraphValue] = [:]
    for name in Set(here.keys).union(there.keys) {
      if here[name] == before[name] {
        result[name] = there[name]
      } else if there[name] == before[name] {
        result[name] = here[name]
      } else {
        result[name] = merged(here[name], there[name], base: before[name], keepsMine: keepsMine)
      }
    }
    return .elements(result)
  }

  var description: String {
    switch self {
    case .number(let number): return "\(number)"
    case .elements(let elements):
      return "{\(elements.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " "))}"
    }
  }
}

extension GraphDesign {
  struct Attribute {
    let name: String
    let type: AttributeType
    /// Of a composite.
    var elements: [Attribute] = []
    var isRequired = false
    /// What a new object has.
    var defaultValue: GraphValue?

    /// The attribute and what is in it, however deep, by paths without the name.
    var parts: [(path: [String], attribute: Attribute)] {
      [([], self)] + elements.flatMap { element in element.parts.map { ([element.name] + $0.path, $0.attribute) } }
    }

    /// What stands for a value.
    func value(_ value: GraphValue?) -> Any? {
      guard let value else { return nil }
      guard case .number(let number) = value else {
        var result: [String: Any] = [:]
        for element in elements { result[element.name] = element.value(value.elements[element.name]) }
        return result
      }
      switch type {
      case .string: return "v\(number)"
      case .double: return Double(number) / 4
      case .decimal: return Decimal(number)
      case .date: return Date(timeIntervalSinceReferenceDate: TimeInterval(number) * 3600)
      case .binary: return Data([UInt8(truncatingIfNeeded: number)])
      default: return number
      }
    }

    /// What a value stands for; -1 for a value that stands for none.
    func plain(_ value: Any?) -> GraphValue? {
      switch value {
      case nil: return nil
      case let values as [String: Any]:
        var result: [String: GraphValue] = [:]
        for (name, value) in values {
          result[name] = elements.first { $0.name == name }.map { $0.plain(value) } ?? -1
        }
        return .elements(result)
      case let text as String: return .number(Int(text.dropFirst()) ?? -1)
      case let number as Double: return .number(Int(number * 4))
      case let number as Decimal: return .number(Int("\(number)") ?? -1)
      case let date as Date: return .number(Int(date.timeIntervalSinceReferenceDate / 3600))
      case let data as Data: return .number(data.first.map { Int($0) } ?? -1)
      case let number as any BinaryInteger: return .number(Int(number))
      default: return -1
      }
    }

    /// Any value, but not none.
    func random(_ random: inout SplitMix64) -> GraphValue {
      if elements.isEmpty { return .number(Int.random(in: 0..<10, using: &random)) }
      var result: [String: GraphValue] = [:]
      for element in elements where Int.random(in: 0..<(element.isRequired ? 12 : 4), using: &random) != 0 {
        result[element.name] = element.random(&random)
      }
      return .elements(result)
    }

    /// The attribute of a model.
    var attribute: Cambium.Attribute {
      if elements.isEmpty {
        return Cambium.Attribute(name, type, optional: !isRequired, default: value(defaultValue))
      }
      return Cambium.Attribute(name, optional: !isRequired) { for element in elements { element.attribute } }
    }
  }
}
