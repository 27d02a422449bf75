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
  static func entity(for objectClass: AnyClass) -> EntityDescription? {
    let models = state.lock.locked { state.models.compactMap { $0.model } }
    return models.reversed().lazy.compactMap { $0.entity(for: objectClass) }.first
  }
}

extension ManagedObjectModel {
  /// The entity that a class stands for: the one that has it, that names it with its module or without, that is called
  /// like it, or, if there is one alone, that names it with some module.
  func entity(for objectClass: AnyClass) -> EntityDescription? {
    let all = entities
    let (name, whole) = ("\(objectClass)", String(reflecting: objectClass))
    if let found = all.first(where: { $0.objectClass == objectClass })
      ?? all.first(where: { $0.explicitClassName == whole }) ?? all.first(where: { $0.explicitClassName == name })
      ?? all.first(where: { $0.name == name })
    {
      return found
    }
    let endings = all.filter { $0.explicitClassName?.hasSuffix("." + name) ?? false }
    return endings.count == 1 ? endings[0] : nil
  }
}
