import CambiumKernel
import Foundation
import Testing

@testable import Cambium

/// A store whose file somebody deletes while contexts use it.
@Suite struct StoreFileLossTests {
  @Test func aSaveIntoADeletedFileThrows() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    let url = try #require(container.persistentStoreCoordinator.persistentStores.first?.url)
    let context = container.newBackgroundContext()
    try context.make("Pilot", ["name": "Ada"])
    try context.save()
    try FileManager.default.removeItem(at: url)
    let pilot = try context.make("Pilot", ["name": "Bea"])
    for _ in 0..<2 {
      let error = try #require(throws: CambiumError.self) { try context.save() }
      #expect(error.code == .persistentStoreSave)
      #expect(error.description.contains("deleted while it was open"))
      let cause = error.underlyingErrors.first { $0 is StoreError }
      #expect(cause as? StoreError == .fileLost(.deleted))
    }
    // Contexts keep their changes, and read on, so that all of it can be saved elsewhere.
    #expect(context.hasChanges && pilot.value(forKey: "name") as? String == "Bea")
    let other = container.newBackgroundContext()
    let names = try other.all("Pilot").map { $0.value(forKey: "name") as? String }
    #expect(names == ["Ada"])
  }
}
