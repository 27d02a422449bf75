import CambiumEngine

/// What becomes of every entity and property between two models. Core Data: `NSMappingModel`.
public struct MappingModel: Sendable {
  /// What becomes of the entities, by the engine's rules.
  public let mapping: SchemaMapping

  /// What becomes of each entity: those of the destination, then those that go.
  public var entityMappings: [CambiumEngine.EntityMapping] { mapping.entities }

  /// The mappings by name: `IEM_Transform_Aircraft` and the like, as Core Data names inferred ones.
  public var entityMappingsByName: [String: CambiumEngine.EntityMapping] {
    Dictionary(entityMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Infers the mapping of a lightweight migration. Core Data's `inferredMappingModel(forSourceModel:destinationModel:)`. It
  /// does no work on any store, and answers whether there would be any use in trying.
  ///
  /// - Throws: ``CambiumError/Code/migrationMissingMappingModel`` with an error for every change in the way underneath
  ///   (``CambiumError/Code/inferredMappingModel``: the entity, the property, why, and how to go about it in steps);
  ///   ``CambiumError/Code/invalidModel``. O(size of the models).
  public static func inferred(
    from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) throws -> MappingModel {
    let from = try source.schema()
    let to = try destination.schema()
    do throws(EngineError) { return MappingModel(mapping: try SchemaMapping.infer(from: from, to: to)) } catch {
      let error = CambiumError(error, during: .migration)
      throw error.underlyingErrors.first ?? error
    }
  }
}

extension CambiumEngine.EntityMapping {
  /// The mapping's name, as Core Data names inferred ones: `IEM_`, what happens, and the entity.
  public var name: String {
    let entity = destination ?? source ?? ""
    switch kind {
    case .custom: return "IEM_Custom_\(entity)"
    case .add: return "IEM_Add_\(entity)"
    case .remove: return "IEM_Remove_\(entity)"
    case .copy: return "IEM_Copy_\(entity)"
    case .transform: return "IEM_Transform_\(entity)"
    }
  }
}
