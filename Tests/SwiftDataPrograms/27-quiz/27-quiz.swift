// A quiz whose editor can undo, redo and roll back, and whose answers are saved together or not at all.
// Expected output:
//   can undo before: false
//   Capital of Norway? 2 choices, score 0
//   undone: score 0, redone: score 10
//   grouped undo: 2 choices, title Capital of Norway?
//   deleted: 0, undone: 1 with 2 choices
//   in the other context: Capital of Norway?
//   rolled back: 10, changes: false, inserted is out: true
//   transaction failed: wrong answer, still pending: true
//   after rollback: 0 answers
//   transaction saved: 2 answers
//   arrays: 1 1 1
//   action: Rename
import CambiumSwiftData
import Foundation

@Model
final class Question {
  var text: String
  var score: Int = 0
  @Relationship(deleteRule: .cascade, inverse: \Choice.question) var choices: [Choice] = []

  init(text: String) { self.text = text }
}

@Model
final class Choice {
  var text: String
  var isCorrect: Bool
  var question: Question?

  init(_ text: String, isCorrect: Bool = false) {
    self.text = text
    self.isCorrect = isCorrect
  }
}

@Model
final class Answer {
  var given: Choice?
  var at: Date = Date.now
  init(_ choice: Choice) { given = choice }
}

struct WrongAnswer: Error, CustomStringConvertible {
  var description: String { "wrong answer" }
}

@main
struct Quiz {
  @MainActor
  static func main() throws {
    let container = try ModelContainer(
      for: Question.self, Answer.self, configurations: .init(isStoredInMemoryOnly: true))
    let context = container.mainContext
    context.autosaveEnabled = false
    let manager = UndoManager()
    context.undoManager = manager
    print("can undo before:", manager.canUndo)

    let question = Question(text: "Capital of Norway?")
    let oslo = Choice("Oslo", isCorrect: true)
    question.choices = [oslo, Choice("Bergen")]
    context.insert(question)
    try context.save()
    context.processPendingChanges()
    print("\(question.text) \(question.choices.count) choices, score \(question.score)")

    question.score = 10
    context.processPendingChanges()
    manager.undo()
    let undone = question.score
    manager.redo()
    print("undone: score \(undone), redone: score \(question.score)")

    manager.beginUndoGrouping()
    question.text = "Capital?"
    context.processPendingChanges()
    question.choices.append(Choice("Narvik"))
    context.processPendingChanges()
    manager.endUndoGrouping()
    manager.undo()
    print("grouped undo: \(question.choices.count) choices, title \(question.text)")

    try context.save()
    context.delete(question)
    context.processPendingChanges()
    let count = try context.fetchCount(FetchDescriptor<Question>())
    manager.undo()
    let back = try context.fetch(FetchDescriptor<Question>())
    print("deleted: \(count), undone: \(back.count) with \(back.first?.choices.count ?? 0) choices")
    try context.save()
    let other = ModelContext(container)
    print("in the other context:", try other.fetch(FetchDescriptor<Question>()).first?.text ?? "-")

    question.score = 99
    let extra = Question(text: "Extra")
    context.insert(extra)
    context.rollback()
    print(
      "rolled back: \(question.score), changes: \(context.hasChanges), inserted is out: \(extra.modelContext == nil)")

    do {
      try context.transaction {
        for choice in question.choices {
          context.insert(Answer(choice))
          if !choice.isCorrect { throw WrongAnswer() }
        }
      }
    } catch {
      print("transaction failed: \(error), still pending: \(context.hasChanges)")
    }
    context.rollback()
    print("after rollback:", try context.fetchCount(FetchDescriptor<Answer>()), "answers")
    try context.transaction { question.choices.forEach { context.insert(Answer($0)) } }
    print("transaction saved:", try other.fetchCount(FetchDescriptor<Answer>()), "answers")

    context.insert(Question(text: "New"))
    question.score += 1
    let answers = try context.fetch(FetchDescriptor<Answer>())
    context.delete(answers[0])
    print(
      "arrays:", context.insertedModelsArray.count, context.changedModelsArray.filter { $0 is Question }.count,
      context.deletedModelsArray.count)
    try context.save()

    manager.setActionName("Rename")
    question.text = "Which?"
    context.processPendingChanges()
    print("action:", manager.undoActionName)
  }
}
