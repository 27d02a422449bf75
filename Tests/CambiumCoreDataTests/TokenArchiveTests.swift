import CambiumCoreData
import Testing

/// Places in history, archived as Core Data code does it.
@Suite struct TokenArchiveTests {
  private func token(_ folder: Folder) throws -> NSPersistentHistoryToken {
    let container = NSPersistentContainer(name: "Flights", managedObjectModel: try FlightLog.model())
    let description = NSPersistentStoreDescription(url: folder.file("store"))
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    let context = container.newBackgroundContext()
    try context.performAndWait {
      _ = NSEntityDescription.insertNewObject(forEntityName: "Aircraft", into: context)
      try context.save()
    }
    return try #require(container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil))
  }

  @Test func tokensAreKept() throws {
    let folder = try Folder()
    let token = try token(folder)
    let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
    #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data) == token)
    #expect(try JSONDecoder().decode(NSPersistentHistoryToken.self, from: data) == token)
    for token in [token, nil] {
      let kept = try NSKeyedArchiver.archivedData(
        withRootObject: TokenBookmark(token, "here"), requiringSecureCoding: true)
      let bookmark = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: TokenBookmark.self, from: kept))
      #expect(bookmark.token == token && bookmark.name == "here")
    }
  }

  @Test func otherDataIsRefused() throws {
    let text = try NSKeyedArchiver.archivedData(withRootObject: "text" as NSString, requiringSecureCoding: true)
    for data in [Data(), Data("text".utf8), Data("[1]".utf8), Data(#"{"positions":{"a":1e99}}"#.utf8), text] {
      let error = #expect(throws: CambiumError.self) {
        try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
      }
      #expect(error?.code == .fileReadCorruptFile)
    }
  }
}

/// Keeps a token among other things. Archives find classes by their names at the top of a module only.
final class TokenBookmark: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }
  let token: NSPersistentHistoryToken?
  let name: String

  init(_ token: NSPersistentHistoryToken?, _ name: String) {
    self.token = token
    self.name = name
  }

  init?(coder: NSCoder) {
    token = coder.decodeObject(of: NSPersistentHistoryToken.self, forKey: "token")
    name = (coder.decodeObject(of: NSString.self, forKey: "name") as? String) ?? ""
  }

  func encode(with coder: NSCoder) {
    coder.encode(token, forKey: "token")
    coder.encode(name as NSString, forKey: "name")
  }
}
