@testable import CambiumSourceMover

/// Moves one source of a folder that has no others, or those that are given.
func moved(_ text: String, beside files: [String] = []) -> MovedSource {
  SourceMover.move(text, in: Folder([text] + files))
}

/// Moves a source that imports Core Data, and returns what follows the import.
func body(_ text: String, beside files: [String] = []) -> String {
  let result = moved("import CoreData\n" + text, beside: files).text
  let start = "import CambiumCoreData\n"
  return result.hasPrefix(start) ? String(result.dropFirst(start.count)) : "?" + result
}

/// The lines and texts of the findings in a source that imports Core Data on line 1.
func left(_ text: String, beside files: [String] = []) -> [String] {
  moved("import CoreData\n" + text, beside: files).findings.map { "\($0.line): \($0.text)" }
}
