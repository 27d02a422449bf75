import Testing

@testable import CambiumSourceMover

/// `as NSError`.
@Suite struct FoundationErrorTests {
  @Test(arguments: [
    (
      "do { try f() } catch let error as NSError { print(error.code) }",
      "do { try f() } catch { let error = error as NSError; print(error.code) }"
    ),
    (
      "do {\n  try f()\n} catch let e as NSError {\n  print(e.code)\n}",
      "do {\n  try f()\n} catch {\n  let e = error as NSError\n  print(e.code)\n}"
    ),
    (
      "do {\n  try f()\n} catch let error as NSError {  // why\n  print(error)\n}",
      "do {\n  try f()\n} catch {  // why\n  let error = error as NSError\n  print(error)\n}"
    ),
    ("do { try f() } catch let error as NSError { print(1) }", "do { try f() } catch { print(1) }"),
    ("do { try f() } catch let error as NSError {}", "do { try f() } catch {}"),
    (
      "do { try f() } catch var e as NSError { e = g(e) }",
      "do { try f() } catch { var e = error as NSError; e = g(e) }"
    ),
    (
      "do { try f() } catch let e as NSError where e.code == 3 && x.e { f(e) } catch {}",
      "do { try f() } catch let e where (e as NSError).code == 3 && x.e { let e = e as NSError; f(e) } catch {}"
    ),
    ("do { try f() } catch let e as MyError { print(e) }", "do { try f() } catch let e as MyError { print(e) }"),
    ("if let e = error as? NSError { print(e) }", "if let e = error as NSError? { print(e) }"),
    ("let e = error as! NSError", "let e = error as NSError"),
    ("let e = info.error as? NSError", "let e = info.error as? NSError"),
  ])
  func errors(text: String, result: String) { #expect(body(text) == result) }

  @Test func linesEndAsBefore() {
    #expect(
      moved("import CoreData\r\ndo {\r\n  try f()\r\n} catch let e as NSError {\r\n  print(e)\r\n}").text
        == "import CambiumCoreData\r\ndo {\r\n  try f()\r\n} catch {\r\n  let e = error as NSError\r\n  print(e)\r\n}")
  }

  @Test func patternsAreReported() {
    #expect(left("switch e { case let x as NSError: f(x) default: break }") == ["2: case let x as NSError"])
    #expect(left("if e is NSError {}") == ["2: is NSError"])
    #expect(left("do {} catch let e as NSError, B.c { }") == ["2: catch let e as NSError"])
    #expect(left("let x = saveError as? NSError") == ["2: saveError as? NSError"])
  }

  @Test(arguments: [
    ("do {} catch let error as CocoaError where error.code == x { }", ["2: error as CocoaError"]),
    ("if (error as? CocoaError)?.code == .fileNoSuchFile {}", ["2: error as? CocoaError"]),
    ("let a = 1\nlet b = f() as! Foundation.CocoaError", ["3: ) as! Foundation.CocoaError"]),
    ("if error is CocoaError {}", ["2: error is CocoaError"]),
    ("do {} catch is CocoaError {}", ["2: catch is CocoaError"]),
    ("do {} catch CocoaError.fileNoSuchFile {}", []),
    ("let a = b as? CocoaError.Code", []),
  ])
  func castsToCocoaErrorAreReported(text: String, findings: [String]) {
    #expect(body(text) == text)
    #expect(left(text) == findings)
  }
}
