import CambiumEngine
import CambiumModels

/// The input is a model file, or a property list, or any other XML.
enum XMLTarget {
  static func problem(_ input: [UInt8]) -> String? {
    if let problem = placeProblem(input) { return problem }
    if let list = try? PropertyList(input) {
      guard let again = try? PropertyList(list.bytes) else { return "a property list that was read is not read back" }
      if again != list { return "a property list that was read is read back as another one" }
    }
    let file: ModelFile
    do throws(ModelFileError) { file = try ModelFile(contents: input) } catch { return problem(of: error, input) }
    if let problem = ModelTarget.problem(file.schema) { return problem }
    let lines = input.reduce(1) { $1 == 10 ? $0 + 1 : $0 }
    for warning in file.warnings where !(1...lines).contains(warning.line) {
      return "a warning about line \(warning.line) of \(lines): \(warning.text)"
    }
    // A file that is written of the document is the same model.
    guard let written = try? file.document.contents(), let copy = try? ModelFile(contents: written),
      copy.schema == file.schema
    else { return "the document is written as another model" }
    guard let written = try? ModelDocument(file.definition).contents(), let copy = try? ModelFile(contents: written),
      copy.schema.versionChecksum == file.schema.versionChecksum
    else { return "the definition is written as another model" }
    // A definition is built as it was.
    guard let again = try? Schema(file.definition), again == file.schema else {
      return "the definition is another model"
    }
    return nil
  }

  /// The reader alone: what begins ends, and errors have places.
  private static func placeProblem(_ input: [UInt8]) -> String? {
    do throws(ModelDocumentError) {
      var reader = try XMLReader(input)
      var depth = 0
      while let event = try reader.next() {
        switch event {
        case .start(let name, let attributes):
          depth += 1
          if name.isEmpty || Set(attributes.map { $0.name }).count != attributes.count { return "a tag that cannot be" }
        case .end: depth -= 1
        case .text: if depth == 0 { return "text outside of the root" }
        }
        if depth < 0 || depth > XMLReader.depthLimit { return "a depth of \(depth)" }
      }
      return depth == 0 ? nil : "the document ends at depth \(depth)"
    } catch {
      switch error {
      case .malformed(let line, let column, let detail): return problem(line, column, detail, input)
      default: return "the reader throws \(error)"
      }
    }
  }

  private static func problem(of error: ModelFileError, _ input: [UInt8]) -> String? {
    switch error {
    case .malformed(let line, let column, let detail), .unusable(let line, let column, let detail):
      return problem(line, column, detail, input)
    default: return error.description.isEmpty ? "an error without words" : nil
    }
  }

  private static func problem(_ line: Int, _ column: Int, _ detail: String, _ input: [UInt8]) -> String? {
    if detail.isEmpty { return "an error without words" }
    let lines = input.split(separator: 10, omittingEmptySubsequences: false)
    guard lines.indices.contains(line - 1), (1...lines[line - 1].count + 1).contains(column) else {
      return "an error at line \(line), column \(column), which is not there"
    }
    return nil
  }
}
