// Linux (glibc and musl), Darwin, Android and WASI. What is built and tested is Linux with glibc; the others follow
// their documentation and are untried.
#if !os(Windows)
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Android)
    import Android
  #elseif canImport(Darwin)
    import Darwin
  #elseif canImport(WASILibc)
    import WASILibc
  #endif

  extension FileCalls {
    /// The calls of this platform.
    static let system = FileCalls(
      open: { path, purpose in
        // O_NONBLOCK: opening a pipe that nobody writes to must not wait; it means nothing for regular files.
        var flags = O_CLOEXEC | O_NONBLOCK
        switch purpose {
        case .reading: flags |= O_RDONLY
        case .readingAndWriting: flags |= O_RDWR
        case .creating: flags |= O_RDWR | O_CREAT | O_EXCL
        }
        while true {
          let result = negated(Int(openFile(path, flags, 0o644)))
          if result != -Int(EINTR) { return result }
        }
      },
      close: { file in negated(Int(closeFile(Int32(truncatingIfNeeded: file)))) },
      status: { file, status in
        var raw = stat()
        if fstat(Int32(truncatingIfNeeded: file), &raw) != 0 { return -Int(errno) }
        status = FileStatus(raw)
        return 0
      },
      pathStatus: { path, status in
        var raw = stat()
        if stat(path, &raw) != 0 { return -Int(errno) }
        status = FileStatus(raw)
        return 0
      },
      sizeAndLinks: { file, status in
        #if os(Linux)
          if let result = ExtendedStatus.sizeAndLinks(of: file, &status) { return result }
        #endif
        var raw = stat()
        if fstat(Int32(truncatingIfNeeded: file), &raw) != 0 { return -Int(errno) }
        status = FileStatus(raw)
        return 0
      },
      read: { file, target, count, offset in
        guard let position = off_t(exactly: offset) else { return 0 }
        return negated(pread(Int32(truncatingIfNeeded: file), target, count, position))
      },
      write: { file, source, count, offset in
        guard let position = off_t(exactly: offset) else { return -Int(EFBIG) }
        return negated(pwrite(Int32(truncatingIfNeeded: file), source, count, position))
      },
      sync: { file in
        #if canImport(Darwin)
          // Darwin's fsync leaves the data in the drive's volatile cache. File systems that know no F_FULLFSYNC (SMB,
          // FAT) have nothing better than fsync.
          if fcntl(Int32(truncatingIfNeeded: file), F_FULLFSYNC) != -1 { return 0 }
          let code = errno
          guard code == ENOTSUP || code == EINVAL || code == ENOTTY else { return -Int(code) }
          return negated(Int(fsync(Int32(truncatingIfNeeded: file))))
        #else
          return negated(Int(fdatasync(Int32(truncatingIfNeeded: file))))
        #endif
      },
      beginSync: { file, offset, count in
        #if os(Linux) || os(Android)
          // The kernel begins to write what is not on the medium before it looks what it need not keep. That is what
          // this is for: it keeps what it is writing.
          guard let start = off_t(exactly: offset), let length = off_t(exactly: count) else { return 0 }
          return -Int(
            posix_fadvise(Int32(truncatingIfNeeded: file), start, length, Int32(POSIX_FADV_DONTNEED)))
        #else
          return 0
        #endif
      },
      truncate: { file, size in
        guard let size = off_t(exactly: size) else { return -Int(EFBIG) }
        return negated(Int(ftruncate(Int32(truncatingIfNeeded: file), size)))
      },
      reserve: { file, offset, count in
        let file = Int32(truncatingIfNeeded: file)
        guard let start = off_t(exactly: offset), let length = off_t(exactly: count) else { return -Int(EFBIG) }
        #if canImport(Darwin)
          var request = fstore_t()
          request.fst_flags = UInt32(F_ALLOCATEALL)
          request.fst_posmode = F_PEOFPOSMODE
          request.fst_length = length
          if fcntl(file, F_PREALLOCATE, &request) == -1 { return -Int(errno) }
          return negated(Int(ftruncate(file, start + length)))
        #else
          // Returns the error number itself.
          return -Int(posix_fallocate(file, start, length))
        #endif
      },
      lock: { file, kind, offset, count in
        #if os(WASI)
          return 0
        #else
          guard var request = flock(kind, offset, count) else { return -Int(EINVAL) }
          return negated(Int(fcntl(Int32(truncatingIfNeeded: file), openFileSetLock, &request)))
        #endif
      },
      waitForLock: { file, kind, offset, count in
        #if os(WASI)
          return -Int(ENOTSUP)
        #else
          guard var request = flock(kind, offset, count) else { return -Int(EINVAL) }
          return negated(Int(fcntl(Int32(truncatingIfNeeded: file), openFileWaitForLock, &request)))
        #endif
      },
      testLock: { file, kind, offset, count, found in
        #if os(WASI)
          return 0
        #else
          guard var request = flock(kind, offset, count) else { return -Int(EINVAL) }
          if fcntl(Int32(truncatingIfNeeded: file), openFileGetLock, &request) == -1 { return -Int(errno) }
          if request.l_type == Int16(F_UNLCK) { return 0 }
          found = Int64(request.l_start)
          return 1
        #endif
      },
      pause: { milliseconds in
        var time = timespec()
        time.tv_nsec = min(milliseconds, 999) * 1_000_000
        nanosleep(&time, nil)
      },
      link: { path, newPath in negated(Int(linkFile(path, newPath))) },
      rename: { path, newPath in negated(Int(renameFile(path, newPath))) },
      unlink: { path in negated(Int(unlinkFile(path))) },
      syncDirectory: { path in
        let file = openFile(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        if file < 0 { return -Int(errno) }
        let result = negated(Int(fsync(file)))
        _ = closeFile(file)
        // Some file systems sync their directories by themselves and refuse to be asked.
        return result == -Int(EINVAL) || result == -Int(ENOTSUP) ? 0 : result
      },
      names: { directory, wanted in
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        // The entry is as long as its name, so the name must not be copied as the array that its type says it is.
        let nameOffset = MemoryLayout<dirent>.offset(of: \dirent.d_name) ?? 0
        while let entry = readdir(stream) {
          let name = (UnsafeRawPointer(entry) + nameOffset).assumingMemoryBound(to: CChar.self)
          let text = String(cString: name)
          if wanted(text) { names.append(text) }
        }
        return names
      },
      makeDirectory: { path in negated(Int(mkdir(path, 0o755))) })
  }

  // Inside the closures above these names would be the seam's own members, or overloads of several signatures.
  private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
  private func closeFile(_ file: Int32) -> Int32 { close(file) }
  private func linkFile(_ path: String, _ newPath: String) -> Int32 { link(path, newPath) }
  private func renameFile(_ path: String, _ newPath: String) -> Int32 { rename(path, newPath) }
  private func unlinkFile(_ path: String) -> Int32 { unlink(path) }

  /// The result of a call, or the negated error number that it left behind if it returned -1.
  private func negated(_ result: Int) -> Int { result < 0 ? -Int(errno) : result }

  #if canImport(Darwin)
    // From its `sys/fcntl.h`.
    private let openFileSetLock: Int32 = 90
    private let openFileWaitForLock: Int32 = 91
    private let openFileGetLock: Int32 = 92
  #else
    // Swift's import of the headers leaves these out; the numbers are the same on every Linux architecture.
    private let openFileSetLock: Int32 = 37
    private let openFileWaitForLock: Int32 = 38
    private let openFileGetLock: Int32 = 36
  #endif

  #if !os(WASI)
    private func flock(_ kind: FileLockKind?, _ offset: Int64, _ count: Int64) -> flock? {
      guard let start = off_t(exactly: offset), let length = off_t(exactly: count) else { return nil }
      var request = flock()
      switch kind {
      case .shared?: request.l_type = Int16(F_RDLCK)
      case .exclusive?: request.l_type = Int16(F_WRLCK)
      case nil: request.l_type = Int16(F_UNLCK)
      }
      request.l_whence = Int16(SEEK_SET)
      request.l_start = start
      request.l_len = length
      // Open-file-description locks require this to be zero.
      request.l_pid = 0
      return request
    }
  #endif

  #if os(Linux)
    /// Linux's `statx`, which tells of a file only what it is asked for.
    ///
    /// A program that asks for the time of the last change makes Linux give the next write a time of its own, so that
    /// two changes can be told apart. `fstat` always asks for it. After each `fstat`, the next sync must write the
    /// inode as well: a commit took 128 us instead of 85.
    private enum ExtendedStatus {
      private typealias Call =
        @convention(c) (Int32, UnsafePointer<CChar>, Int32, UInt32, UnsafeMutableRawPointer) -> Int32

      // The headers declare it only under a condition that Swift does not set.
      private static let call = dlsym(nil, "statx").map { unsafeBitCast($0, to: Call.self) }

      // Of the system's interface, which does not change: STATX_NLINK and STATX_SIZE, AT_EMPTY_PATH, and where the
      // fields lie.
      private static let links: UInt32 = 0x4
      private static let size: UInt32 = 0x200
      private static let emptyPath: Int32 = 0x1000
      private static let linksOffset = 16
      private static let sizeOffset = 40
      private static let byteCount = 256

      /// Fills in size and number of names; nil if the call fails, or does not answer all of it.
      static func sizeAndLinks(of file: Int, _ status: inout FileStatus) -> Int? {
        guard let call else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { bytes -> Int? in
          guard let p = bytes.baseAddress else { return nil }
          // Some sandboxes forbid the call. Then `fstat` answers, or tells the error.
          if call(Int32(truncatingIfNeeded: file), "", emptyPath, links | size, p) != 0 { return nil }
          guard p.load(as: UInt32.self) & (links | size) == links | size else { return nil }
          status.links = UInt64(p.load(fromByteOffset: linksOffset, as: UInt32.self))
          status.sizeBytes = p.load(fromByteOffset: sizeOffset, as: UInt64.self)
          return 0
        }
      }
    }
  #endif

  extension FileStatus {
    fileprivate init(_ raw: stat) {
      identity = FileIdentity(
        device: UInt64(truncatingIfNeeded: raw.st_dev), inode: UInt64(truncatingIfNeeded: raw.st_ino))
      sizeBytes = UInt64(clamping: raw.st_size)
      links = UInt64(clamping: raw.st_nlink)
      isRegular = raw.st_mode & S_IFMT == S_IFREG
      isDirectory = raw.st_mode & S_IFMT == S_IFDIR
    }
  }
#endif
