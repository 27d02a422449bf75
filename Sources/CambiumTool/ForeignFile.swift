import CambiumKernel
import CambiumSystem

/// A file or folder at a path where a store is expected.
enum ForeignFile {
  case folder, sqlite, xml, json

  /// Looks at a path; nil if nothing is there, or nothing of these kinds.
  init?(_ path: String) {
    if PlainFiles.names(inFolder: path) != nil {
      self = .folder
      return
    }
    let start = firstBytes(ofFile: path, count: 16)
    if start.elementsEqual("SQLite format 3\0".utf8) {
      self = .sqlite
    } else if start.first == UInt8(ascii: "<") {
      self = .xml
    } else if start.first == UInt8(ascii: "{") {
      self = .json
    } else {
      return nil
    }
  }

  /// Returns the error, which says what to do.
  func error(_ path: String) -> ToolError {
    switch self {
    case .folder:
      let isModel = [".xcdatamodeld", ".xcdatamodel", ".cambiummodel"].contains { path.hasSuffix($0) }
      return .failed(
        "\(path) is a folder, not a store; "
          + (isModel ? "'cambium model' is for models" : "name the store's file in it"))
    case .sqlite:
      return .failed(
        "\(path) is an SQLite database, perhaps a store of Core Data or SwiftData; Cambium cannot open those: read it "
          + "with Core Data or sqlite3, and insert its objects into a new store with your application")
    case .xml:
      return .failed("\(path) is an XML file, not a store; 'cambium model' and 'cambium generate' read a model's file")
    case .json:
      return .failed(
        "\(path) is a JSON file, neither a store nor a model that the tool reads; an application decodes it as a "
          + "ManagedObjectModel, and writes a model for the tool by writeXcodeModel(to:)")
    }
  }
}

/// The first bytes of a file, as many as there are; none if it cannot be read.
func firstBytes(ofFile path: String, count: Int) -> [UInt8] {
  guard let device = try? FileDevice(path: path, access: .readOnly, sharing: .cooperative) else { return [] }
  defer { device.close() }
  var start = [UInt8](repeating: 0, count: count)
  let found = start.withUnsafeMutableBytes { (try? device.read(at: 0, into: $0)) ?? 0 }
  return Array(start.prefix(max(0, found)))
}
