// Results that follow (iOS 27): by Observation, with sections, over changes of this context, of others, and of other processes.
// Expected output:
//   at first: ["a", "c"]
//   told of an insertion: ["a", "b", "c"]
//   not told of what does not match: 0
//   told of another context's save: ["a", "b", "c", "d"]
//   sections: ["fruit: a b", "tool: c d"] indexed fruit 0
//   after a change of section: ["fruit: a", "tool: b c d"]
//   history: 1
import CambiumSwiftData
import Foundation

@Model final class Thing {
  var name: String
  var kind: String
  var isHidden = false
  init(_ name: String, _ kind: String) {
    self.name = name
    self.kind = kind
  }
}

@main struct Main {
  @MainActor static func main() async throws {
    let container = try ModelContainer(for: Thing.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = container.mainContext
    context.insert(Thing("c", "tool"))
    let a = Thing("a", "fruit")
    context.insert(a)
    try context.save()

    let observer = try ResultsObserver<Thing, Never>(
      filterBy: #Predicate { !$0.isHidden }, sortBy: [SortDescriptor(\.name)], modelContext: context)
    print("at first:", observer.results.map(\.name))
    nonisolated(unsafe) var told = 0
    func watch() {
      withObservationTracking {
        _ = observer.results.count
      } onChange: {
        told += 1
      }
    }
    func settle() async throws { for _ in 0..<20 { await Task.yield(); try await Task.sleep(for: .milliseconds(5)) } }

    watch()
    let b = Thing("b", "fruit")
    context.insert(b)
    try context.save()
    try await settle()
    print("told of an insertion:", told == 1 ? observer.results.map(\.name) : [])
    told = 0
    watch()
    let hidden = Thing("h", "tool")
    hidden.isHidden = true
    context.insert(hidden)
    try context.save()
    try await settle()
    print("not told of what does not match:", told)
    let history = try HistoryObserver(observedModels: [Thing.self], modelContainer: container)
    let other = ModelContext(container)
    other.insert(Thing("d", "tool"))
    try other.save()
    try await settle()
    print("told of another context's save:", observer.results.map(\.name))

    let sectioned = try ResultsObserver<Thing, String>(
      filterBy: #Predicate { !$0.isHidden }, sortBy: [SortDescriptor(\.name)], sectionBy: \.kind, modelContext: context)
    func lines() -> [String] {
      (sectioned.sections ?? .init()).map { "\($0.title): \($0.map(\.name).joined(separator: " "))" }
    }
    print("sections: \(lines()) indexed fruit \(sectioned.sections?.index(ofSectionTitled: "fruit") ?? -1)")
    b.kind = "tool"
    try context.save()
    try await settle()
    print("after a change of section:", lines())
    print("history:", history.eventCounter)
  }
}
