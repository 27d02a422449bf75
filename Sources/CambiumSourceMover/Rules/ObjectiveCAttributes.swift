/// Removes `@objc`, `@objcMembers` and `@nonobjc`: managed objects are no objects of Objective-C, and off Apple
/// platforms there are none. Methods that `#selector` names, and protocols with optional requirements, keep them.
///
/// A protocol with `@objc` is for classes alone. Without the attribute it has to inherit from `AnyObject`, so that a
/// `weak` property may have its type.
enum ObjectiveCAttributes {
  static func run(_ move: inout FileMove) {
    let source = move.source
    for index in source.tokens.indices where source.tokens[index].kind == .attribute {
      let name = source.tokens[index].text
      guard ["@objc", "@objcMembers", "@nonobjc"].contains(name) else { continue }
      var end = index
      if let open = source[index + 1], open.isOpen("("), open.range.lowerBound == source.tokens[index].range.upperBound
      {
        guard let close = open.partner else { continue }
        end = close
      }
      guard let introducer = introducer(after: end, source) else { continue }
      if name == "@objc", isKept(introducer, &move) { continue }
      move.remove(index...end)
      if name == "@objc", source[introducer]?.text == "class" { checkName(index...end, introducer, &move) }
      if name == "@objc", source[introducer]?.text == "protocol" { bindToClasses(introducer, &move) }
      // Without Objective-C it says nothing.
      let head = DeclarationHead(source, introducer: introducer)
      if name == "@objc", let dynamic = head.modifiers.first(where: { source.tokens[$0].text == "dynamic" }) {
        move.remove(dynamic...dynamic)
      }
    }
    reportSelectors(&move)
  }

  private static let introducers: Set<String> = [
    "var", "let", "func", "init", "subscript", "class", "enum", "protocol", "extension", "deinit", "case", "struct",
  ]

  /// The word that introduces the declaration that an attribute belongs to.
  private static func introducer(after index: Int, _ source: SourceText) -> Int? {
    var next = index + 1
    while let token = source[next] {
      if token.kind == .attribute {
        next += 1
        if let open = source[next], open.isOpen("("), open.range.lowerBound == token.range.upperBound,
          let close = open.partner
        {
          next = close + 1
        }
        continue
      }
      guard token.kind == .word else { return nil }
      let isModifier = DeclarationHead.modifierWords.contains(token.text)
      if introducers.contains(token.text) {
        // `class func` is a method, and `class Item` a class.
        guard token.text == "class", let following = source[next + 1], following.kind == .word,
          DeclarationHead.modifierWords.contains(following.text)
            || ["var", "func", "let", "init", "subscript"].contains(following.text)
        else { return next }
      }
      guard isModifier else { return nil }
      next += 1
      if let open = source[next], open.isOpen("("), let close = open.partner { next = close + 1 }
    }
    return nil
  }

  private static func isKept(_ introducer: Int, _ move: inout FileMove) -> Bool {
    let source = move.source
    switch source.tokens[introducer].text {
    case "protocol":
      guard let scope = move.structure.scopes.first(where: { $0.head.introducer == introducer }) else { return false }
      let hasOptional = (scope.open..<min(scope.close, source.tokens.count)).contains {
        source.tokens[$0].isWord("optional")
      }
      if hasOptional { move.find(optionalRequirement, introducer...(introducer + 1)) }
      return hasOptional
    case "func":
      if DeclarationHead(source, introducer: introducer).modifiers.contains(where: {
        source.tokens[$0].text == "optional"
      }) {
        return true
      }
      guard let name = source[introducer + 1], move.folder.selectors.contains(name.text) else { return false }
      move.find(selectorMethod, introducer...(introducer + 1))
      return true
    case "var":
      return DeclarationHead(source, introducer: introducer).modifiers.contains { source.tokens[$0].text == "optional" }
    default: return false
    }
  }

  /// Makes a protocol inherit from `AnyObject`, unless it is for classes alone already.
  private static func bindToClasses(_ introducer: Int, _ move: inout FileMove) {
    let source = move.source
    guard let scope = move.structure.scopes.first(where: { $0.head.introducer == introducer }),
      !scope.inherited.contains(where: { ["AnyObject", "class", "NSObjectProtocol"].contains($0) })
    else { return }
    // Primary associated types stand between the name and the colon.
    let last = scope.inheritance?.upperBound ?? source.afterGenericArguments(scope.nameToken + 1) - 1
    guard let token = source[last] else { return }
    move.insert(scope.inheritance == nil ? ": AnyObject" : ", AnyObject", at: token.range.upperBound)
    move.note("protocol \(scope.name) inherits from AnyObject", at: source.tokens[introducer].range.lowerBound)
  }

  /// A class that has another name in Objective-C: the model may have that name.
  private static func checkName(_ attribute: ClosedRange<Int>, _ introducer: Int, _ move: inout FileMove) {
    let source = move.source
    guard let name = source[introducer + 1], move.folder.managedClasses.contains(name.text),
      attribute.count == 4, let other = source[attribute.lowerBound + 2], other.kind == .word, other.text != name.text
    else { return }
    move.find(otherName, attribute)
  }

  private static func reportSelectors(_ move: inout FileMove) {
    let source = move.source
    let replaced = ObserverSelectors.calls(in: move.structure).map { $0.tokens }
    for index in source.tokens.indices where source.tokens[index].text == "#selector" {
      if replaced.contains(where: { $0.contains(index) }) || KeyPathLiterals.isLiteral(selector: index, source)
        || SortSelectors.isReplaced(index, source)
      {
        continue
      }
      guard let open = source[index + 1], open.isOpen("("), let close = open.partner else { continue }
      move.find(selector, index...close)
    }
  }

  private static let selector = Cause(
    "#selector needs Objective-C, which is on Apple platforms alone",
    "use a closure: NotificationCenter's addObserver(forName:object:queue:using:), Timer's block, or a SortComparator")
  private static let selectorMethod = Cause(
    "@objc stays on a method that #selector names", "remove it together with the #selector")
  private static let optionalRequirement = Cause(
    "optional requirements of a protocol need Objective-C",
    "remove @objc and optional, and give the requirement a default in an extension")
  private static let otherName = Cause(
    "a managed object's class has another name in Objective-C",
    "set the entity's class in the model to the name in Swift")
}
