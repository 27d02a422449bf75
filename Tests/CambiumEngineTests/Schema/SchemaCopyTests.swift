import Testing

@testable import CambiumEngine

/// Attributes and entities share what they have with their copies, until one of them changes.
@Suite struct SchemaCopyTests {
  @Test func attributesDoNotChangeWithTheirCopies() {
    var first = AttributeSchema("hours", .double, default: 1.5)
    first.userInfo = [UserInfoEntry(key: "a", value: "1")]
    var second = first
    #expect(first == second)
    second.userInfo.append(UserInfoEntry(key: "b", value: "2"))
    second.minimum = 0
    second.renamingIdentifier = "flown"
    #expect(first != second)
    #expect(first.userInfo.count == 1 && first.minimum.isNull && first.renamingIdentifier == nil)
    #expect(second.userInfo.count == 2 && second.minimum == 0 && second.defaultValue == 1.5)
    #expect(first.canonicalName == "hours" && second.canonicalName == "flown")
    second.userInfo.removeLast()
    second.minimum = nil
    second.renamingIdentifier = nil
    #expect(first == second)
  }

  @Test func attributesAreTheSameWhateverTheyHadBefore() {
    let plain = AttributeSchema("hours", .double)
    var changed = plain
    changed.regularExpression = "x"
    changed.derivation = "y"
    changed.valueTransformerName = "z"
    changed.versionHashModifier = "m"
    changed.compositeName = "c"
    changed.maximum = 5
    changed.userInfo.append(UserInfoEntry(key: "a", value: "1"))
    #expect(changed != plain && !changed.isPlain)
    changed.regularExpression = nil
    changed.derivation = nil
    changed.valueTransformerName = nil
    changed.versionHashModifier = nil
    changed.compositeName = nil
    changed.maximum = nil
    changed.userInfo = []
    #expect(changed == plain && plain.isPlain)
  }

  @Test func entitiesDoNotChangeWithTheirCopies() {
    let first = EntitySchema("Aircraft", attributes: [AttributeSchema("hours", .double)], unique: [["hours"]])
    var second = first
    #expect(first == second)
    second.attributes[0].isOptional = false
    second.name = "Plane"
    #expect(first != second && first.name == "Aircraft" && first.attributes[0].isOptional)
    second.attributes[0].isOptional = true
    second.name = "Aircraft"
    #expect(first == second)
  }
}
