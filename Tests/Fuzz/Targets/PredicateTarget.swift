import CambiumEngine
import CambiumKernel

/// The input is a predicate's text behind one byte that chooses the object it is asked about.
///
/// What is accepted is printed and read back as the same; checked against a model it matches the same objects.
enum PredicateTarget {
  private static let schema: Schema? = {
    let nest = CompositeSchema("Nest", elements: [AttributeSchema("i", .integer32), AttributeSchema("s", .string)])
    let thing = EntitySchema(
      "T",
      attributes: [
        AttributeSchema("i", .integer16), AttributeSchema("l", .integer64), AttributeSchema("d", .double),
        AttributeSchema("f", .float), AttributeSchema("x", .decimal), AttributeSchema("b", .boolean),
        AttributeSchema("t", .date), AttributeSchema("s", .string), AttributeSchema("u", .uuid),
        AttributeSchema("y", .binary), AttributeSchema("w", .uri), AttributeSchema("n", composite: "Nest"),
      ],
      relationships: [
        RelationshipSchema("r", to: "T", inverse: "m"), RelationshipSchema("m", toMany: "T", inverse: "r"),
      ]
    )
    return try? Schema(SchemaDefinition([thing], composites: [nest]))
  }()

  static func problem(_ input: FuzzInput) -> String? {
    var input = input
    let choice = Int(input.byte())
    let text = String(decoding: input.rest(), as: UTF8.self)
    let arguments: [PredicateArgument] = [.value(value("s", choice)), .keyPath("d"), .value(.integer(Int64(choice)))]
    let predicate: Predicate
    do throws(PredicateError) {
      predicate = try Predicate(format: text, arguments: Array(arguments.prefix(choice % 4)))
    } catch {
      let isInside = error.position.map { (0...text.utf8.count).contains($0) } ?? false
      return isInside && !error.description.isEmpty ? nil : "an error without a place in the text: \(error)"
    }
    let printed = predicate.description
    do throws(PredicateError) {
      let again = try Predicate(format: printed)
      if again != predicate { return "'\(printed)' is read as another predicate, \(again)" }
    } catch {
      // Printing may put parentheses where there were none.
      if error.kind != .tooDeep { return "'\(printed)' is not read back: \(error)" }
    }
    let variables: [String: Value] = ["x": .integer(3), "s": .string("a")]
    _ = try? predicate.substituting(variables).description
    guard let plain = answer(predicate, variables, choice) else { return nil }
    guard let schema, let entity = schema.entity(named: "T") else { return "the model could not be made" }
    guard let checked = try? predicate.check(against: schema, entity: entity.id) else { return nil }
    guard let after = answer(checked, variables, choice) else { return nil }
    // Constants that stand for another value once they have the type of the other side: 0.1 as a decimal, text as a
    // URI.
    let normal = checked.description
    let isSame = !["NSDecimalNumber", "float", "NSURL", "NSUUID"].contains { normal.contains("\"\($0)\"") }
    if isSame, plain != after { return "'\(printed)' answers \(plain), checked '\(checked)' \(after)" }
    guard let twice = try? checked.check(against: schema, entity: entity.id) else {
      return "'\(checked)' was checked, and is refused"
    }
    guard let again = answer(twice, variables, choice) else { return nil }
    return again == after ? nil : "'\(checked)' answers differently when checked again"
  }

  /// 0, 1; 2: an error. Nil if there was more to do than there is time for.
  private static func answer(_ predicate: Predicate, _ variables: [String: Value], _ choice: Int) -> Int? {
    var state = EvaluationState(variables: variables, now: 5, seed: UInt64(choice))
    state.elementsLeft = 2000
    let result: Int
    do {
      result =
        try predicate.evaluate(&state) { (object: ObjectReference?, path: String) throws(StoreError) in
          value(path, object.map { Int(truncatingIfNeeded: $0.row) & 0xFFFF } ?? choice)
        } ? 1 : 0
    } catch { result = 2 }
    return state.elementsLeft > 0 ? result : nil
  }

  /// A value that the attribute at a path may have.
  private static func value(_ path: String, _ choice: Int) -> Value {
    if choice % 7 == 6 { return .null }
    let n = Int64(choice % 5) - 2
    let names = path.split(separator: ".")
    if names.first == "m" {
      let rest = names.dropFirst().joined(separator: ".")
      return .list(
        (0..<choice % 3).map {
          rest.isEmpty ? .reference(ObjectReference(entity: 1, row: UInt64(choice + $0))) : value(rest, choice + $0)
        })
    }
    if names.first == "r", names.count > 1 { return value(names.dropFirst().joined(separator: "."), choice &+ 1) }
    switch names.last {
    // What `SELF.i` means, and `i`, are one.
    case "self": return .reference(ObjectReference(entity: 1, row: UInt64(choice)))
    case "r": return .reference(ObjectReference(entity: 1, row: UInt64(choice + 1)))
    case "i", "l": return .integer(n)
    case "d": return .double([Double(n) / 2, -0.0, .nan, .infinity][choice / 8 % 4])
    case "f": return .float(Float(n) / 4 + (choice % 2 == 0 ? 0.1 : 0))
    case "x": return .decimal(DecimalValue(n))
    case "b": return .boolean(choice % 2 == 0)
    case "t": return .date(Double(n))
    case "s": return .string(["", "a", "A", "e\u{301}", "\u{e9}b", "\u{212a}", "a*?"][choice / 8 % 7])
    case "y": return .binary([1, 2, UInt8(choice)])
    case "n": return .composite(["i": .integer(n), "s": .string("a")])
    default: return .null
    }
  }
}
