import CambiumCoreData
import CambiumEngine
import Foundation
import Testing

/// A class of the application's, as code for Core Data has in its transformable attributes.
final class TintColor: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }
  let red: Double
  let mixed: NSDate?

  init(red: Double, mixed: NSDate? = nil) { (self.red, self.mixed) = (red, mixed) }
  init?(coder: NSCoder) {
    red = coder.decodeDouble(forKey: "red")
    mixed = coder.decodeObject(of: NSDate.self, forKey: "mixed")
  }
  func encode(with coder: NSCoder) {
    coder.encode(red, forKey: "red")
    coder.encode(mixed, forKey: "mixed")
  }
  override func isEqual(_ object: Any?) -> Bool { (object as? TintColor)?.red == red }
}

/// As applications register one for their colours.
final class TintColorTransformer: NSSecureUnarchiveFromDataTransformer {
  static let name = NSValueTransformerName(rawValue: String(describing: TintColorTransformer.self))
  override static var allowedTopLevelClasses: [AnyClass] { [TintColor.self] }
  static func register() { ValueTransformer.setValueTransformer(TintColorTransformer(), forName: name) }
}

/// A transformer with a format of its own.
final class WordsTransformer: ValueTransformer {
  override class func transformedValueClass() -> AnyClass { NSData.self }
  override class func allowsReverseTransformation() -> Bool { true }
  override func transformedValue(_ value: Any?) -> Any? {
    (value as? [String]).map { Data($0.joined(separator: " ").utf8) }
  }
  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data).map { String(decoding: $0, as: UTF8.self).split(separator: " ").map(String.init) }
  }
}

final class PaintJob: NSManagedObject {
  @Managed var tags: [String]
  @Managed var sizes: [String: Int]?
  @Managed var color: TintColor?
  @Managed var anything: NSObject?
  @Managed var words: [String]?
}

@Suite struct TransformableTests {
  private func context() throws -> NSManagedObjectContext {
    func attribute(_ name: String, _ transformer: String?) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = .transformableAttributeType
      attribute.isOptional = true
      attribute.valueTransformerName = transformer
      return attribute
    }
    let job = NSEntityDescription()
    job.name = "PaintJob"
    job.managedObjectClassName = "PaintJob"
    TintColorTransformer.register()
    ValueTransformer.setValueTransformer(WordsTransformer(), forName: NSValueTransformerName("WordsTransformer"))
    job.properties = [
      attribute("tags", "NSSecureUnarchiveFromData"), attribute("sizes", "NSSecureUnarchiveFromDataTransformer"),
      attribute("color", "TintColorTransformer"), attribute("anything", nil), attribute("words", "WordsTransformer"),
      attribute("old", "NSKeyedUnarchiveFromData"), attribute("lost", "Nowhere"),
    ]
    let model = NSManagedObjectModel()
    model.entities = [job]
    let container = NSPersistentContainer(name: "Paint", managedObjectModel: model)
    container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
    try container.loadPersistentStores()
    return container.viewContext
  }

  @Test func archivesOfUsualValues() throws {
    let context = try context()
    let job = PaintJob(context: context)
    #expect(job.tags.isEmpty && job.sizes == nil)
    job.tags = ["a", "b"]
    job.sizes = ["x": 1, "y": 2]
    job.setValue([1.5, "t", Date(timeIntervalSinceReferenceDate: 0), true] as [Any], forKey: "old")
    try context.save()
    context.refreshAllObjects()
    #expect(job.tags == ["a", "b"] && job.sizes == ["x": 1, "y": 2])
    let old = try #require(job.value(forKey: "old") as? [Any])
    #expect(old[0] as? Double == 1.5 && old[1] as? String == "t" && old[3] as? Bool == true)
    job.tags.append("c")
    try context.save()
    context.refreshAllObjects()
    #expect(job.tags == ["a", "b", "c"])
    job.setValue(nil, forKey: "tags")
    try context.save()
    #expect(job.tags.isEmpty && context.recordedErrors.isEmpty)
  }

  @Test func archivesOfTheApplicationsClasses() throws {
    let context = try context()
    let job = PaintJob(context: context)
    job.color = TintColor(red: 0.5)
    job.anything = NSArray(array: [TintColor(red: 1), "x"])
    try context.save()
    context.refreshAllObjects()
    #expect(job.color == TintColor(red: 0.5))
    #expect(((job.anything as? NSArray)?.object(at: 0) as? TintColor)?.red == 1)
    #expect(job.value(forKey: "color") as? TintColor == TintColor(red: 0.5))
    let request = NSFetchRequest<NSDictionary>(entityName: "PaintJob")
    request.resultType = .dictionaryResultType
    #expect(try context.fetch(request).first?["color"] as? TintColor == TintColor(red: 0.5))
  }

  @Test func transformersOfTheApplication() throws {
    let context = try context()
    let job = PaintJob(context: context)
    job.words = ["one", "two"]
    try context.save()
    context.refreshAllObjects()
    #expect(job.words == ["one", "two"])
    #expect(ValueTransformer(forName: TintColorTransformer.name) is TintColorTransformer)
    #expect(ValueTransformer(forName: NSValueTransformerName("Nowhere")) == nil)
    #expect(ValueTransformer.valueTransformerNames().contains(TintColorTransformer.name))
    let secure = try #require(ValueTransformer(forName: .secureUnarchiveFromDataTransformerName))
    let data = try #require(secure.reverseTransformedValue(["a"]) as? Data)
    #expect(secure.transformedValue(data) as? [String] == ["a"])
    #expect(secure.transformedValue(Data([1])) == nil && secure.reverseTransformedValue(TintColor(red: 1)) == nil)
  }

  /// Objects within an object of the application's may be of the usual classes.
  @Test func archivesOfObjectsInObjects() throws {
    let context = try context()
    let job = PaintJob(context: context)
    job.color = TintColor(red: 0.25, mixed: NSDate(timeIntervalSinceReferenceDate: 5))
    try context.save()
    context.refreshAllObjects()
    #expect(job.color?.red == 0.25 && job.color?.mixed == NSDate(timeIntervalSinceReferenceDate: 5))
    // At the top, the transformer's classes alone.
    let words = try #require(AttributeTransformers.transformer(forName: "NSSecureUnarchiveFromData"))
    let color = try #require(AttributeTransformers.transformer(forName: "TintColorTransformer"))
    let archive = try words.data(from: NSDate())
    #expect(throws: CambiumError.self) { try color.value(from: archive) }
  }

  /// A transformable attribute keeps an object of Foundation's as it is.
  @Test func collectionsOfFoundation() throws {
    let context = try context()
    let job = PaintJob(context: context)
    job.setValue(NSDictionary(dictionary: [1: "a"]), forKey: "anything")
    job.setValue(NSSet(array: ["a", "b"]), forKey: "old")
    job.setValuesForKeys(["sizes": NSNull(), "words": ["x"]])
    #expect((job.value(forKey: "anything") as? NSDictionary)?.object(forKey: NSNumber(value: 1)) as? String == "a")
    try context.save()
    context.refreshAllObjects()
    #expect((job.value(forKey: "anything") as? NSDictionary)?.object(forKey: NSNumber(value: 1)) as? String == "a")
    #expect(job.value(forKey: "old") as? NSSet == NSSet(array: ["a", "b"]))
    let set: NSSet? = job[managed: "old"]
    #expect(set == NSSet(array: ["a", "b"]))
    #expect(job.sizes == nil && job.words == ["x"])
  }

  /// What Foundation's archivers would end the process for is refused, and the error says what to do.
  @Test func valuesThatAreRefused() throws {
    struct Plain {}
    let context = try context()
    let job = PaintJob(context: context)
    func refusal(_ value: Any, _ key: String) -> CambiumError? {
      do {
        try job.set(value, forKey: key)
        return nil
      } catch { return error as? CambiumError }
    }
    #expect(refusal(Plain(), "anything")?.message.contains("NSSecureCoding") == true)
    #expect(refusal(["a": [Plain()]], "anything")?.code == .invalidArgument)
    #expect(refusal([TintColor(red: 1)], "tags")?.message.contains("allowedTopLevelClasses") == true)
    #expect(refusal(["a"], "color")?.key == "color")
    #expect(refusal(5, "words")?.message.contains("WordsTransformer") == true)
    #expect(refusal("x", "lost")?.message.contains("Nowhere") == true)
    #expect(job.color == nil && job.anything == nil)
  }

  /// Bytes in a store that are no archive of this module's never reach the unarchiver.
  @Test func bytesFromElsewhere() throws {
    let context = try context()
    let job = PaintJob(context: context)
    job.anything = NSData(data: Data([1, 2]))
    job.tags = ["a"]
    #expect(job.value(forKey: "anything") as? Data == Data([1, 2]))
    let color = try #require(AttributeTransformers.transformer(forName: "TintColorTransformer"))
    let archive = try color.data(from: TintColor(red: 1))
    #expect(try color.value(from: archive) as? TintColor == TintColor(red: 1))
    for index in archive.indices {
      var damaged = archive
      damaged[index] ^= 0x55
      #expect(throws: (any Error).self) { try color.value(from: damaged) }
    }
    #expect(throws: (any Error).self) { try color.value(from: Data()) }
    // A value that looks like an archive stays what it is.
    job.anything = NSData(data: archive)
    try context.save()
    context.refreshAllObjects()
    #expect(job.value(forKey: "anything") as? Data == archive)
    // Allowed by one transformer, and not by another.
    let secure = try #require(AttributeTransformers.transformer(forName: "NSSecureUnarchiveFromData"))
    #expect(throws: CambiumError.self) { try secure.value(from: archive) }
  }
}
