import CSQLite
import Foundation

/// What has to be known about the machine to make sense of the figures.
struct RunEnvironment: Codable {
  var date: String
  var processor: String
  var cores: Int
  var memoryGiB: Int
  var system: String
  var sqlite: String

  static func now() -> RunEnvironment {
    let info = ProcessInfo.processInfo
    let cpu = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let model = cpu.split(separator: "\n").first { $0.hasPrefix("model name") }
    let release = (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)) ?? ""
    return RunEnvironment(
      date: ISO8601DateFormatter().string(from: Date()),
      processor: model.flatMap { $0.split(separator: ":").last }?.trimmingCharacters(in: .whitespaces) ?? "unknown",
      cores: info.activeProcessorCount, memoryGiB: Int(info.physicalMemory >> 30),
      system: "Linux " + release.trimmingCharacters(in: .whitespacesAndNewlines),
      sqlite: String(cString: sqlite3_libversion()))
  }
}
