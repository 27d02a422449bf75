import Foundation
import PackagePlugin

/// Generates the code of the models in a target's folder whenever the target is built. The file `cambium-generate.json`
/// in the folder says which code.
@main struct CambiumGeneratePlugin: BuildToolPlugin {
  /// Makes a command for each model.
  func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
    guard let target = target as? SourceModuleTarget else { return [] }
    let folder = target.directoryURL
    let settings = try Settings(folder: folder)
    let models = try models(in: folder)
    guard !models.isEmpty else {
      throw PluginFailure("\(folder.path): there is no .xcdatamodeld or .xcdatamodel; add one, or take the plug-in out")
    }
    let tool = try context.tool(named: "CambiumGenerateTool").url
    var names: Set<String> = []
    return try models.map { model in
      // Not the name of the model alone, because a module has each file name once.
      let name = model.lastPathComponent + ".swift"
      guard names.insert(name).inserted else {
        throw PluginFailure("\(model.path): another model of the target has the same name; rename one of them")
      }
      let output = context.pluginWorkDirectoryURL.appending(path: name)
      return .buildCommand(
        displayName: "Generating the code of \(model.lastPathComponent)", executable: tool,
        arguments: [model.path, output.path] + settings.arguments,
        inputFiles: files(of: model) + [folder.appending(path: Settings.fileName)], outputFiles: [output])
    }
  }

  /// The models below a folder, in the order of their paths.
  private func models(in folder: URL) throws -> [URL] {
    var result: [URL] = []
    var open = [folder]
    while let next = open.popLast() {
      for url in try FileManager.default.contentsOfDirectory(at: next, includingPropertiesForKeys: [.isDirectoryKey]) {
        guard try url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true else { continue }
        if ["xcdatamodeld", "xcdatamodel"].contains(url.pathExtension) { result.append(url) } else { open.append(url) }
      }
    }
    return result.sorted { $0.path < $1.path }
  }

  /// The files of a model whose changes change the code.
  private func files(of model: URL) -> [URL] {
    let names = FileManager.default.enumerator(atPath: model.path)?.allObjects.compactMap { $0 as? String } ?? []
    return names.sorted().filter { $0.hasSuffix("contents") || $0.hasSuffix(".xccurrentversion") }
      .map { model.appending(path: $0) }
  }
}

/// The settings of a target.
private struct Settings {
  static let fileName = "cambium-generate.json"
  private static let example = #"{ "forms": ["swiftdata"] }"#
  private static let forms: Set<String> = ["swiftdata", "managed-objects", "builder"]

  /// The tool's options.
  let arguments: [String]

  init(folder: URL) throws {
    let url = folder.appending(path: Self.fileName)
    guard let data = try? Data(contentsOf: url) else {
      throw PluginFailure(
        "\(url.path): there is no such file; write one that says what to generate, such as \(Self.example)")
    }
    guard let settings = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else {
      throw PluginFailure("\(url.path): this is no object of JSON; write \(Self.example)")
    }
    for key in settings.keys.sorted() where key != "forms" && key != "public" {
      throw PluginFailure("\(url.path): there is no setting '\(key)', but 'forms' and 'public'")
    }
    guard let forms = settings["forms"] as? [String], !forms.isEmpty, Set(forms).isSubset(of: Self.forms) else {
      throw PluginFailure(
        "\(url.path): 'forms' is a list of \(Self.forms.sorted().joined(separator: ", ")); write \(Self.example)")
    }
    guard forms.count == 1 || Set(forms) == ["managed-objects", "builder"] else {
      throw PluginFailure(
        "\(url.path): 'forms' has \(forms.joined(separator: ", ")), of which only managed-objects and builder go together; "
          + "write one form, or these two")
    }
    let isPublic = settings["public"] as? Bool
    guard settings["public"] == nil || isPublic != nil else {
      throw PluginFailure("\(url.path): 'public' is true or false")
    }
    arguments = forms.map { "--" + $0 } + (isPublic == true ? ["--public"] : [])
  }
}

/// Why nothing can be generated, in one sentence.
private struct PluginFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
