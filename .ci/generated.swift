// What the programs of `.ci/generated` begin with.
import Cambium
import Foundation

/// Tries the classes and the model of a version.
final class Check {
  let context: ManagedObjectContext
  private let model: ManagedObjectModel

  /// Compares a model with that of its file, tries its classes, and prints version and checksums.
  static func run(
    _ version: String, _ path: String, _ make: () throws -> ManagedObjectModel, _ body: (Check) throws -> Void
  ) throws {
    let model = try make()
    let file = try ManagedObjectModel(contentsOf: URL(fileURLWithPath: path))
    let folder = URL(fileURLWithPath: CommandLine.arguments[1]).appendingPathComponent("back.xcdatamodel")
    for note in try model.writeXcodeModel(to: folder) { print("note", note) }
    let back = try ManagedObjectModel(contentsOf: folder)
    for (mine, other) in zip(try text(model), try text(file)) where mine != other {
      print("\(version): the code makes \(mine), and the file \(other)")
    }
    for (mine, other) in zip(try text(back), try text(model)) where mine != other {
      print("\(version): the file that was written has \(mine), and the code \(other)")
    }
    if file.entities.isEmpty { print("\(version): no entities") }
    let check = try Check(model)
    try body(check)
    for error in check.context.recordedErrors { print("\(version): \(error)") }
    print(version, try model.versionChecksum, try back.versionChecksum, separator: "\t")
  }

  private init(_ model: ManagedObjectModel) throws {
    self.model = model
    let container = PersistentContainer(name: "check", managedObjectModel: model)
    let description = PersistentStoreDescription(type: .inMemory)
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    context = container.viewContext
  }

  /// The model line by line, without classes: the code names them, and the file may not.
  private static func text(_ model: ManagedObjectModel) throws -> [String] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(model), as: UTF8.self).split(separator: "\n")
      .map { String($0) }.filter { !$0.contains("\"className\"") }
  }

  /// Sets a property, and reads it back.
  func take<T: ManagedObject, V: Equatable>(_ object: T, _ property: ReferenceWritableKeyPath<T, V>, _ value: V) {
    object[keyPath: property] = value
    if object[keyPath: property] != value { print("\(property) gives \(object[keyPath: property]), not \(value)") }
  }

  /// Sets a property to what it is.
  func keep<T: ManagedObject, V>(_ object: T, _ property: ReferenceWritableKeyPath<T, V>) {
    object[keyPath: property] = object[keyPath: property]
  }
}
