// What the compiler and a plug-in say to each other: the part of the compiler's protocol that Cambium's macros need.
// Keys that are not named here are passed over, so that a newer compiler may say more.

/// A message of the compiler; one of its parts is there.
struct CompilerMessage: Decodable {
  var getCapability: Empty?
  var expandAttachedMacro: AttachedMacro?
  var expandFreestandingMacro: FreestandingMacro?
  var loadPluginLibrary: Empty?

  struct Empty: Decodable {}

  struct Macro: Decodable {
    var moduleName: String?
    var typeName: String?
    var name: String?
  }

  struct AttachedMacro: Decodable {
    var macro: Macro
    var macroRole: String
    var attributeSyntax: Syntax
    var declSyntax: Syntax
    /// The type that a member is of, if the macro gives attributes to members.
    var parentDeclSyntax: Syntax?
    /// What is around the declaration, the innermost first, without its members.
    var lexicalContext: [Syntax]?
    /// The type that an extension would be of.
    var extendedTypeSyntax: Syntax?
    /// The protocols that it does not conform to yet.
    var conformanceListSyntax: Syntax?
  }

  struct FreestandingMacro: Decodable {
    var macro: Macro
    var syntax: Syntax
  }

  /// A piece of the source, with the comments and blanks before it.
  struct Syntax: Decodable {
    var source: String
    var location: Location?
  }

  struct Location: Decodable {
    var fileName: String
    /// Of the first byte of the piece's source, in bytes.
    var offset: Int
  }
}

/// An answer to the compiler; one of its parts is there.
struct PluginAnswer: Encodable {
  var getCapabilityResult: CapabilityResult?
  var expandMacroResult: Expansion?
  var loadPluginLibraryResult: LibraryResult?

  struct CapabilityResult: Encodable { var capability = Capability() }

  struct Capability: Encodable {
    /// 5 brought the one answer to every kind of macro; 7 is what Swift 6.1 and later speak.
    var protocolVersion = 7
    var features: [String] = []
  }

  struct Expansion: Encodable {
    /// `nil` if the macro was refused.
    var expandedSource: String?
    var diagnostics: [Diagnostic] = []
  }

  struct LibraryResult: Encodable {
    var loaded = false
    var diagnostics: [Diagnostic] = []
  }

  struct Diagnostic: Encodable {
    var message: String
    var severity = "error"
    var position: Position
    // The compiler insists on these.
    var highlights: [String] = []
    var notes: [String] = []
    var fixIts: [String] = []
  }

  struct Position: Encodable {
    var fileName: String
    var offset: Int
  }
}
