import CambiumEngine
import Testing

/// Numbers of versions, and the rule by which they decide.
@Suite struct ModelVersionNumberTests {
  @Test func numbers() {
    for text in ["0", "3", "2.98", "2.98.0", "18446744073709551615"] {
      #expect(ModelVersionNumber(text) != nil, "\(text)")
    }
    for text in ["", ".", "2.", ".2", "2..1", "-1", "+1", "v2", "2a", " 2", "1e3", "18446744073709551616"] {
      #expect(ModelVersionNumber(text) == nil, "\(text)")
    }
    let ordered = ["0", "1", "1.5", "2", "2.9", "2.98", "2.99", "2.100", "10"].compactMap { ModelVersionNumber($0) }
    for (place, number) in ordered.enumerated() {
      for (other, second) in ordered.enumerated() { #expect((number < second) == (place < other)) }
    }
    #expect(ModelVersionNumber("2") == ModelVersionNumber("2.0") && ModelVersionNumber("2.0")?.description == "2")
    #expect(ModelVersionNumber(among: ["first", "2.0", "2"])?.description == "2")
    #expect(ModelVersionNumber(among: ["2", "3"]) == nil && ModelVersionNumber(among: []) == nil)
  }

  /// Every combination of what the rule looks at, against the rule written a second time.
  @Test func theRule() throws {
    func model(_ attributes: [String], _ number: String?, removed: [String] = []) throws -> Schema {
      var entity = EntitySchema("Trip", attributes: attributes.map { AttributeSchema($0, .string) })
      entity.removedProperties = removed
      var definition = SchemaDefinition([entity])
      definition.versionIdentifiers = number.map { [$0] } ?? []
      return try Schema(definition)
    }
    for bits in 0..<32 {
      let (isKnown, isNamed, isAllowed) = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0)
      let (isFormer, mayReturn) = (bits & 8 != 0, bits & 16 != 0)
      for (own, stored) in [(nil, nil), ("2", nil), (nil, "2"), ("2", "2"), ("3", "2"), ("2", "3")]
        as [(String?, String?)]
      {
        let source = try model(["title", "notes"], stored)
        let destination = try model(["title"], own, removed: isNamed ? ["notes"] : [])
        var rule = DropRule()
        rule.knownModels = isKnown ? [source.versionChecksum] : [destination.versionChecksum]
        rule.allowsDroppingUnknownData = isAllowed
        rule.isFormerModel = isFormer
        rule.allowsReturningToFormerModels = mayReturn
        let (isHigher, isLower) = (own == "3", stored == "3")
        let isMade =
          isAllowed || isHigher || (isFormer ? mayReturn : isNamed || isKnown && !isLower)
        let refusal = rule.refusal(of: ModelStep(from: source, to: destination), from: source, to: destination)
        #expect((refusal == nil) == isMade, "\(bits) \(own ?? "-") \(stored ?? "-")")
        #expect(rule.refusal(of: ModelStep(from: destination, to: source), from: destination, to: source) == nil)
      }
    }
  }
}
