import Testing

@testable import CambiumSourceMover

/// Methods that validate single properties, those for key-value observing, and overrides in extensions.
@Suite struct ValidationMethodTests {
  private static let method = "(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}"

  @Test func theClassCallsThem() {
    let text = """
      public class Tag: NSManagedObject {
          @NSManaged public var URL: String?

          @objc func validateName\(Self.method)
          @objc func validateURL\(Self.method)

          public override func validateForUpdate() throws {
              try super.validateForUpdate()
              check()
          }
      }
      """
    let result = """
      public class Tag: NSManagedObject {
          @Managed public var URL: String?

          func validateName\(Self.method)
          func validateURL\(Self.method)

          public override func validateForUpdate() throws {
              try validateValuesForUpdate()
              try super.validateForUpdate()
              check()
          }

          /// Calls the methods that validate single properties, as Core Data does.
          public override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
              try super.validateValue(value, forKey: key)
              switch key {
              case "name": try validateName(value)
              case "URL": try validateURL(value)
              default: break
              }
          }

          public override func validateForInsert() throws {
              try validateValuesForInsert()
              try super.validateForInsert()
          }
      }
      """
    #expect(body(text) == result)
    #expect(body(result) == result)
    #expect(left(text).isEmpty)
  }

  @Test func thoseOfASuperclassCountForItsSubclasses() {
    let base = "import CoreData\nclass A: NSManagedObject { @objc func validateName\(Self.method) }"
    let result = body("class B: A { @objc func validateSize\(Self.method) }", beside: [base])
    #expect(result.contains("case \"size\": try validateSize(value)"))
    #expect(!result.contains("validateForInsert") && !result.contains("\"name\""))
    // A class that overrides nothing of the kind stays as it is.
    #expect(body("class B: A { func f() {} }", beside: [base]) == "class B: A { func f() {} }")
  }

  @Test func anOverrideOfValidateValueIsCalled() {
    let text = """
      class A: NSManagedObject {
        override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
          try super.validateValue(value, forKey: key)
        }
      }
      """
    let result = body(text)
    #expect(result.contains("try validateValuesForInsert()\n    try super.validateForInsert()\n  }\n"))
    #expect(result.contains("try validateValuesForUpdate()\n    try super.validateForUpdate()\n  }\n}"))
    #expect(body(result) == result)
    #expect(
      left(text.replacing("NSManagedObject {", with: "NSManagedObject {\n@objc func validateX\(Self.method)"))
        == ["2: class A"])
  }

  @Test func methodsInExtensionsOfOtherFiles() {
    let file = "import CoreData\nextension A { @objc func validateName\(Self.method) }"
    #expect(body("class A: NSManagedObject {\n}", beside: [file]).contains("case \"name\": try validateName(value)"))
    let hidden = "extension A { @objc private func validateName\(Self.method) }"
    let declared = "import CoreData\nclass A: NSManagedObject {\n}"
    #expect(left(hidden, beside: [declared]) == ["2: func validateName"])
    #expect(!body("class A: NSManagedObject {\n}", beside: ["import CoreData\n" + hidden]).contains("validateName"))
    // The class sees it in its own file.
    #expect(body("class A: NSManagedObject {\n}\n" + hidden).contains("try validateName(value)"))
  }

  @Test func methodsForKeyValueObservingStay() {
    let method = "class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String>"
    let call = "super.keyPathsForValuesAffectingValue(forKey: key)"
    let base = "class A: NSManagedObject { override \(method) { f(\(call)) } }"
    #expect(body(base) == "class A: NSManagedObject { \(method) { f(Set<String>()) } }")
    #expect(left(base) == ["2: func keyPathsForValuesAffectingValue"])
    let derived = "class B: A { override \(method) { \(call) } }"
    #expect(body(derived, beside: ["import CoreData\n" + base]) == derived)
    let automatic = "class func automaticallyNotifiesObservers(forKey key: String) -> Bool"
    #expect(
      body("class A: NSManagedObject { override \(automatic) { super.automaticallyNotifiesObservers(forKey: k) } }")
        == "class A: NSManagedObject { \(automatic) { false } }")
  }

  // MARK: Overrides in extensions

  private func joined(_ files: String...) -> [String] {
    FolderMove(files.enumerated().map { (name: "\($0.offset).swift", text: $0.element) }).sources.map { $0.text }
  }

  @Test func overridesGoIntoTheClass() {
    let files = joined(
      "import CoreData\nclass A: NSManagedObject {\n  var x = 1\n}\n",
      """
      import CoreData
      public extension A {
        func f() {}

        // MARK: Hooks

        /// Called by the context.
        @objc override func willSave() {
          super.willSave()
          f(#keyPath(A.name))
        }
      }

      """)
    #expect(
      files[0] == """
        import CambiumCoreData
        class A: NSManagedObject {
          var x = 1

          /// Called by the context.
          public override func willSave() {
            super.willSave()
            f("name")
          }
        }

        """)
    #expect(
      files[1] == """
        import CambiumCoreData
        public extension A {
          func f() {}

          // MARK: Hooks

        }

        """)
    #expect(joined(files[0], files[1]) == files)
    // The report names the old line.
    let source = "import CoreData\nclass A: NSManagedObject {}\nextension A {\n  override func willSave() {}\n}\n"
    #expect(
      moved(source).changes.map { "\($0.line): \($0.text)" }.last
        == "4: override func willSave goes from an extension into the class A")
    #expect(
      joined(source)[0]
        == "import CambiumCoreData\nclass A: NSManagedObject {\n\n  override func willSave() {}\n}\nextension A {\n}\n")
  }

  @Test func theBraceOfANestedClassStaysIndented() {
    let source = """
      import CoreData
      enum E {
        class A: NSManagedObject {}
      }
      extension E.A {
        override func willSave() {}
      }

      """
    #expect(
      joined(source)[0] == """
        import CambiumCoreData
        enum E {
          class A: NSManagedObject {

          override func willSave() {}
          }
        }
        extension E.A {
        }

        """)
  }

  /// A class that is nowhere in the folder cannot take it, and a line with other code is not cut.
  @Test func otherOverridesStay() {
    let alone = "extension NSManagedObject {\n  override func willSave() {}\n}"
    #expect(body(alone) == alone)
    #expect(left(alone) == ["3: func willSave"])
    let conditional = "extension A {\n#if os(iOS)\n  override func willSave() {}\n#endif\n}"
    let declared = "import CambiumCoreData\nclass A: NSManagedObject {}\n"
    #expect(joined(declared + conditional) == [declared + conditional])
    #expect(left(conditional, beside: [declared]) == ["4: func willSave"])
    let line = "import CambiumCoreData\nclass A: NSManagedObject {}\nextension A { override func willSave() {} }"
    #expect(joined(line) == [line])
    #expect(left(line) == ["4: func willSave"])
    let behind = declared + "extension A {\n  override func willSave() {} ; func f() {}\n}"
    #expect(joined(behind) == [behind])
    #expect(left(behind) == ["5: func willSave"])
    #expect(moved(behind).changes.isEmpty)
  }
}
