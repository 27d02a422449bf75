import CambiumGenerator
import CambiumModelFiles
import Foundation

/// Lines about why nothing is generated, in the form that build systems show.
struct ToolFailure: Error {
  let lines: [String]

  init(_ path: String, _ reasons: [String]) { lines = reasons.map { "\(path): error: \($0)" } }
}

/// One call of the tool.
struct GenerateTool {
  private var operands: [String] = []
  private var forms: Set<CodeForm> = []
  private var isPublic = false

  init(_ arguments: [String]) throws(ToolFailure) {
    for argument in arguments {
      if argument == "--public" {
        isPublic = true
      } else if let form = CodeForm.allCases.first(where: { "--" + $0.rawValue == argument }) {
        forms.insert(form)
      } else if argument.hasPrefix("--") {
        throw ToolFailure("CambiumGenerateTool", ["unknown option '\(argument)'"])
      } else {
        operands.append(argument)
      }
    }
    guard operands.count == 2, forms.count == 1 || forms == [.managedObjects, .builder] else {
      throw ToolFailure(
        "CambiumGenerateTool",
        ["give a model, a file, and one of --swiftdata, --managed-objects, --builder, --managed-objects --builder"])
    }
  }

  /// Generates the code of the model, and writes it.
  ///
  /// - Returns: Lines about what the code leaves out.
  func run() throws(ToolFailure) -> [String] {
    let (path, target) = (operands[0], operands[1])
    var versions: [CodeVersion] = []
    let folder: VersionFolder
    do throws(ModelDocumentError) {
      folder = try VersionFolder(path: path, source: DiskFiles())
      for name in folder.versionNames {
        let content = try folder.content(of: name)
        versions.append(CodeVersion(name: name, document: try ModelDocument(contents: content.bytes)))
      }
    } catch { throw ToolFailure(path, [error.description]) }
    if let problem = CodeVersion.problem(ofCurrent: folder.currentVersionName, among: folder.versionNames) {
      throw ToolFailure(path, [problem])
    }
    var options = CodeOptions(
      modelName: folder.name, forms: forms, sourceName: URL(fileURLWithPath: path).lastPathComponent)
    options.isPublic = isPublic
    let code: GeneratedCode
    do throws(Refusals) {
      code = try CodeGenerator.generate(versions, current: folder.currentVersionName, options)
    } catch { throw ToolFailure(path, error.all.map { $0.description }) }
    let url = URL(fileURLWithPath: target)
    let text = SourceFile.joined(code.files, name: url.lastPathComponent).text
    do { try Data(text.utf8).write(to: url) } catch {
      throw ToolFailure(target, ["the file cannot be written: \(error)"])
    }
    return code.notes.map { "\(path): warning: \($0)" }
  }
}

/// The files of the disk.
private final class DiskFiles: ModelFileSource {
  func names(inFolder path: String) -> [String]? { try? FileManager.default.contentsOfDirectory(atPath: path) }

  func bytes(ofFile path: String) throws(ModelDocumentError) -> [UInt8]? {
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    do { return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) } catch {
      throw .system(path: path, detail: "\(error)")
    }
  }
}
