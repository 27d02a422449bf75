import Foundation

extension ResultsObserver where SectionTitle == Never {
  /// Observes the models that a descriptor describes.
  ///
  /// - Parameter isolation: The actor of the caller, which the compiler provides.
  /// - Throws: as `ModelContext.fetch`.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), modelContext: ModelContext,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(fetchDescriptor, nil, modelContext, isolation) { _, _, _ in nil }
  }

  /// Observes the models for which a condition holds.
  ///
  /// - Throws: as `ModelContext.fetch`.
  public convenience init(
    filterBy: Foundation.Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
    modelContext: ModelContext,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), nil, modelContext, isolation) { _, _, _ in
      nil
    }
  }

  /// Observes the models that a descriptor describes, in a new context of a container.
  ///
  /// - Throws: as `ModelContext.fetch`.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), modelContainer: ModelContainer,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(fetchDescriptor, nil, ModelContext(modelContainer), isolation) { _, _, _ in nil }
  }

  /// Observes the models for which a condition holds, in a new context of a container.
  ///
  /// - Throws: as `ModelContext.fetch`.
  public convenience init(
    filterBy: Foundation.Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
    modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
  ) throws {
    let descriptor = FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? [])
    try self.init(descriptor, nil, ModelContext(modelContainer), isolation) { _, _, _ in nil }
  }
}

extension ResultsObserver where SectionTitle == String {
  /// Observes the models that a descriptor describes, in sections.
  ///
  /// - Parameter sectionBy: A stored property whose values are the titles. The results are ordered by it first.
  /// - Throws: as `ModelContext.fetch`; ``SwiftDataError/unsupportedKeyPath`` for sections by a property that is not
  ///   stored.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), sectionBy: KeyPath<Element, String>,
    modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(fetchDescriptor, sectionBy, modelContext, isolation) { _, _, name in name }
  }

  /// Observes the models for which a condition holds, in sections.
  ///
  /// - Throws: as `ModelContext.fetch`; ``SwiftDataError/unsupportedKeyPath`` for sections by a property that is not
  ///   stored.
  public convenience init(
    filterBy: Foundation.Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
    sectionBy: KeyPath<Element, String>, modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
  ) throws {
    let descriptor = FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? [])
    try self.init(descriptor, sectionBy, modelContext, isolation) { _, _, name in name }
  }

  /// Observes the models for which a condition holds, in sections, in a new context of a container.
  ///
  /// - Throws: as `ModelContext.fetch`; ``SwiftDataError/unsupportedKeyPath`` for sections by a property that is not
  ///   stored.
  public convenience init(
    filterBy: Foundation.Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
    sectionBy: KeyPath<Element, String>, modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
  ) throws {
    let descriptor = FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? [])
    try self.init(descriptor, sectionBy, ModelContext(modelContainer), isolation) { _, _, name in name }
  }
}

extension ResultsObserver where SectionTitle == String? {
  /// Observes the models that a descriptor describes, in sections by a property that may be `nil`. Models with `nil`
  /// and with an empty text share a section, whose title is the value of its first model.
  ///
  /// - Parameter sectionBy: A stored property whose values are the titles. The results are ordered by it first.
  /// - Throws: as `ModelContext.fetch`; ``SwiftDataError/unsupportedKeyPath`` for sections by a property that is not
  ///   stored.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor(), sectionBy: KeyPath<Element, String?>,
    modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(fetchDescriptor, sectionBy, modelContext, isolation, Self.title)
  }

  /// Observes the models for which a condition holds, in sections by a property that may be `nil`.
  ///
  /// - Throws: as `ModelContext.fetch`; ``SwiftDataError/unsupportedKeyPath`` for sections by a property that is not
  ///   stored.
  public convenience init(
    filterBy: Foundation.Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
    sectionBy: KeyPath<Element, String?>, modelContext: ModelContext, isolation: isolated (any Actor)? = #isolation
  ) throws {
    let descriptor = FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? [])
    try self.init(descriptor, sectionBy, modelContext, isolation, Self.title)
  }

  /// Returns the title of a section. An empty text may stand for `nil`, which the model tells.
  private static func title(_ model: Element?, _ path: PartialKeyPath<Element>, _ name: String) -> String?? {
    guard name.isEmpty, let model, let value = model[keyPath: path] as? any OptionalType else { return .some(name) }
    return .some(value.wrappedValue == nil ? nil : name)
  }
}
