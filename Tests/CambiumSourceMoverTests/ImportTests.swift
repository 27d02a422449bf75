import Testing

@testable import CambiumSourceMover

/// Imports, and which sources are looked at.
@Suite struct ImportTests {
  @Test(arguments: [
    ("import CoreData", "import CambiumCoreData"),
    ("@preconcurrency import CoreData\n", "@preconcurrency import CambiumCoreData\n"),
    ("import class CoreData.NSManagedObject\n", "import CambiumCoreData\n"),
    (
      "#if canImport(CoreData)\nimport CoreData\n#endif",
      "#if canImport(CambiumCoreData)\nimport CambiumCoreData\n#endif"
    ),
    ("let a: NSManagedObject", "import CambiumCoreData\n\nlet a: NSManagedObject"),
    (
      "// head\nimport Foundation\n\nlet a: NSManagedObject\n",
      "// head\nimport Foundation\nimport CambiumCoreData\n\nlet a: NSManagedObject\n"
    ),
    (
      "import CoreData\nimport A\nlet a: NSPredicate, b: NSSortDescriptor",
      "import CambiumCoreData\nimport A\nlet a: NSPredicate, b: NSSortDescriptor"
    ),
    ("import CoreData\nlet a: NSPredicate", "import CambiumCoreData\nlet a: NSPredicate"),
    (
      "import UIKit\nimport CoreData\nlet a: NSPredicate", "import CambiumCoreData\nlet a: NSPredicate"
    ),
    (
      "import CoreData\nimport os.log\n@preconcurrency import Combine\nlet a = 1", "import CambiumCoreData\nlet a = 1"
    ),
    // An #endif that closes nothing does not count.
    (
      "#endif\nimport CoreData\n#if os(iOS)\nimport UIKit\n#endif\nlet a = 1",
      "#endif\nimport CambiumCoreData\n#if os(iOS)\nimport UIKit\n#endif\nlet a = 1"
    ),
    (
      "import UIKit\nimport CoreData\nlet a: UIColor", "import UIKit\nimport CambiumCoreData\nlet a: UIColor"
    ),
    (
      "import CoreData\nlet a: URLSession",
      "import CambiumCoreData\n#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#endif\n"
        + "let a: URLSession"
    ),
    ("import Foundation\nlet a = 1", "import Foundation\nlet a = 1"),
    ("import Foundation\nlet a: NSPredicate", "import Foundation\nlet a: NSPredicate"),
  ])
  func imports(text: String, result: String) { #expect(moved(text).text == result) }

  /// A source that asks for managed objects with a predicate, or extends their class, belongs to Core Data.
  @Test func sourcesWithoutAnImport() {
    let entity = "import CoreData\nclass Item: NSManagedObject {}"
    #expect(
      moved("import SwiftUI\nlet a: [Item], b: NSPredicate", beside: [entity]).text
        == "import SwiftUI\nimport CambiumCoreData\nlet a: [Item], b: NSPredicate"
    )
    #expect(moved("extension Item {}", beside: [entity]).text == "import CambiumCoreData\n\nextension Item {}")
    #expect(moved("let a: [Item]", beside: [entity]).text == "let a: [Item]")
    #expect(
      moved("import Foundation\nextension NSPredicate {}", beside: [entity]).text
        == "import Foundation\nimport CambiumCoreData\nextension NSPredicate {}"
    )
    // One that tests a text is Foundation's.
    let test = "import Foundation\nlet a = NSPredicate(format: b).evaluate(with: c)"
    #expect(moved(test, beside: [entity]).text == test)
  }

  @Test func modulesOfApplePlatformsAreReported() {
    #expect(left("import UIKit\n#if canImport(SwiftUI)\nimport SwiftUI\n#endif\nlet a: UIView") == ["2: import UIKit"])
  }
}
