// Untried: written from the documentation of the Win32 functions, and neither built nor run so far.
#if os(Windows)
  import WinSDK

  extension FileCalls {
    /// The calls of this platform.
    static let system = FileCalls(
      open: { path, purpose in
        let rights = purpose == .reading ? DWORD(GENERIC_READ) : DWORD(GENERIC_READ) | DWORD(GENERIC_WRITE)
        // Deleting is shared so that a temporary name can go while the file is open, as on POSIX systems.
        let sharing = DWORD(FILE_SHARE_READ) | DWORD(FILE_SHARE_WRITE) | DWORD(FILE_SHARE_DELETE)
        let disposition = purpose == .creating ? DWORD(CREATE_NEW) : DWORD(OPEN_EXISTING)
        let handle = path.withCString(encodedAs: UTF16.self) {
          CreateFileW($0, rights, sharing, nil, disposition, DWORD(FILE_ATTRIBUTE_NORMAL), nil)
        }
        guard let handle, handle != INVALID_HANDLE_VALUE else { return lastError() }
        return Int(bitPattern: handle)
      },
      close: { file in CloseHandle(handle(file)) ? 0 : lastError() },
      status: { file, status in
        var raw = BY_HANDLE_FILE_INFORMATION()
        guard GetFileInformationByHandle(handle(file), &raw) else { return lastError() }
        status = FileStatus(raw)
        return 0
      },
      pathStatus: { path, status in
        let sharing = DWORD(FILE_SHARE_READ) | DWORD(FILE_SHARE_WRITE) | DWORD(FILE_SHARE_DELETE)
        // No rights: to look at it only. The flag allows directories.
        let opened = path.withCString(encodedAs: UTF16.self) {
          CreateFileW($0, 0, sharing, nil, DWORD(OPEN_EXISTING), DWORD(FILE_FLAG_BACKUP_SEMANTICS), nil)
        }
        guard let opened, opened != INVALID_HANDLE_VALUE else { return lastError() }
        defer { _ = CloseHandle(opened) }
        var raw = BY_HANDLE_FILE_INFORMATION()
        guard GetFileInformationByHandle(opened, &raw) else { return lastError() }
        status = FileStatus(raw)
        return 0
      },
      sizeAndLinks: { file, status in
        var raw = BY_HANDLE_FILE_INFORMATION()
        guard GetFileInformationByHandle(handle(file), &raw) else { return lastError() }
        status = FileStatus(raw)
        return 0
      },
      read: { file, target, count, offset in
        var position = overlapped(offset)
        var done: DWORD = 0
        if ReadFile(handle(file), target, DWORD(clamping: count), &done, &position) { return Int(done) }
        let result = lastError()
        return result == -Int(ERROR_HANDLE_EOF) ? 0 : result
      },
      write: { file, source, count, offset in
        var position = overlapped(offset)
        var done: DWORD = 0
        return WriteFile(handle(file), source, DWORD(clamping: count), &done, &position) ? Int(done) : lastError()
      },
      sync: { file in FlushFileBuffers(handle(file)) ? 0 : lastError() },
      beginSync: { _, _, _ in 0 },
      truncate: { file, size in setEnd(file, size) },
      // NTFS allots the clusters of a file that isn't sparse when its end is set, and reads them as zero until written.
      reserve: { file, offset, count in setEnd(file, offset + count) },
      lock: { file, kind, offset, count in
        var position = overlapped(offset)
        let low = DWORD(truncatingIfNeeded: count)
        let high = DWORD(truncatingIfNeeded: count >> 32)
        guard let kind else {
          if UnlockFileEx(handle(file), 0, low, high, &position) { return 0 }
          let result = lastError()
          return result == -Int(ERROR_NOT_LOCKED) ? 0 : result
        }
        let exclusive = kind == .exclusive ? DWORD(LOCKFILE_EXCLUSIVE_LOCK) : 0
        let flags = exclusive | DWORD(LOCKFILE_FAIL_IMMEDIATELY)
        return LockFileEx(handle(file), flags, 0, low, high, &position) ? 0 : lastError()
      },
      // Stores are not shared on Windows so far.
      waitForLock: { _, _, _, _ in -Int(ERROR_NOT_SUPPORTED) },
      testLock: { file, kind, offset, count, found in
        // Windows can't tell without trying. A range that this handle has locked itself counts as locked.
        let taken = FileCalls.system.lock(file, kind, offset, count)
        if taken >= 0 { return min(0, FileCalls.system.lock(file, nil, offset, count)) }
        found = offset
        return ErrorCode.meansRefused(Int32(truncatingIfNeeded: -taken)) ? 1 : taken
      },
      pause: { milliseconds in Sleep(DWORD(clamping: milliseconds)) },
      link: { path, newPath in
        path.withCString(encodedAs: UTF16.self) { old in
          newPath.withCString(encodedAs: UTF16.self) { new in CreateHardLinkW(new, old, nil) ? 0 : lastError() }
        }
      },
      rename: { path, newPath in
        path.withCString(encodedAs: UTF16.self) { old in
          newPath.withCString(encodedAs: UTF16.self) { new in
            MoveFileExW(old, new, DWORD(MOVEFILE_REPLACE_EXISTING) | DWORD(MOVEFILE_WRITE_THROUGH)) ? 0 : lastError()
          }
        }
      },
      unlink: { path in path.withCString(encodedAs: UTF16.self) { DeleteFileW($0) ? 0 : lastError() } },
      // There is no such call; NTFS keeps its names in a journal.
      syncDirectory: { _ in 0 },
      names: { directory, wanted in
        var entry = WIN32_FIND_DATAW()
        let search = (directory + "\\*").withCString(encodedAs: UTF16.self) { FindFirstFileW($0, &entry) }
        guard let search, search != INVALID_HANDLE_VALUE else { return [] }
        defer { _ = FindClose(search) }
        var names: [String] = []
        repeat {
          let name = withUnsafeBytes(of: entry.cFileName) { raw in
            String(decoding: raw.bindMemory(to: UInt16.self).prefix { $0 != 0 }, as: UTF16.self)
          }
          if wanted(name) { names.append(name) }
        } while FindNextFileW(search, &entry)
        return names
      },
      makeDirectory: { path in path.withCString(encodedAs: UTF16.self) { CreateDirectoryW($0, nil) ? 0 : lastError() } }
    )
  }

  private func handle(_ file: Int) -> HANDLE? { HANDLE(bitPattern: file) }

  private func lastError() -> Int { -Int(GetLastError()) }

  private func overlapped(_ offset: Int64) -> OVERLAPPED {
    var position = OVERLAPPED()
    position.Offset = DWORD(truncatingIfNeeded: offset)
    position.OffsetHigh = DWORD(truncatingIfNeeded: offset >> 32)
    return position
  }

  private func setEnd(_ file: Int, _ size: Int64) -> Int {
    var end = FILE_END_OF_FILE_INFO()
    end.EndOfFile.QuadPart = size
    let bytes = DWORD(MemoryLayout<FILE_END_OF_FILE_INFO>.size)
    return SetFileInformationByHandle(handle(file), FileEndOfFileInfo, &end, bytes) ? 0 : lastError()
  }

  extension FileStatus {
    fileprivate init(_ raw: BY_HANDLE_FILE_INFORMATION) {
      identity = FileIdentity(
        device: UInt64(raw.dwVolumeSerialNumber), inode: UInt64(raw.nFileIndexHigh) << 32 | UInt64(raw.nFileIndexLow))
      sizeBytes = UInt64(raw.nFileSizeHigh) << 32 | UInt64(raw.nFileSizeLow)
      links = UInt64(raw.nNumberOfLinks)
      isDirectory = raw.dwFileAttributes & DWORD(FILE_ATTRIBUTE_DIRECTORY) != 0
      isRegular = !isDirectory
    }
  }
#endif
