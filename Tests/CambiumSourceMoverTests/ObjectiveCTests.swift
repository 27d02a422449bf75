import Testing

@testable import CambiumSourceMover

/// `@objc` and what goes with it.
@Suite struct ObjectiveCTests {
  @Test(arguments: [
    ("@objc(Item)\npublic class Item: NSManagedObject {}", "public class Item: NSManagedObject {}"),
    ("@objc(Item) public class Item: NSManagedObject {}", "public class Item: NSManagedObject {}"),
    ("@objcMembers final class A: NSObject {}", "final class A: NSObject {}"),
    ("@available(iOS 13, *) @objc class A: NSObject {}", "@available(iOS 13, *) class A: NSObject {}"),
    ("class A { @objc dynamic var x = 1 }", "class A { var x = 1 }"),
    ("class A { @objc private class func f() {} }", "class A { private class func f() {} }"),
    ("extension A {\n  @nonobjc public class func g() {}\n}", "extension A {\n  public class func g() {}\n}"),
    ("  @objc @discardableResult  // why\n  func f() {}", "  @discardableResult  // why\n  func f() {}"),
    ("@objc // why\nfunc f() {}", "// why\nfunc f() {}"),
    ("@objc\r\nfunc f() {}\r\n", "func f() {}\r\n"),
    ("#if os(iOS)\n@objc\n#endif\nfunc f() {}", "#if os(iOS)\n@objc\n#endif\nfunc f() {}"),
    ("let x = f(a: @objc)", "let x = f(a: @objc)"),
  ])
  func removed(text: String, result: String) { #expect(body(text) == result) }

  @Test func selectorsKeepTheirMethods() {
    let controller = "class C { func g() { t(#selector(C.tapped)) } }"
    let text = "class C {\n  @objc func tapped() {}\n  @objc func other() {}\n}"
    #expect(body(text, beside: [controller]) == "class C {\n  @objc func tapped() {}\n  func other() {}\n}")
    #expect(left(text, beside: [controller]) == ["3: func tapped"])
    #expect(left(controller) == ["2: #selector(C.tapped)"])
  }

  @Test func optionalRequirementsKeepTheirProtocol() {
    let text = "@objc protocol P {\n  @objc optional func f()\n  @objc optional var x: Int { get }\n}"
    #expect(body(text) == text)
    #expect(left(text) == ["2: protocol P"])
  }

  /// A `weak` property may have the type of a protocol with `@objc`.
  @Test(arguments: [
    ("@objc protocol P { func f() }", "protocol P: AnyObject { func f() }"),
    ("@objc(EditorDelegate) public protocol P {}", "public protocol P: AnyObject {}"),
    ("@objc protocol P<Item> { associatedtype Item }", "protocol P<Item>: AnyObject { associatedtype Item }"),
    ("@objc protocol P: Q, R where A == B {}", "protocol P: Q, R, AnyObject where A == B {}"),
    ("@objc protocol P: AnyObject {}", "protocol P: AnyObject {}"),
    ("@objc protocol P: Q, class {}", "protocol P: Q, class {}"),
    ("@objc protocol P: NSObjectProtocol {}", "protocol P: NSObjectProtocol {}"),
  ])
  func protocolsStayBoundToClasses(text: String, result: String) { #expect(body(text) == result) }

  @Test func otherNamesInTheModelAreReported() {
    #expect(left("@objc(Entry) class Item: NSManagedObject {}") == ["2: @objc(Entry)"])
    #expect(left("@objc(Item) class Item: NSManagedObject {}").isEmpty)
  }

  @Test func observersBecomeClosures() {
    let text = """
      class Stack {
        func f() {
          NotificationCenter.default.addObserver(
            self, selector: #selector(didSave(_:)), name: .NSManagedObjectContextDidSave, object: nil)
          let center = NotificationCenter.default
          center.addObserver(self, selector: #selector(Stack.changed), name: x.name, object: f(a, b))
        }
        @objc private func didSave(_ note: Notification) {}
        @objc func changed() {}
        deinit { NotificationCenter.default.removeObserver(self) }
      }
      """
    #expect(
      body(text) == """
        class Stack {
          func f() {
            _ = NotificationCenter.default.addObserver(\
        forName: .NSManagedObjectContextDidSave, object: nil, queue: nil) { \
        [weak self] notification in self?.didSave(notification) }
            let center = NotificationCenter.default
            _ = center.addObserver(forName: x.name, object: f(a, b), queue: nil) { [weak self] _ in self?.changed() }
          }
          private func didSave(_ note: Notification) {}
          func changed() {}
          deinit { NotificationCenter.default.removeObserver(self) }
        }
        """)
    #expect(left(text) == ["11: removeObserver(self"])
  }

  /// The class observes, and an extension of it ends that.
  @Test func removalsElsewhereAreReported() {
    let observer = """
      import CoreData
      class Stack {
        func f() { center.addObserver(self, selector: #selector(didSave), name: n, object: nil) }
        @objc func didSave() {}
      }

      """
    let removal = "extension Stack {\n  func g() { center.removeObserver(self) }\n}"
    #expect(moved(observer + removal).findings.map { "\($0.line): \($0.text)" } == ["7: removeObserver(self"])
    // A file of its own, with and without Core Data.
    #expect(left(removal, beside: [observer]) == ["3: removeObserver(self"])
    let alone = moved(removal, beside: [observer])
    #expect(alone.findings.map { "\($0.line): \($0.text)" } == ["2: removeObserver(self"])
    #expect(alone.text == removal && alone.changes.isEmpty)
    // Another type, and a class that keeps its selector because its file has no Core Data.
    #expect(left(removal.replacing("Stack", with: "Other"), beside: [observer]).isEmpty)
    #expect(left(removal, beside: [observer.replacing("CoreData", with: "Foundation")]).isEmpty)
  }

  /// The closure gets a `Notification`.
  @Test func methodsWithAnObjectOfFoundationStay() {
    let text = """
      class A {
        func f() { c.addObserver(self, selector: #selector(g(_:)), name: n, object: nil) }
        @objc func g(_ note: NSNotification) {}
        deinit { c.removeObserver(self) }
      }
      """
    #expect(body(text) == text)
    #expect(left(text) == ["3: #selector(g(_:))", "4: func g"])
  }

  /// Whose method is not known.
  @Test func otherObserversStay() {
    let text = "class A { func f() { c.addObserver(self, selector: #selector(B.g), name: n, object: nil) } }"
    #expect(body(text) == text)
    #expect(left(text) == ["2: #selector(B.g)"])
  }
}
