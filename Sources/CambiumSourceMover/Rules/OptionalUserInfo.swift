/// Replaces `entity.userInfo?["key"]` with `entity.userInfo["key"]`: entities, properties, managers and mappings always
/// have a dictionary. That of a notification is optional in both frameworks.
enum OptionalUserInfo {
  static func run(_ move: inout FileMove) {
    let source = move.source
    for index in source.tokens.indices where source.tokens[index].isWord("userInfo") {
      guard source[index + 1]?.isMark("?") == true, let next = source[index + 2],
        next.isOpen("[") || next.isMark("."), source[index - 1]?.isMark(".") == true,
        let base = source[index - 2], !isNotification(base)
      else { continue }
      move.replace(index...(index + 1), with: "userInfo")
    }
  }

  private static func isNotification(_ base: Token) -> Bool {
    // What a call gives may be anything.
    guard base.kind == .word else { return true }
    let name = base.text.lowercased()
    return name.contains("notif") || ["note", "n", "$0", "message", "event"].contains(name)
  }
}
