import CambiumKernel
import CambiumSystem

/// `cambium compact`: gives unused room back to the file system.
func compactStore(path: String) throws(ToolError) -> Answer {
  let store = try OpenedStore(path: path, forWriting: true)
  let before = try store.statistics().fileBytes
  let showsProgress = standardErrorIsTerminal()
  do throws(StoreError) {
    try store.kernel.compact { progress in
      if showsProgress { StandardError.write(line: "  \(grouped(progress.fileBytes)) bytes") }
      return true
    }
  } catch { throw ToolError(error, path: path) }
  let after = try store.statistics().fileBytes
  try store.close()
  return Answer(
    text: "\(path): \(grouped(before)) bytes before, \(grouped(after)) after",
    json: .object([
      ("path", .string(path)), ("bytesBefore", .count(before)), ("bytesAfter", .count(after)),
    ]))
}
