import CambiumKernel

extension EntityStore {
  /// Makes `target` a store with the newest commit, while others read and write. The commit is retained meanwhile, for
  /// at most a day, in case this process does not come to release it.
  ///
  /// - Parameters:
  ///   - target: The device, whose content is overwritten; it stays open, and is the caller's.
  ///   - progress: Called after each 4 MiB or so; the copy ends without a result if it answers false.
  /// - Returns: Whether the copy is whole.
  /// - Throws: kernel errors; `StoreError.readOnly` if the store is.
  public func copy(
    to target: any StorageDevice, progress: (Store.CopyProgress) -> Bool = { _ in true }
  ) throws(EngineError) -> Bool {
    if fixed != nil { throw .store(.readOnly) }
    let day: Int64 = 86_400_000
    let now = kernel.nowMilliseconds()
    let (expires, overflow) = now.addingReportingOverflow(day)
    return try storing { () throws(StoreError) in
      let commit = try kernel.retain(reason: "backup", expires: overflow ? nil : UInt64(clamping: expires))
      do throws(StoreError) {
        let isWhole = try kernel.copy(retained: commit.id, to: target, progress: progress)
        try kernel.release(retained: commit.id, sequence: commit.sequence)
        return isWhole
      } catch {
        do throws(StoreError) { try kernel.release(retained: commit.id, sequence: commit.sequence) } catch {}
        throw error
      }
    }
  }
}
