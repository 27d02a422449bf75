import CambiumEngine
import CambiumKernel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A derived attribute of a store's entities.
struct DerivedRule: Sendable {
  /// The entity that declares it.
  let entity: EntitySchema
  /// The attribute as stored.
  let attribute: AttributeSchema
  let property: PropertyInfo
  let derivation: Derivation
  /// What comes first in the path. A rule without it depends on its own object alone.
  let relationship: RelationshipInfo?
  /// The entity that the relationship leads to.
  let destination: UInt32?
  /// The attribute of a destination that the value depends on, besides on which objects are destinations; `nil` if it
  /// depends on none.
  let sourceKey: String?

  init?(_ property: PropertyInfo, _ info: EntityInfo) {
    guard case .attribute(let attribute, let rules) = property.kind, let text = rules.derivation,
      let derivation = Derivation(text)
    else { return nil }
    entity = info.schema
    self.attribute = attribute
    self.property = property
    self.derivation = derivation
    let names = derivation.path?.split(separator: ".", omittingEmptySubsequences: false).map { String($0) } ?? []
    relationship = names.first.flatMap { info.properties[$0]?.relationship }
    destination = relationship.flatMap { info.storeSchema?.entity(named: $0.schema.destination)?.id }
    sourceKey = relationship != nil && names.count > 1 ? names[1] : nil
  }

  /// The value that a row is to have by what the transaction sees. It may be one that the attribute cannot hold.
  func storedValue(of row: Row, _ t: EntityTransaction) throws(EngineError) -> Value {
    switch derivation {
    case .now: return .date(Date().timeIntervalSinceReferenceDate)
    case .keyPath(let path): return try followed(path, row, t)
    case .text(let form, let path):
      guard case .string(let text) = try followed(path, row, t) else { return .null }
      return .string(Derivation.apply(form, to: text))
    case .count:
      guard let relationship else { return .null }
      return .integer(Int64(try t.relatedCount(row.reference, relationship.schema)))
    case .sum(_, let path):
      guard let relationship else { return .null }
      var values: [Value] = []
      for other in try t.related(row.reference, relationship.schema) {
        if let value = try t.row(other)?.value(keyPath: path) { values.append(value) }
      }
      return sum(values)
    }
  }

  /// The value at the end of a path of attributes, which may begin with a to-one relationship.
  private func followed(_ path: String, _ row: Row, _ t: EntityTransaction) throws(EngineError) -> Value {
    guard let relationship else { return try row.value(keyPath: path) }
    guard let dot = path.firstIndex(of: "."), let reference = try row.reference(relationship.schema),
      let other = try t.row(reference)
    else { return .null }
    return try other.value(keyPath: String(path[path.index(after: dot)...]))
  }

  /// The sum of what destinations have, in the attribute's type.
  private func sum(_ values: [Value]) -> Value {
    let isWhole = attribute.type.integerRange != nil
    var whole: Int64 = 0
    var decimal = Decimal()
    var double = 0.0
    for value in values {
      switch attribute.type {
      case .decimal: decimal += Decimal(attributeValue: value) ?? 0
      case _ where isWhole:
        let (sum, overflow) = whole.addingReportingOverflow(value.exactInteger ?? 0)
        guard !overflow else { return .double(.infinity) }
        whole = sum
      default: double += value.nearestDouble ?? 0
      }
    }
    if attribute.type == .decimal { return decimal.attributeValue }
    return isWhole ? .integer(whole) : .double(double)
  }
}
