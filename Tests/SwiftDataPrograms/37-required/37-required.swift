// A library whose loans need a reader and a copy: what may not be saved is refused with a reason, and nothing ends the process.
// Expected output:
//   lent: Dune to Ada, Ada has 1
//   deny: modelValidationFailure loans of Reader
//   rolled back: 2 readers
//   handed on: Ada 0, Bo 1
//   too many: modelValidationFailure loans of Reader
//   too few: modelValidationFailure members of Club
//   no copy: modelValidationFailure copy of Loan
//   unknown class: Visitor
//   two contexts: CambiumError members of Club
//   deleted: modelContext nil, isDeleted false, title Dune
//   gone elsewhere: name "", isDeleted true, existing nil
//   temporary: true, then Copy true, the same: false
//   coded: true
//   nothing left to say: 0
import Cambium
import CambiumSwiftData
import Foundation

@Model final class Reader {
  var name: String
  @Relationship(deleteRule: .deny, maximumModelCount: 2, inverse: \Loan.reader) var loans: [Loan] = []
  init(name: String) { self.name = name }
}

@Model final class Copy {
  var title: String
  @Relationship(deleteRule: .cascade, inverse: \Loan.copy) var loan: Loan?
  init(title: String) { self.title = title }
}

@Model final class Loan {
  var reader: Reader
  var copy: Copy
  init(_ copy: Copy, to reader: Reader) {
    self.copy = copy
    self.reader = reader
  }
}

@Model final class Club {
  var name: String
  @Relationship(deleteRule: .noAction, minimumModelCount: 1) var members: [Reader]
  init(name: String, members: [Reader] = []) {
    self.name = name
    self.members = members
  }
}

@Model final class Visitor {
  var name: String = ""
  init() {}
}

/// The kind, the property and the entity of an error.
func describe(_ error: any Error) -> String {
  var kind = "\(type(of: error))"
  if error is SwiftDataError { kind = String("\(error)".split(separator: ":")[0].dropFirst(kind.count + 1)) }
  let cause = (error as? SwiftDataError)?.cambiumError ?? error as? CambiumError
  guard let cause else { return "\(kind)" }
  guard let key = cause.key, let entity = cause.entityName else { return "\(kind): \(cause.message)" }
  return "\(kind) \(key) of \(entity)"
}

func failure(_ body: () throws -> Void) -> String {
  do {
    try body()
    return "nothing was thrown"
  } catch {
    return describe(error)
  }
}

@main struct Main {
  static func main() throws {
    let container = try ModelContainer(
      for: Loan.self, Club.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let (ada, bo) = (Reader(name: "Ada"), Reader(name: "Bo"))
    let dune = Copy(title: "Dune")
    let loan = Loan(dune, to: ada)
    context.insert(bo)
    context.insert(loan)
    try context.save()
    print("lent: \(loan.copy.title) to \(loan.reader.name), Ada has \(ada.loans.count)")

    context.delete(ada)
    print("deny:", failure { try context.save() })
    context.rollback()
    print("rolled back:", try context.fetchCount(FetchDescriptor<Reader>()), "readers")
    loan.reader = bo
    print("handed on: Ada \(ada.loans.count), Bo \(bo.loans.count)")
    try context.save()

    for number in 0..<2 { context.insert(Loan(Copy(title: "\(number)"), to: bo)) }
    print("too many:", failure { try context.save() })
    context.rollback()
    context.insert(Club(name: "Empty"))
    print("too few:", failure { try context.save() })
    context.rollback()
    let other = Copy(title: "Other")
    let lost = Loan(other, to: ada)
    context.insert(lost)
    other.loan = nil
    print("no copy:", failure { try context.save() })
    context.rollback()

    context.insert(Visitor())
    let message = failure { try context.save() }
    print("unknown class:", message.contains("Visitor") ? "Visitor" : message)
    context.rollback()

    let second = ModelContext(container)
    second.insert(Club(name: "Mixed", members: [ada]))
    print("two contexts:", failure { try second.save() })
    second.rollback()

    guard let seen = second.model(for: dune.persistentModelID) as? Copy else { return print("lost") }
    let title = seen.title
    context.delete(dune)
    try context.save()
    print(
      "deleted: modelContext \(dune.modelContext == nil ? "nil" : "set"), isDeleted \(dune.isDeleted), title \(title)")
    let third = ModelContext(container)
    let missing = third.model(for: seen.persistentModelID) as? Copy
    let existing: Copy? = try third.existingModel(for: seen.persistentModelID)
    print(
      "gone elsewhere: name \"\(missing?.title ?? "-")\", isDeleted \(missing?.isDeleted ?? false),",
      "existing \(existing?.title ?? "nil")")

    let new = Copy(title: "New")
    let before = new.persistentModelID
    third.insert(new)
    let isTemporary = before.storeIdentifier == nil && new.persistentModelID == before
    try third.save()
    let after = new.persistentModelID
    print(
      "temporary: \(isTemporary), then \(after.entityName) \(after.storeIdentifier != nil), the same: \(after == before)"
    )
    let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: JSONEncoder().encode(after))
    print("coded:", decoded == after && (second.model(for: decoded) as? Copy)?.title == "New" && after.id == decoded.id)
    print("nothing left to say:", context.recordedErrors.count)
  }
}
