import CambiumEngine
import CambiumKernel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The application's metadata as bytes, all integers little-endian:
//
//   +---------+---------------------------------------------------------+
//   | count 4 | per entry: key length 4, key, kind 1, length 4, content |
//   +---------+---------------------------------------------------------+
//
// kind: 1 string (UTF-8), 2 integer (8), 3 double (8), 4 boolean (1), 5 date (8, seconds since 2001), 6 data, 7 UUID
// (16)
enum MetadataCodec {
  /// The entries as bytes.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` with the key of a value of another type.
  static func encode(_ entries: [String: Any]) throws -> [UInt8] {
    var bytes = length(entries.count)
    for (key, value) in entries.ordered(by: { $0.key < $1.key }) {
      let (kind, content): (UInt8, [UInt8])
      switch value {
      case let value as String: (kind, content) = (1, Array(value.utf8))
      case let value as Bool: (kind, content) = (4, [value ? 1 : 0])
      case let value as Int: (kind, content) = (2, word(UInt64(bitPattern: Int64(value))))
      case let value as Double: (kind, content) = (3, word(value.bitPattern))
      case let value as Date: (kind, content) = (5, word(value.timeIntervalSinceReferenceDate.bitPattern))
      case let value as Data: (kind, content) = (6, Array(value))
      case let value as UUID: (kind, content) = (7, value.storedBytes.map { Array($0.bytes) } ?? [])
      default:
        throw CambiumError(
          .invalidArgument,
          "metadata '\(key)' is a \(type(of: value)); use a String, Bool, Int, Double, Date, Data or UUID", key: key)
      }
      bytes += length(key.utf8.count) + Array(key.utf8) + [kind] + length(content.count) + content
    }
    return bytes
  }

  /// Reads what ``encode(_:)`` wrote. Entries of kinds that are not known are left out.
  ///
  /// - Throws: ``CambiumError/Code/fileReadCorruptFile``.
  static func decode(_ bytes: [UInt8]) throws -> [String: Any] {
    var rest = bytes[...]
    var result: [String: Any] = [:]
    let count = try takeLength(&rest)
    for _ in 0..<count {
      let key = String(decoding: try take(try takeLength(&rest), &rest), as: UTF8.self)
      let kind = try take(1, &rest).first ?? 0
      let content = try take(try takeLength(&rest), &rest)
      switch kind {
      case 1: result[key] = String(decoding: content, as: UTF8.self)
      case 2: result[key] = Int(exactly: Int64(bitPattern: try word(content)))
      case 3: result[key] = Double(bitPattern: try word(content))
      case 4: result[key] = content.first == 1
      case 5: result[key] = Date(timeIntervalSinceReferenceDate: Double(bitPattern: try word(content)))
      case 6: result[key] = Data(content)
      case 7: result[key] = UUIDBytes(bytes: content).map { UUID($0) }
      default: break
      }
    }
    return result
  }

  private static let damaged = CambiumError(
    .fileReadCorruptFile, "the store's metadata is damaged; set it again, or restore the store from a backup")

  private static func length(_ count: Int) -> [UInt8] {
    let value = UInt32(clamping: count)
    return [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  private static func word(_ value: UInt64) -> [UInt8] {
    [0, 8, 16, 24, 32, 40, 48, 56].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  private static func word(_ bytes: ArraySlice<UInt8>) throws -> UInt64 {
    guard bytes.count == 8 else { throw damaged }
    return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func takeLength(_ rest: inout ArraySlice<UInt8>) throws -> Int {
    let value = try take(4, &rest).reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
    guard let length = Int(exactly: value) else { throw damaged }
    return length
  }

  private static func take(_ count: Int, _ rest: inout ArraySlice<UInt8>) throws -> ArraySlice<UInt8> {
    guard count <= rest.count else { throw damaged }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }
}
