#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The folder with the CSV files.
struct DataFolder {
  /// Where it is.
  let path: String

  /// A folder that was named, or the one in the repository. That one is looked for beside the source file of this type,
  /// then in the folders above the executable and above the working directory, so that a copied build finds it as well.
  init(path: String?) throws(DataError) {
    if let path {
      self.path = path
      return
    }
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Data").path
    var candidates = [sources]
    let starts = [CommandLine.arguments.first ?? "", FileManager.default.currentDirectoryPath + "/."]
    for start in starts where !start.isEmpty {
      var folder = URL(fileURLWithPath: start).standardizedFileURL
      for _ in 0..<8 where folder.path != "/" {
        folder = folder.deletingLastPathComponent()
        candidates.append(folder.appendingPathComponent("Sources/FlightLog/Data").path)
      }
    }
    guard let found = candidates.first(where: { FileManager.default.fileExists(atPath: $0 + "/flights.csv") }) else {
      throw DataError(description: "the data are not in \(sources); name their folder with --data")
    }
    self.path = found
  }

  /// Starts to read one of the files.
  func open(_ name: String) throws -> CSVReader {
    try CSVReader(file: name, input: try InputFile(path: path + "/" + name))
  }
}

/// Why there are no data.
struct DataError: Error, CustomStringConvertible {
  var description: String
}
