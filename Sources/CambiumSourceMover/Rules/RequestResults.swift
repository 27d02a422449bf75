/// `NSFetchRequest<NSDictionary>` and the like fetch Swift's values.
enum RequestResults {
  private static let results = ["NSDictionary": "[String: Any]", "NSNumber": "Int"]
  private static let requests: Set<String> = [
    "NSFetchRequest", "NSAsynchronousFetchRequest", "NSAsynchronousFetchResult",
  ]

  static func run(_ move: inout FileMove) {
    let source = move.source
    for index in source.tokens.indices where requests.contains(source.tokens[index].text) {
      guard source[index + 1]?.isMark("<") == true, let name = source[index + 2], source[index + 3]?.isMark(">") == true
      else { continue }
      if let result = results[name.text] {
        move.replace((index + 2)...(index + 2), with: result)
      }
    }
    reportOtherResults(&move)
  }

  /// A request of objects that is told to fetch something else.
  private static func reportOtherResults(_ move: inout FileMove) {
    let source = move.source
    guard
      source.tokens.indices.contains(where: { index in
        source.tokens[index].isWord("NSFetchRequestResult") && source[index - 1]?.isMark("<") == true
          && source[index - 2]?.text == "NSFetchRequest"
      })
    else { return }
    for index in source.tokens.indices where source.tokens[index].isMark(".") {
      guard let name = source[index + 1], let result = otherResults[name.text], source[index - 1]?.isMark("=") == true
      else { continue }
      move.find(
        Cause("a request of objects that fetches \(result.what)", "give it the type \(result.type)"),
        index...(index + 1))
    }
  }

  private static let otherResults: [String: (what: String, type: String)] = [
    "dictionaryResultType": ("dictionaries", "NSFetchRequest<[String: Any]>"),
    "managedObjectIDResultType": ("identifiers", "NSFetchRequest<NSManagedObjectID>"),
    "countResultType": ("a count", "NSFetchRequest<Int>"),
  ]
}
