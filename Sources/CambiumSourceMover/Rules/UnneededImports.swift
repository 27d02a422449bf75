/// Modules of Apple's platforms that a source imports and does not use. Sources of Core Data often import UIKit because
/// a template did.
enum UnneededImports {
  /// Whether nothing in a source needs a module. Only modules whose names are easy to tell are known. The module of
  /// `import os.log` is `os`.
  static func isUnneeded(_ module: String, in source: SourceText) -> Bool {
    guard let needs = needs[module] else { return false }
    return !source.tokens.indices.contains { index in
      let token = source.tokens[index]
      switch token.kind {
      case .attribute: return needs.attributes.contains { token.text.hasPrefix($0) }
      case .word:
        if source[index - 1]?.isWord("import") == true { return false }
        if needs.words.contains(token.text) { return true }
        if source[index - 1]?.isMark(".") == true, needs.members.contains(token.text) { return true }
        return needs.prefixes.contains { isName(token.text, withPrefix: $0) }
      case .hashWord: return ["#imageLiteral", "#colorLiteral"].contains(token.text)
      default: return false
      }
    }
  }

  private struct Needs {
    /// `UI` of `UIColor`.
    var prefixes: [String] = []
    var words: Set<String> = []
    /// Behind a dot.
    var members: Set<String> = []
    var attributes: [String] = []
  }

  /// Whether a capital letter follows the prefix.
  private static func isName(_ text: String, withPrefix prefix: String) -> Bool {
    guard text.hasPrefix(prefix), text.count > prefix.count else { return false }
    return text.dropFirst(prefix.count).first?.isUppercase ?? false
  }

  private static let needs: [String: Needs] = [
    "UIKit": Needs(
      prefixes: [
        "UI", "NSLayout", "NSCollectionLayout", "NSDiffable", "NSText", "NSParagraph", "NSMutableParagraph", "CA",
      ],
      words: ["NSShadow", "NSDataAsset", "NSStringDrawingOptions", "NSUnderlineStyle", "NSItemProvider"],
      members: ["row", "section", "item", "boundingRect", "foregroundColor", "font", "size"],
      attributes: ["@UI", "@IB", "@NSApplicationMain", "@main"]),
    "Combine": Needs(
      words: [
        "Published", "ObservableObject", "AnyCancellable", "Cancellable", "Publisher", "Publishers", "AnyPublisher",
        "PassthroughSubject", "CurrentValueSubject", "Subject", "Just", "Future", "Deferred", "Empty", "Fail",
        "Subscribers", "Subscriber", "Subscription", "Subscriptions", "ConnectablePublisher", "Scheduler",
        "ObservableObjectPublisher", "Record",
      ],
      members: ["publisher", "sink", "objectWillChange", "dataTaskPublisher", "eraseToAnyPublisher", "assign"],
      attributes: ["@Published"]),
    "os": loggers, "OSLog": loggers,
  ]

  private static let loggers = Needs(prefixes: ["OS"], words: ["Logger", "os_log", "os_signpost", "os_unfair_lock"])
}
