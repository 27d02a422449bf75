/// What is wrong with a CSV file, and where.
struct CSVError: Error, CustomStringConvertible {
  /// The file.
  var file: String
  /// The line on which the record in question begins, from 1.
  var line: Int
  /// What is wrong.
  var problem: String

  var description: String { "\(file), line \(line): \(problem)" }
}
