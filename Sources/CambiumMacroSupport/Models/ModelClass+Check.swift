extension ModelClass {
  /// Throws a refusal with its place if the class cannot be a model.
  func check() throws(Refusal) {
    try checkType()
    try checkStray()
    for variable in declaration.patterns where variable.isPersisted {
      throw Refusal(
        message: "a model cannot store a pattern of several variables: write one 'var' for each",
        offset: variable.name.offset)
    }
    for variable in declaration.variables { try PropertyCheck(variable, in: declaration).run() }
    try checkMarkers()
    try checkInitializer()
  }

  private func checkType() throws(Refusal) {
    let word = declaration.introducer
    guard word.text == "class" else {
      throw Refusal(
        message: "'@Model' is for classes: write 'final class \(name)' instead of '\(word.text) \(name)'",
        offset: word.offset)
    }
    if declaration.isGeneric {
      throw Refusal(
        message: "'@Model' is not for generic classes, because an entity has one list of properties: write one class "
          + "for each type", offset: declaration.name.offset)
    }
  }

  /// Refuses attributes and macros within `#if`, because the macro cannot know whether the condition holds.
  private func checkStray() throws(Refusal) {
    if let attribute = declaration.strayAttribute {
      throw Refusal(
        message: "'@Model' cannot see whether this attribute holds, because it stands alone within '#if': write the "
          + "attribute without a condition", offset: attribute.offset)
    }
    for macro in declaration.macros where macro.isConditional && ["Unique", "Index"].contains(macro.name.text) {
      throw Refusal(
        message: "'@Model' cannot see whether the condition holds: write '#\(macro.name.text)' outside of '#if'",
        offset: macro.name.offset)
    }
  }

  /// Refuses a variable `_name` beside a persisted `name`, because the macro adds a `_name` of its own.
  private func checkMarkers() throws(Refusal) {
    let names = Set(properties.map { $0.name })
    for variable in declaration.variables where variable.name.text.hasPrefix("_") {
      let other = String(variable.name.text.dropFirst())
      guard names.contains(other) else { continue }
      throw Refusal(
        message:
          "'\(variable.name.text)' is the name of a member that '@Model' adds for '\(other)': choose another name",
        offset: variable.name.offset)
    }
  }

  private func checkInitializer() throws(Refusal) {
    if parent == nil, !declaration.initializers.isEmpty { return }
    if parent != nil, inheritsInitializers || declaration.initializers.contains(where: { !$0.isConvenience }) { return }
    throw Refusal(
      message: "@Model requires an initializer be provided for '\(name)': write 'init(...)', which sets each property "
        + "without an initial value", offset: declaration.name.offset)
  }
}
