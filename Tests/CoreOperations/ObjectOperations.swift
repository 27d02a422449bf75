import Cambium
import Foundation

/// Operations on objects, on a store in memory.
enum ObjectOperations {
  private struct WrongAnswer: Error {}

  private static let aircraft = 2_000

  private static func require(_ holds: Bool) throws { if !holds { throw WrongAnswer() } }

  private static func filled() throws -> PersistentContainer {
    let container = PersistentContainer(name: "Operations", managedObjectModel: try flightModel())
    container.persistentStoreDescriptions = [PersistentStoreDescription(type: .inMemory)]
    try container.loadPersistentStores()
    try work(container) { context in
      for i in 0..<aircraft {
        let one = Aircraft(context: context)
        one.tailNumber = tail(i)
        one.maker = ["Cessna", "Piper", "Robin"][i % 3]
        one.year = Int32(1950 + i % 70)
        one.hours = Double(i)
        for j in 0..<2 {
          let flight = Flight(context: context)
          flight.number = Int32(i * 2 + j)
          flight.distance = Int32(100 + i % 900)
          flight.aircraft = one
        }
      }
      try context.save()
    }
    return container
  }

  private static func tail(_ i: Int) -> String { "N\(10_000 + i * 7_919 % aircraft)" }

  private static func work(_ container: PersistentContainer, _ body: (ManagedObjectContext) throws -> Void) throws {
    let context = container.newBackgroundContext()
    try context.performAndWait { try body(context) }
  }

  static func uniqueLookup(_ count: Int) throws {
    let container = try filled()
    try counted {
      try work(container) { context in
        for i in 0..<count {
          let request = FetchRequest<Aircraft>(entityName: "Aircraft")
          request.predicate = try FetchPredicate(format: "tailNumber == %@", tail(i))
          try require(try context.fetch(request).count == 1)
        }
      }
    }
  }

  static func range(_ count: Int) throws {
    let container = try filled()
    try counted {
      try work(container) { context in
        for i in 0..<count {
          let request = FetchRequest<Flight>(entityName: "Flight")
          request.predicate = try FetchPredicate(format: "number >= %d AND number < %d", i * 50, i * 50 + 200)
          request.sortDescriptors = [FetchSortDescriptor(key: "number", ascending: true)]
          try require(try context.fetch(request).count == 200)
        }
      }
    }
  }

  static func fetch(_ count: Int) throws {
    let container = try filled()
    try counted {
      for _ in 0..<count {
        try work(container) { context in
          try require(try context.fetch(FetchRequest<Aircraft>(entityName: "Aircraft")).count == aircraft)
        }
      }
    }
  }

  static func properties(_ count: Int) throws {
    let container = try filled()
    try work(container) { context in
      let all = try context.fetch(FetchRequest<Aircraft>(entityName: "Aircraft"))
      // The first access brings the values.
      for one in all { one.hours += 1 }
      try counted {
        var letters = 0
        for i in 0..<count {
          for one in all {
            letters += one.tailNumber.utf8.count
            one.hours = Double(one.year) + Double(i)
          }
        }
        try require(letters == count * aircraft * 6)
      }
    }
  }

  static func save(_ count: Int) throws {
    let container = try filled()
    try work(container) { context in
      let request = FetchRequest<Aircraft>(entityName: "Aircraft")
      request.fetchLimit = 20
      let some = try context.fetch(request)
      try counted {
        for i in 0..<count {
          let flight = Flight(context: context)
          flight.number = Int32(100_000 + i)
          flight.distance = 250
          flight.aircraft = some[i % some.count]
          try context.save()
        }
      }
    }
  }

  static func group(_ count: Int) throws {
    let container = try filled()
    try counted {
      for _ in 0..<count {
        try work(container) { context in
          let request = FetchRequest<[String: Any]>(entityName: "Aircraft")
          request.propertiesToGroupBy = ["maker"]
          request.propertiesToFetch = [
            "maker", .expression("hours", .sum(FetchExpression(forKeyPath: "hours"))),
            .expression("mean", try FetchExpression(format: "average(year)")),
          ]
          try require(try context.fetch(request).count == 3)
        }
      }
    }
  }
}
