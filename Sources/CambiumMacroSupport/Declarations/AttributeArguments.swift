import CambiumSourceText

/// The arguments of an attribute, as they are written.
struct AttributeArguments: Equatable {
  /// An argument, without blanks around it.
  struct Argument: Equatable {
    var label: String?
    var text: String
    var offset: Int
  }

  var arguments: [Argument] = []

  /// Reads `@Name`, `@Name()` or `@Name(value, label: value)`.
  ///
  /// - Parameter macro: The macro that is named if the arguments cannot be read.
  init(_ source: String, of macro: String = "@Managed") throws(Refusal) {
    var reader = SourceReader(source)
    reader.skipTrivia()
    guard reader.skip("@") else { return }
    reader.skipAttributeName()
    guard reader.skip("(") else { return }
    while true {
      reader.skipTrivia()
      if reader.skip(")") { return }
      guard let argument = reader.argument() else {
        throw Refusal(
          message: "the arguments of '\(macro)' cannot be read", offset: reader.position, isInAttribute: true)
      }
      arguments.append(argument)
      reader.skipTrivia()
      if reader.skip(",") { continue }
      guard reader.skip(")") else {
        throw Refusal(
          message: "the arguments of '\(macro)' are not closed", offset: reader.position, isInAttribute: true)
      }
      return
    }
  }

  /// The argument of a label, or the one without.
  subscript(label: String?) -> Argument? { arguments.first { $0.label == label } }
}

extension SourceReader {
  /// Reads up to the `,` or `)` that ends the argument; `nil` if there is nothing, or a bracket or string without end.
  fileprivate mutating func argument() -> AttributeArguments.Argument? {
    var label: String?
    let begin = position
    if let name = name() {
      skipTrivia()
      if peek() == UInt8(ascii: ":") {
        position += 1
        skipTrivia()
        label = name
      } else {
        position = begin
      }
    }
    let start = position
    var end = start
    while let byte = peek(), byte != UInt8(ascii: ","), byte != UInt8(ascii: ")") {
      switch byte {
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "\""):
        guard skipGroup() else { return nil }
      case UInt8(ascii: "#"): guard skipHashes() else { return nil }
      case UInt8(ascii: "/"):
        let start = position
        if !skipGroup() { position = start + 1 }
      case UInt8(ascii: "]"), UInt8(ascii: "}"): return nil
      default: position += 1
      }
      end = position
      skipTrivia()
    }
    guard end > start else { return nil }
    position = end
    return AttributeArguments.Argument(label: label, text: text(from: start), offset: start)
  }
}
