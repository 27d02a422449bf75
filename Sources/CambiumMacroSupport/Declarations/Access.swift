/// Who sees a declaration.
enum Access: Comparable {
  case `fileprivate`
  case `internal`
  case package
  case `public`

  /// What modifiers say; `nil` if they say nothing.
  init?(_ modifiers: [VariableDeclaration.Word]) {
    for modifier in modifiers {
      switch modifier.text {
      case "private", "fileprivate": self = .fileprivate
      case "internal": self = .internal
      case "package": self = .package
      case "public", "open": self = .public
      default: continue
      }
      return
    }
    return nil
  }

  /// That of a type, whose witnesses have to be as visible as it is, by its own modifiers and by what is around it, the
  /// innermost first.
  init(of type: TypeDeclaration, in context: [CompilerMessage.Syntax]) {
    let around = context.compactMap { try? TypeDeclaration($0.source) }
    var result = Access(type.modifiers)
    // Members of an extension are what the extension says.
    if let first = around.first, first.introducer.text == "extension" { result = result ?? Access(first.modifiers) }
    self = around.reduce(result ?? .internal) { min($0, Access($1.modifiers) == .fileprivate ? .fileprivate : $0) }
  }

  var text: String {
    switch self {
    case .fileprivate: "fileprivate "
    case .internal: ""
    case .package: "package "
    case .public: "public "
    }
  }
}
