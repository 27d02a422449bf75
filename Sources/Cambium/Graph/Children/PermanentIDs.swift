/// The permanent identifiers of objects that somebody may know by their temporary ones.
///
/// Who has a temporary identifier cannot be known. So that those of a context that lives long do not fill the memory,
/// the oldest are forgotten: each is known while ``limit`` others come.
struct PermanentIDs {
  private var recent: [ManagedObjectID: ManagedObjectID] = [:]
  private var older: [ManagedObjectID: ManagedObjectID] = [:]
  /// How many come before the ones before them are forgotten.
  var limit = 1 << 16

  /// How many are known.
  var count: Int { recent.count + older.count }

  subscript(id: ManagedObjectID) -> ManagedObjectID? { recent[id] ?? older[id] }

  mutating func merge(_ identifiers: [ManagedObjectID: ManagedObjectID]) {
    if recent.count >= limit {
      older = recent
      recent = [:]
    }
    recent.merge(identifiers) { $1 }
  }
}
