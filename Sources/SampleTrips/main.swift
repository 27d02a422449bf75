// SampleTrips: an application on its way from Core Data to SwiftData. See Story.
import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.count > 1 || arguments.first?.hasPrefix("-") ?? false {
  print(
    """
    usage: SampleTrips [STORE]

    Tells how an application moves from Core Data to SwiftData, on a store that it makes. Without STORE, the store is a temporary
    file, which is deleted at the end. A file that exists is not touched.
    """)
  exit(arguments == ["--help"] || arguments == ["-h"] ? 0 : 2)
}
let store =
  arguments.first.map { URL(fileURLWithPath: $0) }
  ?? FileManager.default.temporaryDirectory.appendingPathComponent("SampleTrips-\(UUID().uuidString).store")
if FileManager.default.fileExists(atPath: store.path) {
  print("SampleTrips: \(store.path) exists; name a file that does not")
  exit(2)
}
do {
  try await Story(store: store, say: { print($0) }).tell()
} catch {
  print("SampleTrips: \(error)")
  exit(1)
}
if arguments.isEmpty { try? FileManager.default.removeItem(at: store) }
