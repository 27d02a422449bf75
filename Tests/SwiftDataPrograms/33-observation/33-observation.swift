// A view model that is told of changes, whoever makes them.
// Expected output:
//   own change: title
//   unread property: nothing
//   the other side: children
//   computed: title
//   rollback: title
//   deletion: children
//   a new model: title
//   merge: title, now Done elsewhere
//   merge of a new child: children, now 2
//   by hand: note
//   told after the first change only: 1
import CambiumSwiftData
import Foundation
import Observation
import Synchronization

@Model final class Task {
  var title: String
  var isDone = false
  @Relationship(deleteRule: .cascade, inverse: \Subtask.task) var subtasks: [Subtask] = []
  @Transient var taps = 0
  @Transient private var hidden = ""

  init(title: String) { self.title = title }

  var heading: String { "[\(isDone ? "x" : " ")] \(title)" }

  /// A property of the application's own, which tells of itself.
  var note: String {
    get {
      access(keyPath: \.note)
      return hidden
    }
    set { withMutation(keyPath: \.note) { hidden = newValue } }
  }
}

@Model final class Subtask {
  var title: String
  var task: Task?
  init(title: String) { self.title = title }
}

/// Notes what was told.
final class Watcher: Sendable {
  private let told = Mutex<[String]>([])

  func watch(_ name: String, _ read: () -> Void) {
    withObservationTracking(read) { self.told.withLock { $0.append(name) } }
  }

  func take() -> String {
    told.withLock { names in
      defer { names = [] }
      return names.isEmpty ? "nothing" : names.joined(separator: " ")
    }
  }
}

@main struct Main {
  @MainActor static func main() async throws {
    let container = try ModelContainer(for: Task.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = container.mainContext
    let watcher = Watcher()
    let task = Task(title: "Paint")
    context.insert(task)
    try context.save()

    watcher.watch("title") { _ = task.title }
    task.title = "Paint the wall"
    print("own change:", watcher.take())
    watcher.watch("title") { _ = task.title }
    task.isDone.toggle()
    print("unread property:", watcher.take())
    task.title += "!"
    _ = watcher.take()
    watcher.watch("children") { _ = task.subtasks.count }
    let first = Subtask(title: "Buy paint")
    first.task = task
    context.insert(first)
    print("the other side:", watcher.take())
    watcher.watch("title") { _ = task.heading }
    task.isDone = false
    print("computed:", watcher.take())
    try context.save()
    task.title = "Unsaved"
    watcher.watch("title") { _ = task.title }
    context.rollback()
    print("rollback:", watcher.take())
    watcher.watch("children") { _ = task.subtasks }
    context.delete(first)
    print("deletion:", watcher.take())
    try context.save()
    let new = Task(title: "New")
    watcher.watch("title") { _ = new.title }
    new.title = "Newer"
    print("a new model:", watcher.take())

    let id = task.persistentModelID
    watcher.watch("title") { _ = task.title }
    try await container.perform { context in
      (context.model(for: id) as? Task)?.title = "Done elsewhere"
      try context.save()
    }
    for _ in 0..<1000 where task.title != "Done elsewhere" { await Swift.Task.yield() }
    print("merge: \(watcher.take()), now \(task.title)")

    let ours = Subtask(title: "Ours")
    task.subtasks.append(ours)
    try context.save()
    watcher.watch("children") { _ = task.subtasks.count }
    try await container.perform { context in
      guard let task = context.model(for: id) as? Task else { return }
      task.subtasks.append(Subtask(title: "Theirs"))
      try context.save()
    }
    for _ in 0..<1000 where task.subtasks.count != 2 { await Swift.Task.yield() }
    print("merge of a new child: \(watcher.take()), now \(task.subtasks.count)")

    watcher.watch("note") { _ = task.note }
    task.note = "by hand"
    print("by hand:", watcher.take())
    watcher.watch("title") { _ = task.title }
    task.title = "one"
    task.title = "two"
    print("told after the first change only:", watcher.take().split(separator: " ").count)
  }
}
