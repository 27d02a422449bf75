import CambiumEngine
import CambiumKernel
import CambiumSystem

/// Why a command did not do what it was asked for.
enum ToolError: Error {
  /// The command line is wrong.
  case usage(String)
  /// The file cannot be opened or used, and that does not mean damage.
  case failed(String)
  /// The file is not what was written, or no store at all.
  case damaged(String)

  /// What to end with.
  var status: ExitStatus {
    switch self {
    case .usage: return .usage
    case .failed: return .failed
    case .damaged: return .damaged
    }
  }

  /// What to say.
  var text: String {
    switch self {
    case .usage(let text), .failed(let text), .damaged(let text): return text
    }
  }

  /// The kind, for programs that read the output.
  var name: String {
    switch self {
    case .usage: return "usage"
    case .failed: return "failed"
    case .damaged: return "damaged"
    }
  }

  init(_ error: StoreError, path: String) {
    switch error {
    case .corrupt: self = .damaged("\(path): \(error.description)")
    case .notAStore: self = .damaged("\(path): not a Cambium store, or damaged at its very beginning")
    case .device(.open, _, let code): self = .failed("\(path): cannot be opened: \(systemErrorText(code))")
    case .device(let operation, let offset, let code):
      self = .failed("\(path): \(operation) failed at byte \(offset): \(systemErrorText(code))")
    case .busy: self = .failed("\(path): in use by another process; close it there first")
    default: self = .failed("\(path): \(error.description)")
    }
  }

  init(_ error: EngineError, path: String) {
    switch error {
    case .store(let error): self.init(error, path: path)
    case .corrupt, .schema: self = .damaged("\(path): \(error.description)")
    case .predicate(let error): self = .usage(error.description)
    default: self = .failed("\(path): \(error.description)")
    }
  }
}
