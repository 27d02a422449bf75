// A log of workouts: enumerations with values in them, structures in structures, and conditions on their fields.
// Expected output:
//   run of 10.5 km, 3 sets of 12, rest
//   in Oslo: ["Monday"]
//   high above sea: ["Tuesday"]
//   without place: ["Wednesday"]
//   pulse over 150: ["Monday", "Tuesday"]
//   by city: ["Tuesday", "Monday"]
//   changed in place: Bergen, 59.9
//   read again: Bergen, 59.9, mood tired
//   of mood: ["Tuesday"], nobody is angry: 0
//   weights: [70.5, 71.0] best nil
//   goals: weekly 3, never
//   an enumeration in a condition is refused: true
import CambiumSwiftData
import Foundation

enum Exercise: Codable, Equatable {
  case rest
  case run(kilometers: Double)
  case lift(sets: Int, repetitions: Int)
}

extension Exercise: CustomStringConvertible {
  var description: String {
    switch self {
    case .rest: "rest"
    case .run(let kilometers): "run of \(kilometers) km"
    case .lift(let sets, let repetitions): "\(sets) sets of \(repetitions)"
    }
  }
}

enum Mood: String, Codable, CaseIterable { case fresh, tired, angry }

enum Goal: Codable, Hashable { case weekly(Int), never }

struct Place: Codable, Hashable {
  struct Position: Codable, Hashable {
    var latitude: Double
    var longitude: Double
    var altitude: Double?
  }
  var city: String
  var position: Position
}

struct HeartRate: Codable {
  var resting: Int = 60
  var maximum: Int = 0
}

@Model final class Workout {
  var day: String
  var exercise: Exercise
  var place: Place?
  var pulse: HeartRate = HeartRate()
  var mood: Mood
  var weights: [Double]
  var best: Exercise?
  var goal: Goal = Goal.never

  init(
    _ day: String, _ exercise: Exercise, in place: Place? = nil, pulse: Int = 0, mood: Mood = .fresh,
    weights: [Double] = []
  ) {
    self.day = day
    self.exercise = exercise
    self.place = place
    self.mood = mood
    self.weights = weights
    self.pulse.maximum = pulse
  }
}

@main struct Main {
  static func main() throws {
    let container = try ModelContainer(
      for: Workout.self, configurations: ModelConfiguration(for: Workout.self, isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let oslo = Place(city: "Oslo", position: .init(latitude: 59.9, longitude: 10.7))
    let hut = Place(city: "Finse", position: .init(latitude: 60.6, longitude: 7.5, altitude: 1222))
    let monday = Workout("Monday", .run(kilometers: 10.5), in: oslo, pulse: 170, weights: [70.5, 71])
    let tuesday = Workout("Tuesday", .lift(sets: 3, repetitions: 12), in: hut, pulse: 151, mood: .tired)
    let wednesday = Workout("Wednesday", .rest)
    tuesday.goal = .weekly(3)
    for workout in [monday, tuesday, wednesday] { context.insert(workout) }
    try context.save()

    let other = ModelContext(container)
    func days(_ predicate: Predicate<Workout>?, _ order: [SortDescriptor<Workout>] = [.init(\.day)]) throws -> [String]
    {
      try other.fetch(FetchDescriptor(predicate: predicate, sortBy: order)).map(\.day)
    }
    let all = try other.fetch(FetchDescriptor<Workout>(sortBy: [SortDescriptor(\.day)]))
    print(all.map { "\($0.exercise)" }.joined(separator: ", "))
    print("in Oslo:", try days(#Predicate { $0.place?.city == "Oslo" }))
    let sea = 1000.0
    print("high above sea:", try days(#Predicate { ($0.place?.position.altitude ?? 0) > sea }))
    print("without place:", try days(#Predicate { $0.place == nil }))
    print("pulse over 150:", try days(#Predicate { $0.pulse.maximum > 150 }))
    print("by city:", try days(#Predicate { $0.place != nil }, [SortDescriptor(\.place?.city)]))

    monday.place?.city = "Bergen"
    monday.mood = .tired
    print("changed in place: \(monday.place?.city ?? "-"), \(monday.place?.position.latitude ?? 0)")
    try context.save()
    let again = try ModelContext(container).fetch(
      FetchDescriptor<Workout>(predicate: #Predicate { $0.day == "Monday" }))
    print(
      "read again: \(again[0].place?.city ?? "-"), \(again[0].place?.position.latitude ?? 0), mood \(again[0].mood)")
    monday.mood = .fresh
    try context.save()
    let (tired, angry) = (Mood.tired, Mood.angry)
    let nobody = try other.fetchCount(FetchDescriptor<Workout>(predicate: #Predicate { $0.mood == angry }))
    print("of mood: \(try days(#Predicate { $0.mood == tired })), nobody is angry: \(nobody)")
    print("weights: \(again[0].weights) best \(again[0].best.map { "\($0)" } ?? "nil")")
    if case .weekly(let times) = all[1].goal, case .never = all[0].goal { print("goals: weekly \(times), never") }
    do {
      let rest = Exercise.rest
      _ = try days(#Predicate { $0.exercise == rest })
      print("an enumeration in a condition is refused: false")
    } catch SwiftDataError.unsupportedPredicate {
      print("an enumeration in a condition is refused: true")
    }
  }
}
