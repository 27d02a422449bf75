import CambiumKernel

/// What this process has open, by file: whoever opens a file that is open already gets the same object, whatever path
/// it was reached by. A process keeps one registry per type of payload, as a global constant.
///
///     let stores = StoreRegistry<Store>()
///     let store = try stores.open(path: path) { device throws(StoreError) in try Store.open(on: device, ...) }
///     try stores.release(store) { store throws(StoreError) in try store.close() }
///
/// Thread-safe. While one thread opens or closes a file's payload, others that ask for the same file wait; other files
/// are not held up. The closures must not call the registry for the same file.
public final class StoreRegistry<Payload: AnyObject & Sendable>: @unchecked Sendable {
  // `@unchecked`: `entries` is touched with `guardian` held only.
  private struct Entry {
    /// Absent while the payload is being opened or closed, by a thread that holds no lock meanwhile.
    var payload: Payload?
    var users: Int
  }

  private let guardian = SystemEnvironment().makeLock()
  private var entries: [FileIdentity: Entry] = [:]

  /// Makes an empty registry.
  public init() {}

  /// How many users the file's payload has.
  public func userCount(of identity: FileIdentity) -> Int {
    guardian.lock()
    defer { guardian.unlock() }
    return entries[identity]?.users ?? 0
  }

  /// The payload of the file at `path`, as ``acquire(_:make:)`` gives it. If it isn't open in this process yet, the
  /// file is opened, and `make` is called with the device, which it owns from then on.
  ///
  /// Throws what opening the device and `make` throw.
  public func open(
    path: String, access: FileDevice.Access = .readWrite, sharing: FileDevice.Sharing = .exclusive,
    make: (FileDevice) throws(StoreError) -> Payload
  ) throws(StoreError) -> Payload {
    while true {
      let identity = try FileIdentity(path: path)
      var replaced = false
      do throws(StoreError) {
        return try acquire(identity) { () throws(StoreError) in
          let device = try FileDevice(path: path, access: access, sharing: sharing)
          // Another file may have come to the path since it was looked at.
          if device.identity != identity {
            replaced = true
            device.close()
            throw .busy
          }
          do throws(StoreError) { return try make(device) } catch {
            device.close()
            throw error
          }
        }
      } catch {
        if !replaced { throw error }
      }
    }
  }

  /// The file's payload, with one user more. If there is none, `make` makes it; when that throws, nothing is kept, and
  /// a thread that waited makes its own attempt.
  public func acquire(
    _ identity: FileIdentity, make: () throws(StoreError) -> Payload
  ) throws(StoreError) -> Payload {
    guardian.lock()
    while let entry = entries[identity] {
      if let payload = entry.payload {
        entries[identity] = Entry(payload: payload, users: entry.users + 1)
        guardian.unlock()
        return payload
      }
      guardian.wait()
    }
    entries[identity] = Entry(payload: nil, users: 1)
    guardian.unlock()

    do throws(StoreError) {
      let payload = try make()
      settle(identity, Entry(payload: payload, users: 1))
      return payload
    } catch {
      settle(identity, nil)
      throw error
    }
  }

  /// Takes one user from a payload, and with the last calls `close` and forgets it, whether `close` throws or not.
  /// A payload that isn't registered is left alone.
  public func release(
    _ payload: Payload, close: (Payload) throws(StoreError) -> Void
  ) throws(StoreError) {
    guardian.lock()
    guard let (identity, entry) = entries.first(where: { $0.value.payload === payload }) else {
      guardian.unlock()
      return
    }
    if entry.users > (isPlanted(.registryClosesEarly) ? 2 : 1) {
      entries[identity] = Entry(payload: payload, users: entry.users - 1)
      guardian.unlock()
      return
    }
    // Kept, without a payload, until the file is closed: nobody may open it a second time before.
    entries[identity] = Entry(payload: nil, users: 0)
    guardian.unlock()
    defer { settle(identity, nil) }
    try close(payload)
  }

  /// Ends the opening or closing of a payload and wakes who waited for it.
  private func settle(_ identity: FileIdentity, _ entry: Entry?) {
    guardian.lock()
    entries[identity] = entry
    guardian.wakeAll()
    guardian.unlock()
  }
}
