// What the programs of `.ci/generated` call. A module of its own, because a program has classes that are called like
// types.
import Cambium
import CambiumSwiftData
import Foundation

/// Tries the classes and the model of a version.
public final class Check {
  /// The context of the objects.
  public let context: ManagedObjectContext

  /// Compares a model with that of its file, tries its classes, and prints version and checksums.
  public static func run(
    _ version: String, _ path: String, _ make: () throws -> ManagedObjectModel, _ body: (Check) throws -> Void
  ) throws {
    let model = try make()
    let file = try ManagedObjectModel(contentsOf: URL(fileURLWithPath: path))
    let back = try written(model)
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

  /// Prints the version and the checksums of model classes: of their model, and of what is written of it for Xcode.
  public static func show(_ version: String, _ types: [any PersistentModel.Type]) throws {
    _ = try ModelContainer(for: Schema(types), configurations: [ModelConfiguration(isStoredInMemoryOnly: true)])
    guard let model = ManagedObjectModel.makeManagedObjectModel(for: types) else {
      return print(version, "makes no schema")
    }
    print(version, try model.versionChecksum, try written(model).versionChecksum, separator: "\t")
  }

  /// Writes a model for Xcode, and reads it again.
  private static func written(_ model: ManagedObjectModel) throws -> ManagedObjectModel {
    let folder = URL(fileURLWithPath: CommandLine.arguments[1]).appendingPathComponent("back.xcdatamodel")
    for note in try model.writeXcodeModel(to: folder) { print("note", note) }
    return try ManagedObjectModel(contentsOf: folder)
  }

  private init(_ model: ManagedObjectModel) throws {
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
  public func take<T: ManagedObject, V: Equatable>(
    _ object: T, _ property: ReferenceWritableKeyPath<T, V>, _ value: V
  ) {
    object[keyPath: property] = value
    if object[keyPath: property] != value { print("\(property) gives \(object[keyPath: property]), not \(value)") }
  }

  /// Sets a property to what it is.
  public func keep<T: ManagedObject, V>(_ object: T, _ property: ReferenceWritableKeyPath<T, V>) {
    object[keyPath: property] = object[keyPath: property]
  }
}

/// Values to set properties to.
public enum Samples {
  /// A moment.
  public static let date = Date(timeIntervalSinceReferenceDate: 7)
  /// Bytes.
  public static let data = Data([1, 2])
  /// A UUID.
  public static let uuid = UUID()
  /// A URI.
  public static let url = URL(string: "https://example.org/")
  /// A decimal number.
  public static let decimal = Decimal(5)
}
