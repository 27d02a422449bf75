// The transformers of transformable attributes that name none, or one of Foundation's, or one that the application made
// known to Foundation.

import Cambium

/// The transformers that `Cambium` has from this module. It finds this type by its name, so that nobody has to register
/// anything.
public enum FoundationTransformers: AttributeTransformerSource {
  /// The transformer of a name, or that of attributes which name none.
  package static func transformer(forName name: String?) -> (any AttributeTransformer)? {
    guard let name else { return ArchiveTransformer(classes: { nil }) }
    guard let known = ValueTransformer(forName: NSValueTransformerName(rawValue: name)) else { return nil }
    if let archiving = known as? NSSecureUnarchiveFromDataTransformer {
      return ArchiveTransformer(by: archiving) { type(of: archiving).allowedTopLevelClasses }
    }
    return known is KeyedUnarchiveTransformer ? ArchiveTransformer(classes: { nil }) : StoringTransformer(known)
  }
}

/// Stores values as archives. `Data` is stored as it is, as by `Cambium` alone, if the archive is of objects of every
/// class.
private struct ArchiveTransformer: AttributeTransformer, @unchecked Sendable {
  // `@unchecked`: the transformer is the application's, which sees to it that threads may use it, as with Foundation's.
  var transformer: NSSecureUnarchiveFromDataTransformer?
  /// The classes that are allowed; `nil` for all.
  let classes: () -> [AnyClass]?

  init(by transformer: NSSecureUnarchiveFromDataTransformer? = nil, classes: @escaping () -> [AnyClass]?) {
    (self.transformer, self.classes) = (transformer, classes)
  }

  func data(from value: Any) throws -> Data {
    let classes = classes()
    if classes == nil, let data = value as? Data, !ArchiveFrame.isAround(data) { return data }
    if let archive = transformer?.reverseTransformedValue(value) as? Data { return ArchiveFrame.around(archive) }
    // The transformer does not say why it gave nothing.
    return ArchiveFrame.around(try ValueArchive.data(of: value, classes: classes))
  }

  func value(from data: Data) throws -> Any {
    let classes = classes()
    guard ArchiveFrame.isAround(data) else {
      if classes == nil { return data }
      throw CambiumError(.fileReadCorruptFile, "the bytes are no archive that CambiumCoreData has stored")
    }
    let archive = try ArchiveFrame.archive(in: data)
    if let value = transformer?.transformedValue(archive) { return value }
    return try ValueArchive.value(of: archive, classes: classes)
  }
}

/// Stores the `Data` that a transformer of the application's makes of values.
private struct StoringTransformer: AttributeTransformer, @unchecked Sendable {
  // `@unchecked`: as ``ArchiveTransformer``.
  let transformer: ValueTransformer

  init(_ transformer: ValueTransformer) { self.transformer = transformer }

  func data(from value: Any) throws -> Data {
    if let data = transformer.transformedValue(value) as? Data { return data }
    throw CambiumError(
      .invalidArgument,
      "\(type(of: transformer)) makes no Data of a \(type(of: value)); its transformedValue(_:) has to")
  }

  func value(from data: Data) throws -> Any {
    if type(of: transformer).allowsReverseTransformation(), let value = transformer.reverseTransformedValue(data) {
      return value
    }
    throw CambiumError(
      .fileReadCorruptFile,
      "\(type(of: transformer)) makes no value of the bytes; it needs allowsReverseTransformation() and "
        + "reverseTransformedValue(_:)")
  }
}

/// What is around an archive in a store, so that the unarchiver, which ends the process for damaged bytes, gets none:
///
///     | "CBArchv1" | hash of the archive, FNV-1a, 8 bytes, the low one first | archive |
private enum ArchiveFrame {
  private static let mark = Data("CBArchv1".utf8)
  private static var headerSize: Int { mark.count + 8 }

  static func isAround(_ data: Data) -> Bool { data.starts(with: mark) }

  static func around(_ archive: Data) -> Data {
    var result = mark
    result.reserveCapacity(headerSize + archive.count)
    var hash = hash(of: archive)
    for _ in 0..<8 {
      result.append(UInt8(truncatingIfNeeded: hash))
      hash >>= 8
    }
    return result + archive
  }

  /// - Throws: ``CambiumError/Code/fileReadCorruptFile``.
  static func archive(in data: Data) throws -> Data {
    let archive = Data(data.dropFirst(headerSize))
    guard around(archive) == data else {
      throw CambiumError(.fileReadCorruptFile, "the archive is damaged: its hash is another one")
    }
    return archive
  }

  private static func hash(of data: Data) -> UInt64 {
    data.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
