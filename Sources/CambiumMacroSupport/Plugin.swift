#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Answers messages. No message makes it trap: what is not understood is answered with an error that the compiler
/// shows.
package enum Plugin {
  /// The answer to a message, both without their lengths.
  package static func answer(_ message: [UInt8]) -> [UInt8] {
    let answer: PluginAnswer
    do {
      answer = respond(to: try JSONDecoder().decode(CompilerMessage.self, from: Data(message)))
    } catch {
      answer = refusal("Cambium's macro plug-in does not understand the compiler: \(error)", at: nil)
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Strings and numbers encode always; an empty answer would only be an error of the compiler's.
    return (try? encoder.encode(answer)).map { [UInt8]($0) } ?? Array("{}".utf8)
  }

  static func respond(to message: CompilerMessage) -> PluginAnswer {
    if message.getCapability != nil { return PluginAnswer(getCapabilityResult: .init()) }
    if let request = message.expandAttachedMacro { return expand(request) }
    if let request = message.expandFreestandingMacro {
      if let name = request.macro.typeName, MarkerMacro.freestanding.contains(name) {
        return PluginAnswer(expandMacroResult: .init(expandedSource: ""))
      }
      return refusal("Cambium has no macro '#\(request.macro.name ?? "")'", at: request.syntax.location)
    }
    if message.loadPluginLibrary != nil { return PluginAnswer(loadPluginLibraryResult: .init()) }
    return refusal("Cambium's macro plug-in does not know what the compiler asks for", at: nil)
  }

  private static func expand(_ request: CompilerMessage.AttachedMacro) -> PluginAnswer {
    do throws(Refusal) {
      let source: String
      switch (request.macro.typeName, request.macroRole) {
      case ("ManagedMacro", "accessor"): source = try ManagedMacro.accessors(request)
      case ("PathsMacro", "member"): source = PathsMacro.members(request)
      case ("PathsMacro", "extension"): source = try PathsMacro.extensions(request)
      case ("CompositeMacro", "extension"): source = try CompositeMacro.extensions(request)
      case ("StoredRowMacro", "extension"): source = try StoredRowMacro.extensions(request)
      case ("ModelMacro", "member"): source = try ModelMacro.members(request)
      case ("ModelMacro", "memberAttribute"): source = ModelMacro.attribute(request)
      case ("ModelMacro", "extension"): source = try ModelMacro.extensions(request)
      case ("PersistedPropertyMacro", "accessor"): source = try PersistedPropertyMacro.accessors(request)
      case ("PersistedPropertyMacro", "peer"): source = try PersistedPropertyMacro.peers(request)
      case ("ModelActorMacro", "member"): source = try ModelActorMacro.members(request)
      case ("ModelActorMacro", "extension"): source = try ModelActorMacro.extensions(request)
      case (let name?, "peer") where MarkerMacro.attached.contains(name): source = ""
      default:
        let name = request.macro.typeName ?? request.macro.name ?? ""
        return refusal("Cambium has no \(request.macroRole) macro '\(name)'", at: request.declSyntax.location)
      }
      return PluginAnswer(expandMacroResult: .init(expandedSource: source))
    } catch {
      let syntax = error.isInAttribute ? request.attributeSyntax : request.declSyntax
      return refusal(error.message, at: syntax.location, offset: error.offset)
    }
  }

  private static func refusal(_ message: String, at location: CompilerMessage.Location?, offset: Int = 0)
    -> PluginAnswer
  {
    let start = location?.offset ?? 0
    let sum = start.addingReportingOverflow(offset)
    let position = PluginAnswer.Position(
      fileName: location?.fileName ?? "", offset: sum.overflow ? start : sum.partialValue)
    return PluginAnswer(expandMacroResult: .init(diagnostics: [.init(message: message, position: position)]))
  }
}

/// Why a macro does not fit where it is.
struct Refusal: Error, Equatable {
  var message: String
  /// In the source of the declaration, or of the attribute, in bytes.
  var offset: Int
  var isInAttribute = false
}
