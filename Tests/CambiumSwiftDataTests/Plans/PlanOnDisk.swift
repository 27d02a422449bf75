import CambiumEngine
import CambiumKernel
import CambiumSystem
import CambiumTesting
import Foundation

@testable import Cambium
@testable import CambiumSwiftData

/// Migrates a store on a simulated disk by the plan of a chain, with the object graph's own machinery.
///
/// - Returns: How many operations the disk had before the migration.
func migrateOnDisk(_ disk: SimulatedDisk, _ chain: RandomChain, _ url: URL) throws -> Int {
  let shared = SharedStore(
    try EntityStore.open(try Store.open(on: disk, environment: SystemEnvironment(), options: StoreOptions())))
  let begin = disk.operationCount
  try AnyPlan.with(chain.versions, chain.stages {}) {
    let plan = try CheckedPlan(AnyPlan.self)
    let description = PersistentStoreDescription(url: url)
    try plan.apply(to: description, ModelConfiguration(url: url), entities: nil)
    let model = try plan.makeModel(of: plan.last.schema)
    try model.takeIntoUse()
    _ = try StoreMigration(description, model, try model.definition()).prepare(shared)
  }
  return begin
}

/// Runs a block, and tells of each write to the copies in which it migrates stores, before the write is made.
func watchingCopies(_ onWrite: @escaping @Sendable () -> Void, during body: () throws -> Void) throws {
  try StoreMigration.$copyDevice.withValue({ RecordingDevice($0) { _ in onWrite() } }, operation: body)
}

/// Has a file for itself alone, as a process that replaces it.
func holdAlone(_ url: URL) throws -> FileDevice {
  try FileDevice(path: url.path, access: .readWrite, sharing: .exclusive)
}

extension CambiumSwiftData.Schema {
  /// The checksum of the model of the object graph.
  func checksumOfModel() throws -> String { try compiled.get().versionChecksum }
}
