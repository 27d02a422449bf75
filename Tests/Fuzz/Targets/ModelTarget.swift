@testable import CambiumEngine

/// The input is the fields of a stored model; what opens one is put before it, unless it is there.
enum ModelTarget {
  static func problem(_ input: [UInt8]) -> String? {
    let head = Schema.signature + [Schema.formatVersion]
    guard let schema = try? Schema(bytes: input.starts(with: Schema.signature) ? input : head + input) else {
      return nil
    }
    guard let again = try? Schema(bytes: schema.encoded()) else { return "a model that was read is not read back" }
    if again != schema { return "a model that was read is read back as another one" }
    return nil
  }
}
