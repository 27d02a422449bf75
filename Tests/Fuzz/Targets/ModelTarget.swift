@testable import CambiumEngine

/// The input is the fields of a stored model; what opens one is put before it, unless it is there.
enum ModelTarget {
  static func problem(_ input: [UInt8]) -> String? {
    let head = Schema.signature + [Schema.formatVersion]
    guard let schema = try? Schema(bytes: input.starts(with: Schema.signature) ? input : head + input) else {
      return nil
    }
    return problem(schema)
  }

  static func problem(_ schema: Schema) -> String? {
    guard let again = try? Schema(bytes: schema.encoded()) else { return "a model that was read is not read back" }
    if again != schema { return "a model that was read is read back as another one" }
    if again.versionChecksum != schema.versionChecksum { return "a model read back has another checksum" }
    if !again.differingEntities(from: schema).isEmpty { return "a model read back has other hashes" }
    if !SchemaDifference(from: schema, to: again).isEmpty { return "a model read back is told to differ" }
    for finding in schema.findings() + schema.syncFindings() where finding.text.isEmpty { return "an empty finding" }
    // Identifiers are no part of the hashes.
    let fresh: Schema
    do throws(SchemaError) { fresh = try Schema(schema.definition) } catch {
      // A stored model's patterns and predicates are not read: it may be one of a version that could read more.
      switch error {
      case .invalidPattern, .invalidRule: return nil
      default: return "the definition of a model that was read is refused: \(error)"
      }
    }
    return fresh.versionChecksum == schema.versionChecksum ? nil : "a model with other identifiers has other hashes"
  }
}
