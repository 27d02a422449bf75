extension ManagedObjectModel {
  /// The stored fetch requests by name.
  public var fetchRequestTemplatesByName: [String: FetchRequestTemplate] { storedTemplates }

  /// The stored fetch request of a name.
  @_disfavoredOverload public func fetchRequestTemplate(forName name: String) -> FetchRequestTemplate? {
    storedTemplates[name]
  }

  /// Stores a fetch request under a name; `nil` removes it.
  public func setFetchRequestTemplate(_ template: FetchRequestTemplate?, forName name: String) {
    guard mayChange("fetch request template '\(name)'") else { return }
    storedTemplates[name] = template
  }

  // MARK: Configurations

  /// What the application attached to a configuration.
  public func userInfo(forConfigurationName name: String) -> [String: String] { configurationUserInfo[name] ?? [:] }

  /// Attaches something to a configuration.
  public func setUserInfo(_ userInfo: [String: String], forConfigurationName name: String) {
    guard mayChange("user info of configuration '\(name)'") else { return }
    configurationUserInfo[name] = userInfo
  }
}
