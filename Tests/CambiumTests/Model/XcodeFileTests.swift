import Cambium
import Foundation
import Testing

/// Models that are written for Xcode, and elements by a dictionary, which generated structures use.
@Suite struct XcodeFileTests {
  @Test func writes() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).xcdatamodel")
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = try ManagedObjectModel(version: 3) {
      Entity("Trip", renamed: "Journey") {
        Attribute("name", .string, optional: false, default: "a & b", maximum: 80).validated("SELF != 'x'")
        Attribute("start") { Attribute("latitude", .double, default: 1.5) }
        ToMany("legs", "Leg", inverse: "trip", ordered: true, deleteRule: .cascade, minimum: 1)
        Index("byName", "-name")
        Unique("name")
      }
      Entity("Leg") { ToOne("trip", "Trip", inverse: "legs", optional: false) }
    }
    let notes = try model.writeXcodeModel(to: folder)
    #expect(notes.count == 1 && notes.first?.hasPrefix("Trip.name: the validation predicate") == true)
    let copy = try ManagedObjectModel(contentsOf: folder)
    #expect(try copy.versionChecksum == model.versionChecksum)
    #expect(copy.versionIdentifiers == ["3"])
    let trip = try #require(copy.entitiesByName["Trip"])
    #expect(trip.renamingIdentifier == "Journey")
    #expect(trip.attributesByName["name"]?.defaultValue as? String == "a & b")
    #expect(trip.relationshipsByName["legs"]?.deleteRule == .cascade)
    // Once more into the same folder.
    try model.writeXcodeModel(to: folder)
  }

  @Test func whatCannotBeWritten() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString)/none.xcdatamodel")
    let model = try ManagedObjectModel { Entity("E") { Attribute("a", .string, default: "\u{2}") } }
    #expect(throws: CambiumError.self) { try model.writeXcodeModel(to: folder) }
    let sound = try ManagedObjectModel { Entity("E") { Attribute("a", .string) } }
    #expect(throws: CambiumError.self) { try sound.writeXcodeModel(to: folder) }
    // A folder of versions would become one version.
    let versions = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).xcdatamodeld")
    defer { try? FileManager.default.removeItem(at: versions) }
    #expect(throws: CambiumError.self) { try sound.writeXcodeModel(to: versions) }
    #expect(!FileManager.default.fileExists(atPath: versions.path))
    try FileManager.default.createDirectory(at: versions, withIntermediateDirectories: true)
    try sound.writeXcodeModel(to: versions.appendingPathComponent("M.xcdatamodel"))
    #expect(try ManagedObjectModel(contentsOf: versions).versionChecksum == sound.versionChecksum)
    let web = try #require(URL(string: "https://example.org/M.xcdatamodel"))
    #expect(throws: CambiumError.self) { try sound.writeXcodeModel(to: web) }
  }

  @Test func elementsOfADictionary() throws {
    let elements = try #require(CompositeElements(["a": 7, "b": ["c": "d"], "e": Optional<Int>.none as Any]))
    let number: Int16? = elements["a"]
    #expect(number == 7)
    #expect(elements.dictionary.keys.sorted() == ["a", "b"])
    #expect(CompositeElements(["a": Int.self]) == nil)
  }
}
