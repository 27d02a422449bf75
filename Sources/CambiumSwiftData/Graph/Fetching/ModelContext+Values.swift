import Cambium
import Foundation

// What SwiftData has no calls for. The store answers these, as it is saved: unsaved changes have no effect.
extension ModelContext {
  /// The values of one property of the models that a descriptor describes. Makes no models.
  ///
  ///     let carriers = try context.values(of: \.carrier, FetchDescriptor<Flight>(), distinct: true)
  ///
  /// - Parameters:
  ///   - keyPath: A property, a field of a structure, or a property of the destination of a to-one relationship.
  ///   - distinct: Whether equal values are given once. They come in any order if the descriptor has neither an order
  ///     nor an offset nor a limit.
  /// - Throws: as ``fetch(_:)-(FetchDescriptor<T>)``; ``SwiftDataError/unsupportedKeyPath``.
  public func values<T: PersistentModel, V>(
    of keyPath: KeyPath<T, V>, _ descriptor: FetchDescriptor<T>, distinct: Bool = false
  ) throws -> [V] {
    let path = try ModelClass.of(T.self).storedPath(of: keyPath)
    let request: FetchRequest<[String: Any]> = try request(descriptor)
    request.propertiesToFetch = [.keyPath(path)]
    request.returnsDistinctResults = distinct
    return try mappingErrors { try managedObjectContext.fetch(request) }.map {
      try FetchedValue.read($0[path], as: V.self)
    }
  }

  /// What the store computes of the models that a descriptor describes.
  ///
  /// - Throws: as ``fetch(_:)-(FetchDescriptor<T>)``; ``SwiftDataError/unsupportedKeyPath``.
  public func aggregate<T: PersistentModel, V>(
    _ aggregate: Aggregate<T, V>, of descriptor: FetchDescriptor<T>
  ) throws -> V {
    let request: FetchRequest<[String: Any]> = try request(unordered(descriptor))
    request.propertiesToFetch = [.expression("value", try mappingErrors { try aggregate.expression(stores) })]
    let found = try mappingErrors { try managedObjectContext.fetch(request) }
    return try aggregate.read(found.first?["value"])
  }

  /// What the store computes of each group of the models that a descriptor describes. A group has one value of a
  /// property. Groups come in the order of these values.
  ///
  /// - Throws: as ``fetch(_:)-(FetchDescriptor<T>)``; ``SwiftDataError/unsupportedKeyPath``.
  public func aggregate<T: PersistentModel, K, each V>(
    _ aggregates: repeat Aggregate<T, each V>, by keyPath: KeyPath<T, K>, of descriptor: FetchDescriptor<T>
  ) throws -> [(key: K, values: (repeat each V))] {
    let modelClass = ModelClass.of(T.self)
    let path = try modelClass.storedPath(of: keyPath)
    let request: FetchRequest<[String: Any]> = try request(unordered(descriptor))
    var properties: [FetchProperty] = [.keyPath(path)]
    for aggregate in repeat each aggregates {
      properties.append(
        .expression("value\(properties.count)", try mappingErrors { try aggregate.expression(stores) }))
    }
    request.propertiesToFetch = properties
    request.propertiesToGroupBy = [path]
    request.sortDescriptors = [FetchSortDescriptor(key: path)]
    return try mappingErrors { try managedObjectContext.fetch(request) }.map { row in
      var place = 0
      func next<A>(_ aggregate: Aggregate<T, A>) throws -> A {
        place += 1
        return try aggregate.read(row["value\(place)"])
      }
      return (try FetchedValue.read(row[path], as: K.self), (repeat try next(each aggregates)))
    }
  }

  private func unordered<T>(_ descriptor: FetchDescriptor<T>) -> FetchDescriptor<T> {
    var result = descriptor
    result.sortBy = []
    return result
  }

  /// How the store would answer a descriptor, for people to read: which indexes it uses, and about how many models
  /// there are to look at. The text may change from version to version.
  ///
  /// - Throws: as ``fetch(_:)-(FetchDescriptor<T>)``.
  public func explain<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> String {
    let request: FetchRequest<ModelRow> = try request(descriptor)
    return try mappingErrors { try managedObjectContext.explain(request) }
  }
}
