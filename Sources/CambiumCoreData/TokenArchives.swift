// Places in the history of stores, as Core Data code keeps them. Foundation's archivers take and give objects of
// classes that inherit from NSObject (`unarchivedObject(ofClass:from:)` asks for that by its type), and a token is a
// structure of a module that does without Foundation's classes. Off Apple platforms a structure may conform to
// NSSecureCoding, and is archived as a `__SwiftValue`, which is not decodable. So these methods are for tokens alone;
// what they write is what `JSONEncoder` writes of a token, and the one reads what the other has written.

extension NSKeyedArchiver {
  /// A token as data, to be kept. The same as `JSONEncoder().encode(token)`.
  ///
  /// - Parameter requiresSecureCoding: Without effect: nothing but a token is read from the data.
  public static func archivedData(
    withRootObject token: PersistentHistoryToken, requiringSecureCoding requiresSecureCoding: Bool
  ) throws -> Data {
    try JSONEncoder().encode(token)
  }
}

extension NSKeyedUnarchiver {
  /// Reads what ``Foundation/NSKeyedArchiver`` or `JSONEncoder` has written of a token.
  ///
  /// - Throws: ``CambiumError/Code/fileReadCorruptFile`` for other data, also for what Core Data has written.
  public static func unarchivedObject(
    ofClass tokenType: PersistentHistoryToken.Type, from data: Data
  ) throws -> PersistentHistoryToken? {
    do { return try JSONDecoder().decode(PersistentHistoryToken.self, from: data) } catch {
      throw CambiumError(
        .fileReadCorruptFile,
        "the data is no token of a store's history that was archived here; fetch the history from its beginning, and "
          + "keep the token of the last transaction", underlying: [error])
    }
  }
}

extension NSCoder {
  /// Puts a token into an archive.
  public func encode(_ token: PersistentHistoryToken?, forKey key: String) {
    encode(token.flatMap { try? JSONEncoder().encode($0) }.map { $0 as NSData }, forKey: key)
  }

  /// A token of an archive; `nil` if there is none.
  public func decodeObject(of tokenType: PersistentHistoryToken.Type, forKey key: String) -> PersistentHistoryToken? {
    guard let data = decodeObject(of: NSData.self, forKey: key) else { return nil }
    return try? JSONDecoder().decode(PersistentHistoryToken.self, from: data as Data)
  }
}
