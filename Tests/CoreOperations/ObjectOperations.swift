import Cambium
import Foundation

/// Operations on objects, on a store in memory.
enum ObjectOperations {
  private struct WrongAnswer: Error {}

  private static let aircraft = 2_000

  private static func require(_ holds: Bool) throws { if !holds { throw WrongAnswer() } }

  private static func empty() throws -> PersistentContainer {
    let container = PersistentContainer(name: "Operations", managedObjectModel: try flightModel())
    container.persistentStoreDescriptions = [PersistentStoreDescription(type: .inMemory)]
    try container.loadPersistentStores()
    return container
  }

  private static func filled(_ aircraft: Int = aircraft) throws -> PersistentContainer {
    let container = try empty()
    try work(container) { context in
      for i in 0..<aircraft {
        let one = Aircraft(context: context)
        one.tailNumber = tail(i, of: aircraft)
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

  private static func tail(_ i: Int, of aircraft: Int = aircraft) -> String { "N\(10_000 + i * 7_919 % aircraft)" }

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

  // MARK: Many objects at once

  static func insert(_ count: Int) throws {
    let container = try empty()
    try counted {
      try work(container) { context in
        for i in 0..<count {
          let one = Aircraft(context: context)
          one.tailNumber = tail(i, of: count)
          one.maker = "Robin"
          one.year = Int32(1950 + i % 70)
          one.hours = Double(i)
        }
        try context.save()
      }
    }
  }

  static func insertRelated(_ count: Int) throws {
    let container = try filled(count)
    try work(container) { context in
      let all = try context.fetch(FetchRequest<Aircraft>(entityName: "Aircraft")).map { $0.objectID }
      try counted {
        try work(container) { context in
          for (i, id) in all.enumerated() {
            let flight = Flight(context: context)
            flight.number = Int32(i)
            flight.distance = 250
            flight.aircraft = context.object(with: id) as? Aircraft
          }
          try context.save()
        }
      }
    }
  }

  static func read(_ count: Int) throws {
    let container = try filled(count)
    try counted {
      try work(container) { context in
        var sum = 0
        for one in try context.fetch(FetchRequest<Aircraft>(entityName: "Aircraft")) {
          sum += one.tailNumber.utf8.count + Int(one.year) + (one.maker == nil ? 0 : 1) + (one.hours < 0 ? 1 : 0)
        }
        try require(sum > 0)
      }
    }
  }

  static func walk(_ count: Int) throws {
    let container = try filled(count)
    try counted {
      try work(container) { context in
        var found = 0
        try context.enumerate(FetchRequest<Aircraft>(entityName: "Aircraft")) { _ in found += 1 }
        try require(found == count)
      }
    }
  }

  static func follow(_ count: Int) throws { try follow(count, prefetched: false) }

  static func followPrefetched(_ count: Int) throws { try follow(count, prefetched: true) }

  private static func follow(_ count: Int, prefetched: Bool) throws {
    let container = try filled(count)
    try counted {
      try work(container) { context in
        let request = FetchRequest<Flight>(entityName: "Flight")
        if prefetched { request.relationshipKeyPathsForPrefetching = ["aircraft"] }
        var years = 0
        for flight in try context.fetch(request) { years += Int(flight.aircraft?.year ?? 0) }
        try require(years > 0)
      }
    }
  }

  static func followToMany(_ count: Int) throws {
    let container = try filled(count)
    try counted {
      try work(container) { context in
        var distance = 0
        for one in try context.fetch(FetchRequest<Aircraft>(entityName: "Aircraft")) {
          for flight in one.flights { distance += Int(flight.distance) }
        }
        try require(distance > 0)
      }
    }
  }

  static func change(_ count: Int) throws {
    let container = try filled(count)
    try counted {
      try work(container) { context in
        for one in try context.fetch(FetchRequest<Aircraft>(entityName: "Aircraft")) { one.hours = -1 }
        try context.save()
      }
    }
  }

  /// Appends to a list of 10,000, with a save for each.
  static func appendToList(_ count: Int) throws {
    let container = try empty()
    try work(container) { context in
      let route = Route(context: context)
      var legs: [Leg] = []
      for number in 0..<10_000 {
        let leg = Leg(context: context)
        leg.number = Int32(number)
        legs.append(leg)
      }
      route.legs = legs
      try context.save()
    }
    try work(container) { context in
      let route = try context.fetch(FetchRequest<Route>(entityName: "Route"))[0]
      try require(route.legs.count == 10_000)
      try counted {
        for number in 0..<count {
          let leg = Leg(context: context)
          leg.number = Int32(10_000 + number)
          route.legs.append(leg)
          try context.save()
        }
      }
      try require(route.legs.count == 10_000 + count && route.legs.last?.number == Int32(9_999 + count))
    }
  }

  static func delete(_ count: Int) throws {
    let container = try filled(count)
    try counted {
      try work(container) { context in
        for one in try context.fetch(FetchRequest<Aircraft>(entityName: "Aircraft")) { context.delete(one) }
        try context.save()
      }
    }
  }
}
