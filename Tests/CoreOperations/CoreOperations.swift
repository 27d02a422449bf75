import Cambium
import CambiumKernel
import CambiumSystem
import Foundation

/// Runs one core operation so many times, for `.ci/instructions`, which counts the instructions inside ``counted(_:)``.
///
///     CoreOperations list
///     CoreOperations get 2000
@main
struct CoreOperations {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.first == "list" {
      for operation in operations { print(operation.name, operation.count) }
      return
    }
    guard let name = arguments.first, let operation = (operations + comparisons).first(where: { $0.name == name })
    else {
      throw StoreError.misuse("the first argument is `list` or the name of an operation")
    }
    let count = arguments.dropFirst().first.flatMap { Int($0) } ?? operation.count
    try operation.run(count)
  }

  /// The operations, each with how often it is done.
  static let operations: [(name: String, count: Int, run: @Sendable (Int) throws -> Void)] = [
    ("get", 20_000, KernelOperations.get),
    ("scan", 20, KernelOperations.scan),
    ("commit", 2_000, KernelOperations.commit),
    ("bulk-load", 20_000, KernelOperations.bulkLoad),
    ("checkpoint", 10, KernelOperations.checkpoint),
    ("open", 20, KernelOperations.open),
    ("unique-lookup", 1_000, ObjectOperations.uniqueLookup),
    ("range", 40, ObjectOperations.range),
    ("fetch", 20, ObjectOperations.fetch),
    ("properties", 20, ObjectOperations.properties),
    ("save-with-relationship", 200, ObjectOperations.save),
    ("group", 20, ObjectOperations.group),
    ("insert", 2_000, ObjectOperations.insert),
    ("insert-related", 2_000, ObjectOperations.insertRelated),
    ("read", 2_000, ObjectOperations.read),
    ("walk", 2_000, ObjectOperations.walk),
    ("follow", 2_000, ObjectOperations.follow),
    ("follow-prefetched", 2_000, ObjectOperations.followPrefetched),
    ("follow-to-many", 2_000, ObjectOperations.followToMany),
    ("change", 2_000, ObjectOperations.change),
    ("delete", 2_000, ObjectOperations.delete),
    ("append-to-list", 20, ObjectOperations.appendToList),
  ]

  /// What is not watched: the same work by managed objects and by models, 2,000 times. `Benchmarks/RESULTS.md` has the
  /// ratios, and says how they are counted.
  static let comparisons: [(name: String, count: Int, run: @Sendable (Int) throws -> Void)] = [
    ("object-insert", 2_000, FaceOperations<ObjectFace>.insert),
    ("object-relate", 2_000, FaceOperations<ObjectFace>.relate),
    ("object-fetch", 2_000, FaceOperations<ObjectFace>.fetch),
    ("object-walk", 2_000, FaceOperations<ObjectFace>.walk),
    ("object-read", 2_000, FaceOperations<ObjectFace>.read),
    ("object-read-one", 2_000, FaceOperations<ObjectFace>.readOne),
    ("object-to-one", 2_000, FaceOperations<ObjectFace>.toOne),
    ("object-to-many", 2_000, FaceOperations<ObjectFace>.toMany),
    ("object-change", 2_000, FaceOperations<ObjectFace>.change),
    ("model-insert", 2_000, FaceOperations<ModelFace>.insert),
    ("model-relate", 2_000, FaceOperations<ModelFace>.relate),
    ("model-fetch", 2_000, FaceOperations<ModelFace>.fetch),
    ("model-walk", 2_000, FaceOperations<ModelFace>.walk),
    ("model-read", 2_000, FaceOperations<ModelFace>.read),
    ("model-read-one", 2_000, FaceOperations<ModelFace>.readOne),
    ("model-to-one", 2_000, FaceOperations<ModelFace>.toOne),
    ("model-to-many", 2_000, FaceOperations<ModelFace>.toMany),
    ("model-change", 2_000, FaceOperations<ModelFace>.change),
    ("model-read-one-unobserved", 2_000, FaceOperations<ModelFace>.readOneUnobserved),
  ]
}

/// Runs `body` where its instructions are counted: `.ci/instructions` tells the counting program the name of this
/// function.
@inline(never)
func counted(_ body: () throws -> Void) rethrows { try body() }
