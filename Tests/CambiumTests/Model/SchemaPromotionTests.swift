import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// The development schema and the production schema of an application whose devices synchronise.
@Suite struct SchemaPromotionTests {
  private func model(note: Bool = false, unique: Bool = false, name: AttributeType = .string) throws
    -> ManagedObjectModel
  {
    let entity = EntityDescription("Trip")
    entity.properties =
      [AttributeDescription("name", name)] + (note ? [AttributeDescription("note", .string)] : [])
    if unique { entity.uniquenessConstraints = [["name"]] }
    return ManagedObjectModel(entities: [entity])
  }

  @Test func promotingAddsAndRefusesTheRest() throws {
    let directory = try TemporaryDirectory()
    let production = directory.url.appendingPathComponent("Production.xcdatamodel")
    let first = try SchemaPromotion(of: try model(), to: production)
    #expect(first.additions == ["Trip"] && first.isAllowed)
    #expect(!FileManager.default.fileExists(atPath: production.path))
    try first.promote()
    #expect(try ManagedObjectModel(contentsOf: production).versionChecksum == model().versionChecksum)

    let second = try SchemaPromotion(of: try model(note: true), to: production)
    #expect(second.additions == ["Trip.note"])
    try second.promote()

    // The former version would take the field back.
    let back = try SchemaPromotion(of: try model(), to: production)
    #expect(!back.isAllowed)
    #expect(back.obstacles.map { "\($0.rule) \($0.place)" } == ["not-additive Trip.note"])
    let error = cambiumError { try back.promote() }
    #expect(error?.code == .invalidModel)
    #expect(error?.message.contains("Trip.note: production has it") == true)
    #expect(try ManagedObjectModel(contentsOf: production).entitiesByName["Trip"]?.attributesByName["note"] != nil)

    let changed = try SchemaPromotion(of: try model(note: true, unique: true, name: .integer64), to: production)
    #expect(changed.obstacles.map { "\($0.rule) \($0.place)" } == ["not-additive Trip.name", "sync Trip"])
  }

  /// A model may be changed after it was compared.
  @Test func comparingDoesNotUseTheModel() throws {
    let directory = try TemporaryDirectory()
    let model = try model(unique: true)
    #expect(try !SchemaPromotion(of: model, to: directory.url.appendingPathComponent("P.xcdatamodel")).isAllowed)
    model.entitiesByName["Trip"]?.uniquenessConstraints = []
    #expect(try SchemaPromotion(of: model, to: directory.url.appendingPathComponent("P.xcdatamodel")).isAllowed)
  }

  @Test func findingsForSync() throws {
    #expect(try model(unique: true).findings().contains { $0.rule == "sync" } == false)
    let held = AttributeDescription("held", .undefined)
    held.isTransient = true
    let model = try model(unique: true)
    model.entitiesByName["Trip"]?.properties.append(held)
    let findings = try model.findings(for: .sync)
    #expect(findings.filter { $0.rule == "sync" }.map { $0.place } == ["Trip", "Trip.held"])
  }
}
