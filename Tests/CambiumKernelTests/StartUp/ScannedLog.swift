@testable import CambiumKernel

/// The records of a log, kept beside the outcome of the scan that met them.
@dynamicMemberLookup
struct ScannedLog {
  /// A record, and a copy of its bytes.
  struct Record {
    var header: LogRecordHeader
    var address: UInt64
    var bytes: [UInt8]
    var piece: Int
    var segment: LogSegment
  }

  let outcome: LogScanner.Outcome
  let records: [Record]

  init(_ scanner: LogScanner) throws(StoreError) {
    var records: [Record] = []
    outcome = try scanner.scan { (found) throws(StoreError) in
      records.append(
        Record(
          header: found.header, address: found.address, bytes: Array(found.bytes), piece: found.piece,
          segment: found.segment))
    }
    self.records = records
  }

  subscript<T>(dynamicMember path: KeyPath<LogScanner.Outcome, T>) -> T { outcome[keyPath: path] }
}
