import Cambium
import Foundation
import Testing

private final class NamedPlane: ManagedObject, PredicateKeyPaths {
  @Managed var tailNumber: String

  static var predicateKeyPaths: [AnyKeyPath: String] { [\NamedPlane.tailNumber: "tailNumber"] }
}

/// An empty array can be cast to an array of any other type: it is a list all the same, and no bytes.
@Suite struct EmptyListTests {
  private func filled() throws -> ManagedObjectContext {
    let context = try memoryContainer().viewContext
    try context.make("Aircraft", ["tailNumber": "N1"])
    try context.save()
    return context
  }

  private static let lists: [any Sendable] = [
    [String](), [Int](), [Data](), [UUID](), [Date](), [ManagedObjectID](), [PaintColor](),
  ]

  @Test func nothingIsInNoList() throws {
    let context = try filled()
    let lists = Self.lists.map { $0 as Any } + [[Any](), [ManagedObject](), [Aircraft](), Set<String>()]
    for list in lists {
      #expect(try context.all("Aircraft", "tailNumber IN %@", [list]).isEmpty)
      #expect(try context.all("Aircraft", "NOT tailNumber IN %@", [list]).count == 1)
      let open = try FetchPredicate(format: "tailNumber IN $list")
      let request = FetchRequest<ManagedObject>(entityName: "Aircraft")
      request.predicate = try open.withSubstitutionVariables(["list": list])
      #expect(try context.fetch(request).isEmpty)
      #expect(try FetchExpression(forConstantValue: list).description == "{}")
    }
    #expect(
      try FetchPredicate(format: "tailNumber IN %@", argumentArray: [[String]()]).description == "tailNumber IN {}")
  }

  @Test func nothingIsInNoListOfAFoundationPredicate() throws {
    let context = try filled()
    let none = [String]()
    let request = FetchRequest<NamedPlane>(entityName: "Aircraft")
    request.predicate = try FetchPredicate(#Predicate<NamedPlane> { none.contains($0.tailNumber) })
    #expect(try context.count(for: request) == 0)
  }

  @Test func noListIsBytes() throws {
    let context = try filled()
    let aircraft = try context.make("Aircraft", [:])
    for list in Self.lists {
      #expect(cambiumError { try aircraft.set(list, forKey: "photo") }?.code == .invalidArgument)
    }
    #expect(aircraft.value(forKey: "photo") == nil)
    try aircraft.set([UInt8](), forKey: "photo")
    #expect(aircraft.value(forKey: "photo") as? Data == Data())
    try aircraft.set([1, 2] as [UInt8], forKey: "photo")
    #expect(aircraft.value(forKey: "photo") as? Data == Data([1, 2]))
  }
}
