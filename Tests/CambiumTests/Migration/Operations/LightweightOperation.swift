import Cambium
import Testing

/// One kind of change that a mapping is inferred across: two models, objects of the first, and what they are in the
/// second.
struct LightweightOperation: Sendable, CustomTestStringConvertible {
  /// How many times over each operation has its objects: enough that one of a kind is not all there is.
  static let count = 12

  var testDescription: String
  private var from: @Sendable () -> [ModelBuilderPart]
  private var to: @Sendable () -> [ModelBuilderPart]
  private var make: @Sendable (ManagedObjectContext, Int) throws -> Void
  private var expected: @Sendable (Int) -> [String]

  /// `make` and `expects` are called for each number below ``count``; what is expected is in lines of
  /// ``ObjectListing``.
  init(
    _ name: String,
    @ModelBuilder from: @escaping @Sendable () -> [ModelBuilderPart],
    @ModelBuilder to: @escaping @Sendable () -> [ModelBuilderPart],
    make: @escaping @Sendable (ManagedObjectContext, Int) throws -> Void,
    expects expected: @escaping @Sendable (Int) -> [String]
  ) {
    testDescription = name
    self.from = from
    self.to = to
    self.make = make
    self.expected = expected
  }

  func source(indexed: Bool = false) throws -> ManagedObjectModel {
    Self.indexing(try ManagedObjectModel(from), indexed)
  }

  func destination(indexed: Bool = false) throws -> ManagedObjectModel {
    Self.indexing(try ManagedObjectModel(to), indexed)
  }

  /// Gives a model an index of every attribute and element, if it is to have them.
  private static func indexing(_ model: ManagedObjectModel, _ indexed: Bool) -> ManagedObjectModel {
    guard indexed else { return model }
    for entity in model.entities {
      var paths: [String] = []
      for case let attribute as AttributeDescription in entity.properties {
        if let composite = attribute as? CompositeAttributeDescription {
          paths += composite.elements.map { "\(composite.name).\($0.name)" }
        } else {
          paths.append(attribute.name)
        }
      }
      entity.indexes = paths.map { path in
        FetchIndexDescription(
          name: "by" + path,
          elements: [FetchIndexElementDescription(keyPath: path, ascending: true, collationType: .binary)])
      }
    }
    return model
  }

  func fill(_ context: ManagedObjectContext) throws {
    for n in 0..<Self.count { try make(context, n) }
    try context.save()
  }

  /// All lines that there are afterwards.
  var lines: [String] { (0..<Self.count).flatMap { expected($0) }.sorted() }

  static var all: [LightweightOperation] { attributes + relationships + entities + hierarchies + composites }
}
