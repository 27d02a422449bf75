import CambiumSourceMover

/// The input is the sources of a folder, one behind each zero byte, which are moved from Core Data.
enum MoverTarget {
  static func problem(_ input: [UInt8]) -> String? {
    let files = input.split(separator: 0, maxSplits: 3, omittingEmptySubsequences: false).enumerated().map {
      (name: "\($0.offset).swift", text: String(decoding: $0.element, as: UTF8.self))
    }
    let moved = FolderMove(files).sources
    if moved.count != files.count { return "\(files.count) sources are moved to \(moved.count)" }
    for (file, result) in zip(files, moved) {
      let lines = file.text.utf8.reduce(1) { $1 == 0x0A ? $0 + 1 : $0 }
      for change in result.changes where !(1...lines).contains(change.line) || change.text.isEmpty {
        return "a change at line \(change.line) of \(lines): \(change.text)"
      }
      for finding in result.findings where !(1...lines).contains(finding.line) || finding.cause.remedy.isEmpty {
        return "a place at line \(finding.line) of \(lines): \(finding.text)"
      }
    }
    // Overrides of the other files may come into a source without a change of its own.
    if files.count == 1, moved[0].changes.isEmpty, moved[0].text != files[0].text {
      return "a source without changes is another one"
    }
    return nil
  }
}
