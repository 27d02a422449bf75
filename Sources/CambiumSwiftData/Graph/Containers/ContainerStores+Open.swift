extension ContainerStores {
  /// Throws if the container was closed.
  func requireOpen() throws {
    guard coordinator.persistentStores.isEmpty else { return }
    throw SwiftDataError(
      .loadIssueModelContainer, "the container was closed by close(); make a new ModelContainer, and use its contexts")
  }
}

extension ModelContext {
  /// Throws if the container was closed.
  func requireOpenStores() throws { try stores.requireOpen() }
}
