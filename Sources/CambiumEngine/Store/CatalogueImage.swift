import CambiumKernel

/// The bytes of a catalogue, but for what the layer above keeps in it: all that a model and its plans are made from, so
/// that two stores with the same bytes have the same ones.
///
///     of each entry, in the order of the keys:   u64 length of the key, u64 length of the value, key, value
///
/// Never on a device: the numbers are in the machine's order.
struct CatalogueImage: Sendable, Equatable {
  private(set) var bytes: [UInt8] = []

  private static let headerSize = 16

  /// Of the catalogue that a view sees.
  init(_ view: TreeView) throws(EngineError) {
    var bytes: [UInt8] = []
    try storing { () throws(StoreError) in
      let cursor = try view.cursor(Catalogue.tree)
      var more = try cursor.seekFirst()
      while more {
        let key = cursor.key
        // Which models there were before makes no other model of this one.
        if Catalogue.rest(of: key, behind: "meta/") == nil, Catalogue.rest(of: key, behind: "former") == nil {
          _ = try cursor.withValue { (value) throws(StoreError) in
            withUnsafeBytes(of: UInt64(key.count)) { bytes.append(contentsOf: $0) }
            withUnsafeBytes(of: UInt64(value.count)) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: key)
            bytes.append(contentsOf: value)
          }
        }
        more = try cursor.next()
      }
    }
    self.bytes = bytes
  }

  /// Lends the entries.
  func forEach(
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(EngineError) -> Void
  ) throws(EngineError) {
    try bytes.withUnsafeBytesEngine { (all) throws(EngineError) in
      var rest = all[...]
      while rest.count >= Self.headerSize {
        let head = UnsafeRawBufferPointer(rebasing: rest)
        let keyLength = Int(clamping: head.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
        let valueLength = Int(clamping: head.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        rest = rest.dropFirst(Self.headerSize)
        let key = rest.prefix(keyLength)
        rest = rest.dropFirst(keyLength)
        let value = rest.prefix(valueLength)
        rest = rest.dropFirst(valueLength)
        try body(UnsafeRawBufferPointer(rebasing: key), UnsafeRawBufferPointer(rebasing: value))
      }
    }
  }

  /// The value of a key; nil if there is none.
  func value(_ wanted: StaticString) throws(EngineError) -> [UInt8]? {
    var found: [UInt8]?
    try forEach { (key, value) throws(EngineError) in
      if let rest = Catalogue.rest(of: key, behind: wanted), rest.isEmpty { found = Array(value) }
    }
    return found
  }
}
