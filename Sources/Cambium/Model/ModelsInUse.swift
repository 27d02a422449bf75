/// The models that stores were opened with, as long as somebody has them: what a class is asked for its entity by.
///
/// Thread-safe.
enum ModelsInUse {
  private struct WeakModel { weak var model: ManagedObjectModel? }

  private final class State: @unchecked Sendable {
    // `@unchecked`: touched with `lock` held only.
    let lock = StateLock()
    var models: [WeakModel] = []
  }

  private static let state = State()

  static func add(_ model: ManagedObjectModel) {
    state.lock.locked {
      state.models.removeAll { $0.model == nil }
      state.models.append(WeakModel(model: model))
    }
  }

  /// The entity of a class, in the model that came into use last of those that have one.
  static func entity(for objectClass: ManagedObject.Type) -> EntityDescription? {
    let models = state.lock.locked { state.models.compactMap { $0.model } }
    return models.reversed().lazy.compactMap { $0.entity(for: objectClass) }.first
  }
}

extension ManagedObjectModel {
  /// The entity that a class stands for: the one that has it, that names it, with or without its module, or that is called like it.
  func entity(for objectClass: ManagedObject.Type) -> EntityDescription? {
    let all = entities
    let name = "\(objectClass)"
    func isNamed(_ entity: EntityDescription) -> Bool {
      guard let own = entity.explicitClassName else { return false }
      return own == name || own.last != "." && own.split(separator: ".").last.map { $0 == name } ?? false
    }
    return all.first { $0.managedObjectClass == objectClass } ?? all.first(where: isNamed)
      ?? all.first { $0.name == name }
  }
}

extension ManagedObject {
  /// The entity of this class, in the model that stores were opened with last of those that have one; without, an entity of the
  /// class's name that no store has. Core Data: `entity`.
  ///
  /// Where several models have the class, a context is better asked: ``EntityDescription/entity(forEntityName:in:)``.
  public class func entity() -> EntityDescription { ModelsInUse.entity(for: self) ?? EntityDescription("\(self)") }
}
