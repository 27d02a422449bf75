import Cambium
import CambiumEngine
import Foundation

extension SwiftDataError {
  /// The error about a store that has another schema than the container, and that no plan migrates. Nil if the error is
  /// about something else.
  ///
  /// - Parameters:
  ///   - error: The error of the object graph, whose message is in its own terms.
  ///   - version: The version of the container's schema.
  init?(_ error: CambiumError, openingStoreAt url: URL, version: Schema.Version) {
    let codes: [CambiumError.Code] = [
      .migrationMissingSourceModel, .migrationMissingMappingModel, .persistentStoreIncompatibleVersionHash,
    ]
    guard codes.contains(error.code) else { return nil }
    let store = "the store '\(url.lastPathComponent)'"
    let stored = Self.version(ofStoreAt: url)
    let drops = error.underlyingErrors.compactMap { ($0 as? ModelDrop)?.name }.joined(separator: ", ")
    let strays = error.underlyingErrors.compactMap { $0 as? StrayIdentifier }
    let text: String
    if let stored, stored > version {
      text =
        "\(store) has the version \(stored), and this application's schema the version \(version)"
        + (drops.isEmpty ? "" : ", which lacks \(drops)") + ". Update the application"
    } else if !strays.isEmpty {
      let names = strays.map { stray in
        let place = stray.entity + (stray.property.map { "." + $0 } ?? "")
        return "'\(stray.identifier)' of \(place), while \(stray.drops.joined(separator: ", ")) would be dropped"
      }
      text = "\(store) has nothing that an originalName names: \(names.joined(separator: "; ")). Correct or remove it"
    } else if !drops.isEmpty {
      let next = min(max(stored?.major ?? 0, version.major), Int.max - 1) + 1
      let isFormer = error.code == .persistentStoreIncompatibleVersionHash
      text =
        "the container's schema lacks a part of what \(store) has: \(drops). "
        + (isFormer
          ? "Another version of the application added it. Update this one, or, if it is the newer one and drops that part on "
            + "purpose"
          : "Name every class of the store in ModelContainer(for:). If a property or class has another name now, give it the "
            + "former one as originalName. To drop that part on purpose")
        + ", give the schema a version above the store's\(stored.map { ", \($0)" } ?? ""): Schema([…], version: "
        + "Schema.Version(\(next), 0, 0))"
    } else {
      return nil
    }
    self.init(.loadIssueModelContainer, text, error)
  }

  /// The version that a store has noted down; nil if that is none of a schema.
  private static func version(ofStoreAt url: URL) -> Schema.Version? {
    guard let model = try? PersistentStoreCoordinator.cachedModelForPersistentStore(at: url),
      model.versionIdentifiers.count == 1, let text = model.versionIdentifiers.first
    else { return nil }
    let numbers = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
    guard numbers.count == 3, let major = numbers[0], let minor = numbers[1], let patch = numbers[2] else { return nil }
    return Schema.Version(major, minor, patch)
  }
}
