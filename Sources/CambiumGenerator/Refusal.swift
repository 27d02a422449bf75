/// Something in a model that the code in question cannot express.
public struct Refusal: Equatable, Sendable {
  /// The version of the model; empty for a model of one version.
  public var version = ""
  /// The entity or composite type; `nil` for the model.
  public var entity: String?
  /// The property, if it is about one.
  public var property: String?
  /// The reason, as a clause.
  public var reason: String
  /// The way out, as an instruction.
  public var remedy: String

  /// A finding in a model of one version.
  package init(_ entity: String?, _ property: String?, _ reason: String, _ remedy: String) {
    self.entity = entity
    self.property = property
    self.reason = reason
    self.remedy = remedy
  }

  /// The place: entity and property.
  public var place: String {
    let parts = [entity, property].compactMap { $0 }
    return parts.isEmpty ? "the model" : parts.joined(separator: ".")
  }
}

extension Refusal: CustomStringConvertible {
  /// One line for the developer.
  public var description: String {
    (version.isEmpty ? "" : "version \(version), ") + "\(place): \(reason); \(remedy)"
  }
}

/// All findings that keep code from being generated.
public struct Refusals: Error, Equatable, Sendable, CustomStringConvertible {
  /// The findings, in the order of the model.
  public let all: [Refusal]

  /// Findings of a caller.
  package init(all: [Refusal]) { self.all = all }

  /// One line for each finding.
  public var description: String { all.map { $0.description }.joined(separator: "\n") }
}
