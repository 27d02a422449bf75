import CambiumTesting
import Foundation
import Testing

@testable import CambiumMacroSupport

/// Messages in and out, as the compiler sends them and otherwise.
@Suite struct PluginTests {
  private static let location =
    #""location":{"fileID":"A/B.swift","fileName":"/A/B.swift","line":2,"column":3,"offset":40}"#

  private static func expansion(_ declaration: String, attribute: String = "@Managed ", role: String = "accessor")
    -> String
  {
    #"{"expandAttachedMacro":{"macro":{"moduleName":"CambiumMacros","name":"Managed","typeName":"ManagedMacro"},"#
      + #""macroRole":"\#(role)","discriminator":"$s1","staticBuildConfiguration":"{\"a\":[]}","#
      + #""attributeSyntax":{"kind":"attribute",\#(location),"source":"\#(attribute)"},"#
      + #""declSyntax":{"kind":"declaration",\#(location),"source":"\#(declaration)"},"#
      + #""lexicalContext":[{"kind":"declaration",\#(location),"source":"\nextension A {}"}]}}"#
  }

  private func answer(_ message: String) throws -> [String: Any] {
    let bytes = Plugin.answer(Array(message.utf8))
    return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
  }

  private func diagnostic(_ message: String) throws -> [String: Any] {
    let result = try #require(try answer(message)["expandMacroResult"] as? [String: Any])
    #expect(result["expandedSource"] == nil)
    let diagnostics = try #require(result["diagnostics"] as? [[String: Any]])
    #expect(diagnostics.count == 1)
    let diagnostic = try #require(diagnostics.first)
    #expect(diagnostic["severity"] as? String == "error")
    for key in ["highlights", "notes", "fixIts"] { #expect(diagnostic[key] is [Any]) }
    return diagnostic
  }

  @Test func capability() throws {
    let answer = try answer(#"{"getCapability":{"capability":{"protocolVersion":8}}}"#)
    let result = try #require(answer["getCapabilityResult"] as? [String: Any])
    #expect((result["capability"] as? [String: Any])?["protocolVersion"] as? Int == 7)
    #expect(answer.count == 1)
  }

  @Test func expansionAndDiagnostic() throws {
    let result = try answer(Self.expansion(#"\n  @Managed var größe: Int"#))["expandMacroResult"] as? [String: Any]
    #expect(
      result?["expandedSource"] as? String
        == "get { self[managed: \"größe\"] }\nset { self[managed: \"größe\"] = newValue }")
    #expect((result?["diagnostics"] as? [Any])?.isEmpty == true)

    // Offsets are in bytes: the umlauts count twice, the place of the source is added.
    let refused = try diagnostic(Self.expansion(#"@Managed var größe: Int = 3"#))
    let position = try #require(refused["position"] as? [String: Any])
    #expect(position["fileName"] as? String == "/A/B.swift")
    #expect(position["offset"] as? Int == 40 + 26)
    let inAttribute = try diagnostic(Self.expansion("@Managed var x: Int", attribute: "@Managed(,)"))
    #expect((inAttribute["position"] as? [String: Any])?["offset"] as? Int == 49)
  }

  @Test(arguments: [
    "", "{", "[]", "null", "{}", #"{"unheardOf":{}}"#, #"{"expandAttachedMacro":{}}"#, #"{"expandAttachedMacro":7}"#,
    #"{"expandFreestandingMacro":{"macro":{"name":"f"},"syntax":{"source":"f()"}}}"#,
    PluginTests.expansion("@Managed var x: Int", role: "member"),
    PluginTests.expansion("@Managed var x: Int").replacingOccurrences(of: "ManagedMacro", with: "Other"),
    String(repeating: "[", count: 100_000), "\u{0}",
  ])
  func notUnderstood(message: String) throws {
    #expect(try diagnostic(message)["message"] as? String != "")
  }

  @Test func libraries() throws {
    let answer = try answer(#"{"loadPluginLibrary":{"libraryPath":"a","moduleName":"b"}}"#)
    #expect((answer["loadPluginLibraryResult"] as? [String: Any])?["loaded"] as? Bool == false)
  }

  /// An offset beyond all numbers is not added to.
  @Test func farAwayPlaces() throws {
    let message = Self.expansion("@Managed let x: Int").replacingOccurrences(of: ":40}", with: ":\(Int.max)}")
    #expect((try diagnostic(message)["position"] as? [String: Any])?["offset"] as? Int == Int.max)
  }

  /// Bytes changed, cut, and doubled: there is an answer to each.
  @Test func randomDamage() throws {
    var random = SplitMix64(seed: 7)
    let whole = [
      Self.expansion(#"/* \/* *\/ */ @A(\"\\(b)\") @Managed var x: Dictionary<String, [Any]>? // c"#),
      Self.expansion("@Managed var x: Int", attribute: #"@Managed(\"a\", default: [1, (2)].map { \"\\($0)\" })"#),
    ].map { Array($0.utf8) }
    let letters = Array("\"\\()[]{}<>#`@/*:,=-\n ax\u{0}".utf8)
    var refused = 0
    for round in 0..<20_000 {
      var message = whole[round % 2]
      for _ in 0...Int.random(in: 0..<4, using: &random) {
        let place = Int.random(in: 0..<message.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: message[place] = letters[Int.random(in: 0..<letters.count, using: &random)]
        case 1: message.insert(letters[Int.random(in: 0..<letters.count, using: &random)], at: place)
        case 2: message.remove(at: place)
        default: message[place] = UInt8.random(in: 0...255, using: &random)
        }
      }
      let result = try JSONSerialization.jsonObject(with: Data(Plugin.answer(message))) as? [String: Any]
      let expansion = try #require(result?["expandMacroResult"] as? [String: Any])
      if expansion["expandedSource"] == nil {
        refused += 1
        #expect((expansion["diagnostics"] as? [Any])?.count == 1)
      }
    }
    #expect(refused > 1_000 && refused < 20_000)
  }

  /// The same with declarations alone, which reach further than damaged JSON.
  @Test func randomDeclarations() {
    var random = SplitMix64(seed: 8)
    let pieces = [
      "@Managed", " ", "var", "let", "x", ":", "Int", "?", "=", "{", "}", "(", ")", "[", "]", "<", ">", "->", "\"",
      "\"\"\"", "#\"",
      "\"#", "\\(", "\\", "/*", "*/", "//", "\n", "`", ",", "@", "é", "static", "#", ".",
    ]
    var expanded = 0
    for _ in 0..<50_000 {
      var source = Bool.random(using: &random) ? "@Managed var x: " : ""
      for _ in 0..<Int.random(in: 0..<12, using: &random) {
        source += pieces[Int.random(in: 0..<pieces.count, using: &random)]
      }
      do throws(Refusal) {
        _ = try VariableDeclaration(source)
        expanded += 1
      } catch {
        #expect(error.offset >= 0 && error.offset <= source.utf8.count)
      }
      do throws(Refusal) { _ = try AttributeArguments(source) } catch {
        #expect(error.isInAttribute && error.offset <= source.utf8.count)
      }
    }
    #expect(expanded > 1_000)
  }
}
