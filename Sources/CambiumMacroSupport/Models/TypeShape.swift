import CambiumSourceText

/// The features of a type that its source shows.
struct TypeShape: Equatable {
  /// A function, or a type made of functions.
  var isFunction = false
  /// `Any`, `AnyObject`, `any P`, or a type made of these.
  var isExistential = false
  /// A tuple, or a type made of tuples.
  var isTuple = false
  /// `Set<T>`, optional or not.
  var isSet = false

  init(_ source: String) {
    var reader = SourceReader(source)
    // For each open bracket, whether it is a parenthesis, and whether a comma was seen in it.
    var brackets: [(isParenthesis: Bool, hasComma: Bool)] = []
    var names: [String] = []
    while true {
      reader.skipTrivia()
      guard let byte = reader.peek() else { break }
      if byte != UInt8(ascii: "`"), let name = reader.name() {
        if ["Any", "AnyObject", "any", "AnyHashable"].contains(name) { isExistential = true }
        if brackets.isEmpty { names.append(name) }
        continue
      }
      reader.position += 1
      switch byte {
      case UInt8(ascii: "`"):
        while let next = reader.peek(), next != UInt8(ascii: "`") { reader.position += 1 }
        reader.position += 1
      case UInt8(ascii: "-") where reader.peek() == UInt8(ascii: ">"):
        isFunction = true
        reader.position += 1
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "<"):
        brackets.append((byte == UInt8(ascii: "("), false))
      case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: ">"):
        if let last = brackets.popLast(), last.isParenthesis, last.hasComma { isTuple = true }
      case UInt8(ascii: ","):
        if let last = brackets.indices.last { brackets[last].hasComma = true }
      default: break
      }
    }
    isSet = names == ["Set"] || names == ["Swift", "Set"]
  }
}
