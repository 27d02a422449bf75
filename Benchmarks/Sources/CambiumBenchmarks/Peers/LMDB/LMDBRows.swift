// LMDB stores bytes; these are the rows' as an application would lay them out by hand.
//
//     aircraft: hours 8 | year 4 | flags 1 | ends of 7 texts, 1 each | texts | photo
//     entry:    aircraft 8 | date 8 | delay 8 | flight 4 | distance 4 | flags 1 | remark

/// Writes rows into a buffer of its own and reads them from the map.
struct LMDBRows {
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 16)

  func free() { buffer.deallocate() }

  /// The bytes of a row, good until the next call.
  func encode(_ a: Aircraft) -> UnsafeRawBufferPointer {
    buffer.storeBytes(of: a.hours.bitPattern, toByteOffset: 0, as: UInt64.self)
    buffer.storeBytes(of: a.year ?? 0, toByteOffset: 8, as: Int32.self)
    buffer[12] = (a.tertiary == nil ? 1 : 0) | (a.year == nil ? 2 : 0)
    var end = 20
    var place = 13
    func add(_ text: String) {
      var text = text
      text.withUTF8 { b in
        if b.count > 0 {
          UnsafeMutableRawBufferPointer(rebasing: buffer[end...]).copyMemory(from: UnsafeRawBufferPointer(b))
        }
        end += b.count
      }
      buffer[place] = UInt8(truncatingIfNeeded: end)
      place += 1
    }
    add(a.tailNumber)
    add(a.category)
    add(a.kind)
    add(a.type)
    add(a.primary)
    add(a.secondary)
    add(a.tertiary ?? "")
    UnsafeMutableRawBufferPointer(rebasing: buffer[end...]).copyBytes(from: a.photo)
    return UnsafeRawBufferPointer(rebasing: buffer[..<(end + a.photo.count)])
  }

  @inline(__always)
  static func text(_ b: UnsafeRawBufferPointer, _ i: Int) -> UnsafeRawBufferPointer {
    let start = i == 0 ? 20 : Int(b[12 + i])
    return UnsafeRawBufferPointer(rebasing: b[start..<Int(b[13 + i])])
  }

  @inline(__always)
  static func hours(_ b: UnsafeRawBufferPointer) -> Double {
    Double(bitPattern: b.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
  }

  static func aircraft(_ id: Int, _ b: UnsafeRawBufferPointer) -> Aircraft {
    func string(_ i: Int) -> String { String(decoding: text(b, i), as: UTF8.self) }
    let flags = b[12]
    return Aircraft(
      id: id, tailNumber: string(0), category: string(1), kind: string(2), type: string(3), primary: string(4),
      secondary: string(5), tertiary: flags & 1 != 0 ? nil : string(6),
      year: flags & 2 != 0 ? nil : b.loadUnaligned(fromByteOffset: 8, as: Int32.self), hours: hours(b),
      photo: [UInt8](b[Int(b[19])...]))
  }

  /// The bytes of a row, good until the next call.
  func encode(_ e: LogEntry) -> UnsafeRawBufferPointer {
    buffer.storeBytes(of: UInt64(e.aircraft), toByteOffset: 0, as: UInt64.self)
    buffer.storeBytes(of: e.date.bitPattern, toByteOffset: 8, as: UInt64.self)
    buffer.storeBytes(of: e.delay?.bitPattern ?? 0, toByteOffset: 16, as: UInt64.self)
    buffer.storeBytes(of: e.flight, toByteOffset: 24, as: Int32.self)
    buffer.storeBytes(of: e.distance ?? 0, toByteOffset: 28, as: Int32.self)
    buffer[32] = (e.delay == nil ? 1 : 0) | (e.distance == nil ? 2 : 0) | (e.remark == nil ? 4 : 0)
    let remark = Array((e.remark ?? "").utf8)
    UnsafeMutableRawBufferPointer(rebasing: buffer[33...]).copyBytes(from: remark)
    return UnsafeRawBufferPointer(rebasing: buffer[..<(33 + remark.count)])
  }

  static func entry(_ id: Int, _ b: UnsafeRawBufferPointer) -> LogEntry {
    let flags = b[32]
    return LogEntry(
      id: id, aircraft: Int(b.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
      date: Double(bitPattern: b.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
      flight: b.loadUnaligned(fromByteOffset: 24, as: Int32.self),
      distance: flags & 2 != 0 ? nil : b.loadUnaligned(fromByteOffset: 28, as: Int32.self),
      delay: flags & 1 != 0 ? nil : Double(bitPattern: b.loadUnaligned(fromByteOffset: 16, as: UInt64.self)),
      remark: flags & 4 != 0 ? nil : String(decoding: UnsafeRawBufferPointer(rebasing: b[33...]), as: UTF8.self))
  }
}
