import Testing

@testable import CambiumSourceMover

/// Requests, single names, and what is left.
@Suite struct OtherRuleTests {
  @Test(arguments: [
    ("let r = NSFetchRequest<NSDictionary>(entityName: x)", "let r = NSFetchRequest<NSDictionary>(entityName: x)"),
    ("let r: NSFetchRequest<NSNumber>", "let r: NSFetchRequest<NSNumber>"),
    (
      "let a = entity.userInfo?[key], b = manager.userInfo?.count",
      "let a = entity.userInfo[key], b = manager.userInfo.count"
    ),
    (
      "let a = notification.userInfo?[key], b = f().userInfo?[key]",
      "let a = notification.userInfo?[key], b = f().userInfo?[key]"
    ),
    ("let r: NSFetchRequest<any NSFetchRequestResult>", "let r: NSFetchRequest<NSFetchRequestResult>"),
    ("let r: NSFetchRequest<NSFetchRequestResult>", "let r: NSFetchRequest<NSFetchRequestResult>"),
    ("extension NSFetchRequestResult where Self: A {}", "extension FetchRequestResult where Self: A {}"),
    ("context.undoManager = UndoManager()", "context.undoManager = ContextUndoManager()"),
    ("let p = NSPredicate(format: a, id as CVarArg, f(b as! CVarArg))", "let p = NSPredicate(format: a, id, f(b))"),
    ("let p = NSPredicate(format: a, [id as any CVarArg])", "let p = NSPredicate(format: a, [id])"),
    ("let p = f(format: a, id as CVarArg)", "let p = f(format: a, id as CVarArg)"),
    (
      "func f<T: NSManagedObject>() -> T { T(context: c) }",
      "func f<T: NSManagedObject>() -> T { T(entity: T.entity(), insertInto: c) }"
    ),
    (
      "protocol P { associatedtype Item }\nextension P { func f() { g(Self.Item(context: self.c)) } }",
      "protocol P { associatedtype Item }\n"
        + "extension P { func f() { g(Self.Item(entity: Self.Item.entity(), insertInto: self.c)) } }"
    ),
    (
      "class A<B, C: D> { let b = C.init(context: c) }",
      "class A<B, C: D> { let b = C.init(entity: C.entity(), insertInto: c) }"
    ),
    (
      "func f<T: P>() { Self.create(context: c); T.findOrInsert(context: c, id: 1) }",
      "func f<T: P>() { Self.create(context: c); T.findOrInsert(context: c, id: 1) }"
    ),
    ("let a = Item(context: c), b = D(context: c)", "let a = Item(context: c), b = D(context: c)"),
    ("convenience init(x: X) { self.init(context: c) }", "convenience init(x: X) { self.init(context: c) }"),
    (
      "let s = NSSortDescriptor(key: a, ascending: true, selector: #selector(NSString.caseInsensitiveCompare(_:)))",
      "let s = NSSortDescriptor(key: a, ascending: true, comparator: .caseInsensitive)"
    ),
    (
      "let s = NSSortDescriptor(key: a, ascending: b, selector: #selector(NSDate.compare(_:)))",
      "let s = NSSortDescriptor(key: a, ascending: b)"
    ),
    (
      "let s = NSSortDescriptor(key: a, ascending: b, selector: #selector(NSString.localizedStandardCompare))",
      "let s = NSSortDescriptor(key: a, ascending: b, "
        + "comparator: FetchSortComparator(name: \"localizedStandardCompare\") { $0.localizedStandardCompare($1) })"
    ),
    (
      "extension NSPredicate { convenience init(a: A) {}; class func f() {}; public class var x: Int { 1 } }",
      "extension NSPredicate { init(a: A) {}; static func f() {}; public static var x: Int { 1 } }"
    ),
    (
      "extension A { convenience init(a: A) {}; class func f() {} }",
      "extension A { convenience init(a: A) {}; class func f() {} }"
    ),
    ("let u = UndoManager()", "let u = UndoManager()"),
    (
      "func f() { let d = NSPersistentHistoryChangeRequest(); d.name = x }",
      "func f() { var d = NSPersistentHistoryChangeRequest(); d.name = x }"
    ),
    (
      "func f() { let d = NSPersistentHistoryChangeRequest(); g(d.name == x) }",
      "func f() { let d = NSPersistentHistoryChangeRequest(); g(d.name == x) }"
    ),
  ])
  func rewritten(text: String, result: String) { #expect(body(text) == result) }

  @Test(arguments: [
    (
      "let r = NSFetchRequest<NSFetchRequestResult>(entityName: x)\nr.resultType = .dictionaryResultType",
      "3: .dictionaryResultType"
    ),
    ("let c = NSPersistentCloudKitContainer(name: x)", "2: NSPersistentCloudKitContainer"),
    ("let t = NSAtomicStore", "2: NSAtomicStore"),
    ("let p = NSPredicate(block: f)", "2: NSPredicate(block:"),
    ("p.setElements(x)", "2: setElements"),
    ("let u = b.url(forResource: n, withExtension: \"momd\")", "2: momd"),
    ("struct S { @FetchRequest(sortDescriptors: []) var items: R }", "2: @FetchRequest"),
    ("class C: NSManagedObjectContext {}", "2: class C: NSManagedObjectContext"),
    ("extension NSManagedObject { override func willSave() {} }", "2: func willSave"),
    (
      "class A: NSManagedObject {}\nextension A { override func didChangeValue(forKey: String) {} }",
      "3: func didChangeValue"
    ),
    ("request.entity = T.entityDescription(with: context)", "2: entityDescription(with:"),
    ("coordinator.setURL(url, for: store)", "2: setURL"),
    ("let all = try fetchRequest.execute()", "2: fetchRequest.execute()"),
    ("didChangeValue(forKey: k, withSetMutation: .union, using: s)", "2: withSetMutation"),
    ("class A: NSManagedObject { override func value(forKey: String) -> Any? { nil } }", "2: func value"),
    (
      "class A: NSManagedObject { class func keyPathsForValuesAffectingName() -> Set<String> { [] } }",
      "2: func keyPathsForValuesAffectingName"
    ),
  ])
  func left(text: String, finding: String) {
    let findings = moved("import CoreData\n" + text).findings
    #expect(findings.map { "\($0.line): \($0.text)" } == [finding])
    #expect(findings.allSatisfy { !$0.cause.reason.isEmpty && !$0.cause.remedy.isEmpty })
  }

  @Test func nothingIsLeftOfUsualCode() {
    #expect(
      moved(
        """
        import CoreData
        class A: NSManagedObject {
          override func awakeFromInsert() { super.awakeFromInsert() }
          override func validateForInsert() throws { try super.validateForInsert() }
          override var description: String { "A" }
          override class func entity() -> NSEntityDescription { super.entity() }
          func f() throws { try useCase.execute(); autoreleasepool { g(NSSQLiteErrorDomain) } }
        }
        """
      ).findings.isEmpty)
  }
}
