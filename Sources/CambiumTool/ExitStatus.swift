/// What the tool ends with, for scripts.
enum ExitStatus: Int32 {
  /// Done, and nothing was wrong.
  case success = 0
  /// The store is damaged, or a model is not as it should be.
  case damaged = 1
  /// The command line is wrong: an unknown command, option, entity, or predicate.
  case usage = 2
  /// It could not be done: no such file, in use, no permission, a format that this version does not know.
  case failed = 3
}
