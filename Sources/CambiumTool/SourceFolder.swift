import CambiumKernel
import CambiumSystem

/// The Swift sources below a folder.
struct SourceFolder {
  /// A source, with its path below the folder.
  struct File {
    var name: String
    var text: String
  }

  /// In the order of their names.
  private(set) var files: [File] = []
  /// The files that cannot be read, with the reason.
  private(set) var unreadable: [(name: String, reason: String)] = []
  let path: String

  /// Folders of other people's code and of what was built. Hidden folders are left out as well.
  static let skipped: Set<String> = ["Carthage", "DerivedData", "Pods", "node_modules"]
  private static let byteLimit = 16 << 20
  /// Links may lead in a circle.
  private static let depthLimit = 32

  init(path: String) throws(ToolError) {
    self.path = path
    guard let names = PlainFiles.names(inFolder: path) else { throw .failed("\(path): no such folder") }
    var folders: [(name: String, names: [String], depth: Int)] = [("", names, 0)]
    while let folder = folders.popLast() {
      for name in folder.names.sorted() where !name.hasPrefix(".") {
        let place = folder.name.isEmpty ? name : "\(folder.name)/\(name)"
        if name.hasSuffix(".swift") {
          read(place)
        } else if !Self.skipped.contains(name), folder.depth < Self.depthLimit,
          let inner = PlainFiles.names(inFolder: "\(path)/\(place)")
        {
          folders.append((place, inner, folder.depth + 1))
        }
      }
    }
    files.sort { $0.name < $1.name }
    unreadable.sort { $0.name < $1.name }
  }

  private mutating func read(_ name: String) {
    do throws(StoreError) {
      guard let bytes = try PlainFiles.bytes(ofFile: "\(path)/\(name)", limit: Self.byteLimit) else {
        unreadable.append((name, "no such file"))
        return
      }
      guard let text = String(validating: bytes, as: UTF8.self) else {
        unreadable.append((name, "not in UTF-8"))
        return
      }
      files.append(File(name: name, text: text))
    } catch { unreadable.append((name, ToolError(error, path: name).text)) }
  }

  /// Writes a source in its place.
  func write(_ text: String, to name: String) throws(ToolError) {
    do throws(StoreError) { try PlainFiles.replace("\(path)/\(name)", with: Array(text.utf8)) } catch {
      throw ToolError(error, path: "\(path)/\(name)")
    }
  }
}
