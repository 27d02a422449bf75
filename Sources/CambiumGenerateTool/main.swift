// The tool of the plug-in `CambiumGeneratePlugin`: writes the code of a model into one file.
//
//     CambiumGenerateTool MODEL FILE --swiftdata|--managed-objects|--builder... [--public]
import Foundation

do {
  for line in try GenerateTool(Array(CommandLine.arguments.dropFirst())).run() { print(line) }
} catch {
  for line in error.lines { print(line) }
  exit(1)
}
