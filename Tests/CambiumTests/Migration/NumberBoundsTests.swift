import CambiumEngine
import Foundation
import Testing

@testable import Cambium

/// Attributes that become numbers of another type, with numbers at the bounds: those that fit are converted, and each
/// of those that do not stands in the way.
@Suite struct NumberBoundsTests {
  struct Conversion: Sendable, CustomTestStringConvertible {
    var from: AttributeType
    var to: AttributeType
    /// Numbers, and what they become as text; nil for those that do not fit.
    var numbers: [(number: any Sendable, text: String?)]

    var testDescription: String { "\(from.name) to \(to.name)" }

    func model(_ type: AttributeType) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Aircraft") {
          Attribute("name", .string)
          Attribute("weight", type)
        }
      }
    }

    /// The lines of the objects whose numbers fit.
    var lines: [String] {
      numbers.enumerated().compactMap { n, entry in entry.text.map { "Aircraft A\(n) weight=\($0)" } }.sorted()
    }
  }

  static let conversions: [Conversion] = [
    Conversion(
      from: .double, to: .integer16,
      numbers: [
        (32_767.9, "32767"), (-32_768.9, "-32768"), (-0.5, "0"), (32_768.0, nil), (-32_769.0, nil), (Double.nan, nil),
        (Double.infinity, nil),
      ]),
    Conversion(
      from: .double, to: .integer64,
      numbers: [
        (9_223_372_036_854_774_784.0, "9223372036854774784"), (9_223_372_036_854_775_808.0, nil),
        (-9_223_372_036_854_775_808.0, "-9223372036854775808"), (-9_223_372_036_854_777_856.0, nil),
      ]),
    Conversion(
      from: .double, to: .float,
      numbers: [
        (3.4e38, "3.4e+38"), (1e39, nil), (-1e39, nil), (Double.infinity, "inf"), (1e-60, "0.0"), (0.5, "0.5"),
      ]),
    Conversion(
      from: .double, to: .decimal,
      numbers: [(0.1, "0.1"), (-2.5e20, "-250000000000000000000"), (1e200, nil), (Double.nan, "NaN")]),
    Conversion(
      from: .double, to: .boolean, numbers: [(0.0, "false"), (-0.0, "false"), (1e-300, "true"), (-1.0, "true")]),
    Conversion(
      from: .float, to: .integer32,
      numbers: [
        (Float(2_147_483_520), "2147483520"), (Float(2_147_483_648), nil), (Float(-2_147_483_648), "-2147483648"),
      ]),
    Conversion(
      from: .integer64, to: .integer32,
      numbers: [
        (2_147_483_647, "2147483647"), (2_147_483_648, nil), (-2_147_483_648, "-2147483648"), (-2_147_483_649, nil),
      ]),
    Conversion(
      from: .integer64, to: .decimal, numbers: [(Int.max, "9223372036854775807"), (Int.min, "-9223372036854775808")]),
    Conversion(from: .integer64, to: .boolean, numbers: [(0, "false"), (Int.min, "true"), (2, "true")]),
    Conversion(from: .boolean, to: .double, numbers: [(true, "1.0"), (false, "0.0")]),
  ]

  @Test(arguments: Self.conversions) func numbersAtTheBounds(_ conversion: Conversion) throws {
    let directory = try TemporaryDirectory()
    let source = try conversion.model(conversion.from)
    let context = try directory.container(model: source).viewContext
    for (n, entry) in conversion.numbers.enumerated() {
      try context.make("Aircraft", ["name": "A\(n)", "weight": entry.number])
    }
    try context.save()
    let before = try ObjectListing.lines(context, source)
    let misfits = conversion.numbers.filter { $0.text == nil }.count
    let file = directory.url.appendingPathComponent("flights.cambium")
    let blocks = try Migration.plan(storeAt: file, to: conversion.model(conversion.to)).blocks
    #expect(blocks.map { $0.count } == (misfits == 0 ? [] : [misfits]))
    #expect(blocks.allSatisfy { $0.reason == .overflow(conversion.to) && $0.property == "weight" })
    if misfits > 0 {
      let error = cambiumError { _ = try directory.container(model: conversion.model(conversion.to)) }
      #expect(error?.code.rawValue == 134110)
      #expect(error?.underlyingErrors.compactMap { $0 as? MigrationBlock } == blocks)
      let mending = try directory.container(model: source) { $0.shouldMigrateStoreAutomatically = false }.viewContext
      #expect(try ObjectListing.lines(mending, source) == before)
      for (n, entry) in conversion.numbers.enumerated() where entry.text == nil {
        for object in try mending.all("Aircraft", "name == %@", ["A\(n)"]) { mending.delete(object) }
      }
      try mending.save()
    }
    let destination = try conversion.model(conversion.to)
    let migrated = try directory.container(model: destination).viewContext
    #expect(try ObjectListing.lines(migrated, destination) == conversion.lines)
  }
}
