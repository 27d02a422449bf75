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

  /// A request made of a stored one, with values for all its variables (`["NAME": "Ada"]` for `$NAME`; `nil` and values
  /// that are not mentioned are allowed). `nil` if the model has no template of the name.
  ///
  /// - Throws: ``CambiumError/Code/invalidPredicate`` for a variable without a value (Core Data raises), or a value that no
  ///   attribute can have.
  public func fetchRequestFromTemplate<R: FetchRequestResult>(
    withName name: String, substitutionVariables: [String: Any?], as type: R.Type = ManagedObject.self
  ) throws -> FetchRequest<R>? {
    guard let template = storedTemplates[name] else { return nil }
    do { return try template.request(substituting: substitutionVariables, as: type) } catch var error as CambiumError {
      error.message = "fetch request template '\(name)': " + error.message
      throw error
    }
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
