import Foundation
import Testing

@testable import Cambium

/// Objects that are used outside of their context's queue, as the log tells of them.
@Suite struct QueueCheckTests {
  private final class Buoy: ManagedObject {
    @Managed var name: String?
    @Managed var depth: Double
    @Managed var line: Line?
  }

  private final class Line: ManagedObject {
    @Managed var name: String?
    @Managed var buoys: Set<Buoy>
  }

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Buoy", class: Buoy.self) {
        Attribute("name", .string)
        Attribute("depth", .double, default: 0.0)
        ToOne("line", "Line", inverse: "buoys")
      }
      Entity("Line", class: Line.self) {
        Attribute("name", .string)
        ToMany("buoys", "Buoy", inverse: "line")
      }
    }
  }

  /// What is said of entities of the tests here: other tests run meanwhile.
  private static func lines(
    _ context: ManagedObjectContext, _ body: () throws -> Void
  ) rethrows -> [String] {
    let name = "check \(UUID().uuidString)"
    context.name = name
    return try LoggedLines.collect(.concurrency) { told in
      try body()
      return told.all.compactMap { line in
        line.contains(name) ? line.replacingOccurrences(of: " of the context '\(name)'", with: "") : nil
      }
    }
  }

  private static func line(_ key: String, of entity: String = "Buoy") -> String {
    "'\(key)' of '\(entity)' was used outside of the queue: use it in a block of perform(_:) or performAndWait(_:)"
  }

  @Test func propertiesOutsideOfBlocksAreToldOfOnce() throws {
    let directory = try TemporaryDirectory()
    let context = try directory.container(model: Self.model()).newBackgroundContext()
    let lines = try Self.lines(context) {
      let buoy = try context.performAndWait {
        let buoy = Buoy(context: context)
        let line = Line(context: context)
        (buoy.name, buoy.depth, buoy.line, line.name) = ("B", 3, line, "L")
        try context.save()
        context.refresh(buoy, mergeChanges: false)
        return buoy
      }
      for _ in 0..<3 { #expect(buoy.name == "B") }
      buoy.depth = 4
      #expect(buoy.line != nil)
      buoy.line = nil
      #expect(buoy.value(forKey: "depth") as? Double == 4)
      _ = try buoy.get("name")
      context.performAndWait { #expect(buoy.depth == 4) }
    }
    #expect(lines == [Self.line("name"), Self.line("depth"), Self.line("line")])
  }

  @Test func methodsOfContextsMayBeCalledAnywhere() throws {
    let directory = try TemporaryDirectory()
    let context = try directory.container(model: Self.model()).newBackgroundContext()
    let lines = try Self.lines(context) {
      let buoy = try #require(try context.insertNewObject(forEntityName: "Buoy") as? Buoy)
      try context.save()
      #expect(try context.all("Buoy", "depth == 0").count == 1)
      context.delete(buoy)
      try context.save()
      // Nor is anything said of what asks for no property.
      #expect(buoy.isDeleted || buoy.managedObjectContext == nil)
      _ = (buoy.objectID, buoy.hasChanges, buoy.isFault)
    }
    #expect(lines.isEmpty)
  }

  @Test func nothingIsSaidUnlessItIsTurnedOn() throws {
    let directory = try TemporaryDirectory()
    let context = try directory.container(model: Self.model()).newBackgroundContext()
    let name = "silent \(UUID().uuidString)"
    context.name = name
    let said = LoggedLines.collect(.concurrency, isOn: false) { told in
      let line = Line(context: context)
      line.name = "L"
      return told.all
    }
    #expect(!said.contains { $0.contains(name) })
  }

  /// Objects of the main queue belong to the main thread, and to blocks.
  @Test func theMainQueueIsTheMainThread() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: Self.model())
    let context = container.viewContext
    let lines = Self.lines(context) {
      let thread = Thread {
        let line = Line(context: context)
        line.name = "L"
        context.performAndWait { line.name = "M" }
      }
      thread.start()
      while !thread.isFinished { Thread.sleep(forTimeInterval: 0.001) }
    }
    #expect(
      lines == [
        "'name' of 'Line' was used outside of the queue: use it on the main thread, or in a block of perform(_:)"
      ])
    withExtendedLifetime(container) {}
  }

  @Test func theSwitchIsRead() {
    #expect(
      DebugLog.levels(["program", "-com.cambium.ConcurrencyDebug", "1"], [:]) == [.concurrency: 1, .stalledBlocks: 1])
    #expect(DebugLog.levels([], ["CAMBIUM_CONCURRENCY_DEBUG": "1"]) == [.concurrency: 1, .stalledBlocks: 1])
  }
}
