import Cambium

/// Something that a pilot or dispatcher wants to know.
struct Question: Sendable {
  /// The question.
  let title: String
  /// Finds the answer, as lines to print.
  let answer: @Sendable (ManagedObjectContext) throws -> [String]

  /// All questions, in the order in which they are asked.
  static let all: [Question] = punctuality + aircraft + places + summaries
}

extension ManagedObjectContext {
  /// The objects that match, in order; all of them if `limit` is 0.
  func find<Object: ManagedObject>(
    _ entity: String, _ predicate: FetchPredicate? = nil, by sort: [FetchSortDescriptor] = [], limit: Int = 0
  ) throws -> [Object] {
    let request = FetchRequest<Object>(entityName: entity)
    request.predicate = predicate
    request.sortDescriptors = sort
    request.fetchLimit = limit
    return try fetch(request)
  }

  /// How many objects match.
  func count(_ entity: String, _ format: String, _ arguments: Any?...) throws -> Int {
    let request = FetchRequest<ManagedObject>(entityName: entity)
    request.predicate = try FetchPredicate(format: format, argumentArray: arguments)
    return try count(for: request)
  }
}

extension LogEntry {
  /// The flight on one line.
  var line: String {
    let from = origin?.faaIdentifier ?? "?"
    let to = destination?.faaIdentifier ?? "?"
    let flight = column("\(airline?.code ?? "?") \(flightNumber)", 7)
    let tail = column(aircraft?.tailNumber ?? "(none)", 6)
    return "\(dayText(date))  \(flight)  \(tail)  \(from)-\(to)  departed \(padded(clock(departure?.actual), 5)) "
      + "(\(signed(departure?.delay))), arrived \(padded(clock(arrival?.actual), 5)) (\(signed(arrival?.delay)))"
  }
}

/// A share as `12.3 %`.
func percent(_ part: Int, of whole: Int) -> String {
  whole == 0 ? "0 %" : "\(fixed(Double(part) * 100 / Double(whole), 1)) %"
}
