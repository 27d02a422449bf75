/// The results of fetch requests: `NSFetchRequestResult` is the class of all managed objects here, and no protocol.
enum RequestResults {
  private static let requests: Set<String> = [
    "NSFetchRequest", "NSAsynchronousFetchRequest", "NSAsynchronousFetchResult",
  ]

  static func run(_ move: inout FileMove) {
    let source = move.source
    var hasUntypedRequest = false
    for index in source.tokens.indices {
      let token = source.tokens[index]
      if requests.contains(token.text), source[index + 1]?.isMark("<") == true, let name = source[index + 2] {
        if name.text == "NSFetchRequestResult" { hasUntypedRequest = true }
      }
      guard token.isWord("NSFetchRequestResult"), let before = source[index - 1] else { continue }
      if before.isWord("any") {
        move.replace((index - 1)...index, with: token.text)
      } else if before.isWord("extension") {
        // An extension of a class has no condition on Self.
        move.replace(index...index, with: "FetchRequestResult")
      }
    }
    if hasUntypedRequest { reportOtherResults(&move) }
  }

  /// Reports that a request of objects is told to fetch something else.
  private static func reportOtherResults(_ move: inout FileMove) {
    let source = move.source
    for index in source.tokens.indices where source.tokens[index].isMark(".") {
      guard let name = source[index + 1], let result = otherResults[name.text], source[index - 1]?.isMark("=") == true
      else { continue }
      move.find(
        Cause("a request of objects that fetches \(result.what)", "give it the type \(result.type)"),
        index...(index + 1))
    }
  }

  private static let otherResults: [String: (what: String, type: String)] = [
    "dictionaryResultType": ("dictionaries", "NSFetchRequest<NSDictionary>"),
    "managedObjectIDResultType": ("identifiers", "NSFetchRequest<NSManagedObjectID>"),
    "countResultType": ("a count", "NSFetchRequest<NSNumber>"),
  ]
}
