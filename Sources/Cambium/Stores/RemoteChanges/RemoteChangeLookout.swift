// Commits of other processes wake nobody, so stores are looked at in intervals: by one task for the whole process,
// which there is only while somebody listens and a coordinator lives whose stores are to tell.

/// How far stores are known.
struct RemoteChangeMarks {
  private var sequences: [String: UInt64] = [:]

  /// Stores as they are now.
  init(of stores: [PersistentStore]) {
    for store in stores { sequences[store.identifier] = try? store.view().sequence }
  }

  /// Takes over how far other stores are known.
  mutating func formUnion(_ newer: RemoteChangeMarks) { sequences.merge(newer.sequences) { $1 } }

  /// What stores have since this was asked last; of one that was not known, or could not be read, since it was
  /// opened.
  mutating func changes(of stores: [PersistentStore]) -> [PersistentStoreRemoteChange] {
    var result: [PersistentStoreRemoteChange] = []
    for store in stores {
      // A store that is suspended tells nothing until it is resumed.
      guard let view = try? store.view() else { continue }
      let sequence = view.sequence
      defer { sequences[store.identifier] = sequence }
      guard let before = sequences[store.identifier] ?? store.openingSequence, before < sequence else { continue }
      let bounds = try? view.historyBounds()
      let token = bounds.flatMap { bounds in
        bounds.isOn || bounds.last > 0
          ? PersistentHistoryToken([store.identifier: Int64(clamping: bounds.last)]) : nil
      }
      result.append(
        PersistentStoreRemoteChange(storeIdentifier: store.identifier, storeURL: store.url, historyToken: token))
    }
    return result
  }
}

/// Looks for what is new in the stores that are to tell of it. Thread-safe.
final class RemoteChangeLookout: @unchecked Sendable {
  // `@unchecked`: touched with `lock` held only.

  /// A coordinator, held weakly, and how far its stores are known.
  private struct Followed {
    weak var coordinator: PersistentStoreCoordinator?
    var marks: RemoteChangeMarks
  }

  static let everywhere = RemoteChangeLookout()
  private static let interval = Duration.milliseconds(100)

  private let lock = StateLock()
  private var followed: [Followed] = []
  private var listeners = Set<Int>()
  private var task: Task<Void, Never>?
  /// Counts the tasks, so that one that ends does not take its successor for itself.
  private var taskNumber = 0

  /// Looks at a store as well that a coordinator has got, from what it has now on.
  func follow(_ store: PersistentStore, of coordinator: PersistentStoreCoordinator) {
    guard store.postsRemoteChanges else { return }
    let marks = RemoteChangeMarks(of: [store])
    var held: [PersistentStoreCoordinator] = []
    lock.locked {
      if let known = place(of: coordinator, &held) {
        followed[known].marks.formUnion(marks)
      } else {
        followed.append(Followed(coordinator: coordinator, marks: marks))
      }
      startIfWanted()
    }
    withExtendedLifetime(held) {}
  }

  /// Where a coordinator is among those that are followed. Called with the lock held.
  ///
  /// - Parameter held: Gets the coordinators that were looked at, to be let go of without the lock: any may have been
  ///   let go of by all others meanwhile, and ends with that.
  private func place(of coordinator: PersistentStoreCoordinator, _ held: inout [PersistentStoreCoordinator]) -> Int? {
    followed.firstIndex { one in
      guard let known = one.coordinator else { return false }
      held.append(known)
      return known === coordinator
    }
  }

  func listen(_ number: Int) {
    let living = lock.locked { followed.compactMap { $0.coordinator } }
    let marks = living.map { ($0, RemoteChangeMarks(of: $0.tellingStores)) }
    var held: [PersistentStoreCoordinator] = []
    lock.locked {
      listeners.insert(number)
      // What was saved before anybody listened is no news.
      guard task == nil else { return }
      for (coordinator, marks) in marks {
        if let place = place(of: coordinator, &held) { followed[place].marks = marks }
      }
      startIfWanted()
    }
    withExtendedLifetime((living, held)) {}
  }

  func stopListening(_ number: Int) {
    lock.locked {
      listeners.remove(number)
      guard listeners.isEmpty else { return }
      task?.cancel()
      task = nil
    }
  }

  /// Whether stores are looked at now; for tests.
  var isLooking: Bool { lock.locked { task != nil } }

  private func startIfWanted() {
    guard task == nil, !listeners.isEmpty, !followed.isEmpty else { return }
    taskNumber += 1
    let number = taskNumber
    task = Task.detached {
      while !Task.isCancelled, RemoteChangeLookout.everywhere.look(number) {
        try? await Task.sleep(for: RemoteChangeLookout.interval)
      }
    }
  }

  /// Looks once; false if there is nothing to look at any more.
  private func look(_ number: Int) -> Bool {
    // Whoever is let go of meanwhile goes with these, when no lock is held.
    var coordinators: [PersistentStoreCoordinator] = []
    var found: [(PersistentStoreCoordinator, PersistentStoreRemoteChange)] = []
    let goesOn = lock.locked {
      guard taskNumber == number, task != nil else { return false }
      followed.removeAll { one in
        guard let coordinator = one.coordinator else { return true }
        coordinators.append(coordinator)
        return coordinator.tellingStores.isEmpty
      }
      for place in followed.indices {
        guard let coordinator = followed[place].coordinator else { continue }
        coordinators.append(coordinator)
        let changes = followed[place].marks.changes(of: coordinator.tellingStores)
        for change in changes { found.append((coordinator, change)) }
      }
      if followed.isEmpty { task = nil }
      return task != nil
    }
    for (coordinator, change) in found {
      CoordinatorObservers.everywhere.tell(.remoteChange, of: coordinator) { $0.remoteChange = change }
    }
    withExtendedLifetime(coordinators) {}
    return goesOn
  }
}

extension PersistentStoreCoordinator {
  /// The stores that are to tell of what is saved.
  fileprivate var tellingStores: [PersistentStore] { persistentStores.filter { $0.postsRemoteChanges } }
}
