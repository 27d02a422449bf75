/// A key and a value that the application attached to a part of the model.
public struct UserInfoEntry: Hashable, Sendable {
  /// The key.
  public var key: String
  /// The value.
  public var value: String

  /// An entry.
  public init(key: String, value: String) {
    self.key = key
    self.value = value
  }
}
