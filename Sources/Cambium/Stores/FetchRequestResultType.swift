/// What a fetch gives, with Core Data's raw values.
public enum FetchRequestResultType: Int, Sendable {
  /// Objects.
  case managedObject = 0
  /// Identifiers of objects.
  case managedObjectID = 1
  /// Dictionaries of values: see ``FetchRequest/propertiesToFetch``.
  case dictionary = 2
  /// One number: how many objects match.
  case count = 4
}
