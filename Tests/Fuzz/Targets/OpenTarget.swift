/// The input is the file.
enum OpenTarget {
  static func problem(_ file: [UInt8]) -> String? { StoreExercise(bytes: file, seed: UInt64(file.count)).problem() }
}
