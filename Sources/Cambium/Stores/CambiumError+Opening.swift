import CambiumKernel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension CambiumError {
  /// The error with what a person can do about a file that the system does not open. The system tells a number.
  func explained(opening description: PersistentStoreDescription) -> CambiumError {
    guard code == .persistentStoreOpen, let url = description.url else { return self }
    return explained(url, isReadOnly: description.isReadOnly)
  }

  /// The same of a file that is to be opened, or to be made.
  func explained(_ url: URL, isReadOnly: Bool) -> CambiumError {
    guard
      underlyingErrors.contains(where: { if case .device(.open, _, _)? = $0 as? StoreError { true } else { false } })
    else { return self }
    var result = self
    var isFolder = false
    let isThere = FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
    let folder = url.deletingLastPathComponent().path
    if isFolder {
      result.message = "'\(url.path)' is a folder; name a file in it"
    } else if isThere {
      result.message = "'\(url.path)' cannot be opened; may this process read and write it? (\(message))"
    } else if !FileManager.default.fileExists(atPath: folder) {
      result.message = "'\(url.path)' cannot be made, since the folder '\(folder)' does not exist; make it first"
    } else if isReadOnly {
      result.message = "there is no store '\(url.path)', and one that is opened for reading only is not made"
    } else {
      result.message = "'\(url.path)' cannot be made; may this process write into its folder? (\(message))"
    }
    return result
  }
}
