/// Class methods that key-value observing asks on Apple platforms, and nothing elsewhere. They stay, as methods of the
/// class's own: without `override`, and with what Core Data's own method gives in the place of `super`.
enum ObservedKeys {
  static func run(_ move: inout FileMove) {
    let source = move.source
    for scope in move.structure.scopes where move.folder.managedClasses.contains(scope.lastName) {
      for index in move.structure.members(["func"], of: scope) {
        guard let name = source[index + 1]?.text, let value = values[name],
          let override = DeclarationHead(source, introducer: index).modifiers.first(where: {
            source.tokens[$0].text == "override"
          }), !move.folder.declares(name, above: scope.lastName),
          let open = source.tokens.indices.dropFirst(index).first(where: { source.tokens[$0].isOpen("{") }),
          let close = source.tokens[open].partner
        else { continue }
        move.remove(override...override, isReported: false)
        move.note(
          "override func \(name) -> func \(name), which nothing calls", at: source.tokens[index].range.lowerBound)
        for place in open..<close where source.tokens[place].isWord("super") {
          guard source[place + 1]?.isMark(".") == true, source[place + 2]?.isWord(name) == true,
            let bracket = source[place + 3], bracket.isOpen("("), let end = bracket.partner
          else { continue }
          move.replace(place...end, with: value)
        }
      }
    }
  }

  /// The methods, and what those of `NSManagedObject` give.
  static let values: [String: String] = [
    "keyPathsForValuesAffectingValue": "Set<String>()", "automaticallyNotifiesObservers": "false",
  ]
}
