import CambiumKernel

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
#elseif os(Windows)
  import WinSDK
#endif

/// What the platform's error numbers mean to this module. On POSIX systems they are `errno` values, on Windows those
/// of `GetLastError`.
enum ErrorCode {
  #if os(Windows)
    static let exists = Int32(ERROR_FILE_EXISTS)
    static let missing = Int32(ERROR_FILE_NOT_FOUND)
    static let invalid = Int32(ERROR_INVALID_PARAMETER)
    static let tooLarge = Int32(ERROR_FILE_TOO_LARGE)
    static let closed = Int32(ERROR_INVALID_HANDLE)
    static let unsupported = Int32(ERROR_NOT_SUPPORTED)
    static let writeStalled = Int32(ERROR_WRITE_FAULT)

    static func meansInterrupted(_ code: Int32) -> Bool { false }
    static func meansFull(_ code: Int32) -> Bool {
      code == Int32(ERROR_DISK_FULL) || code == Int32(ERROR_HANDLE_DISK_FULL)
    }
    static func meansUnsupported(_ code: Int32) -> Bool {
      code == unsupported || code == Int32(ERROR_INVALID_FUNCTION)
    }
    static func meansRefused(_ code: Int32) -> Bool {
      code == Int32(ERROR_LOCK_VIOLATION) || code == Int32(ERROR_IO_PENDING) || code == Int32(ERROR_SHARING_VIOLATION)
    }
    static func meansExists(_ code: Int32) -> Bool { code == exists || code == Int32(ERROR_ALREADY_EXISTS) }
    static func meansMissing(_ code: Int32) -> Bool { code == missing || code == Int32(ERROR_PATH_NOT_FOUND) }
    static func meansNoHardLinks(_ code: Int32) -> Bool { false }
  #else
    static let exists = EEXIST
    static let missing = ENOENT
    static let invalid = EINVAL
    static let tooLarge = EFBIG
    static let closed = EBADF
    static let unsupported = ENOTSUP
    static let writeStalled = EIO

    static func meansInterrupted(_ code: Int32) -> Bool { code == EINTR }
    static func meansFull(_ code: Int32) -> Bool { code == ENOSPC || code == EDQUOT }
    static func meansUnsupported(_ code: Int32) -> Bool {
      code == EOPNOTSUPP || code == ENOTSUP || code == EINVAL || code == ENOSYS
    }
    static func meansRefused(_ code: Int32) -> Bool { code == EAGAIN || code == EACCES }
    static func meansExists(_ code: Int32) -> Bool { code == EEXIST }
    static func meansMissing(_ code: Int32) -> Bool { code == ENOENT }
    /// FAT has no hard links; Android forbids them to applications.
    static func meansNoHardLinks(_ code: Int32) -> Bool {
      code == EPERM || code == EACCES || code == EMLINK || code == ENOSYS || code == EOPNOTSUPP || code == ENOTSUP
    }
  #endif
}

extension StoreError {
  /// Whether this says that there is a file already where one was to be created.
  public var meansFileExists: Bool {
    if case .device(_, _, let code) = self { return ErrorCode.meansExists(code) }
    return false
  }

  /// Whether this says that there is no file at the path.
  public var meansNoSuchFile: Bool {
    if case .device(.open, _, let code) = self { return ErrorCode.meansMissing(code) }
    return false
  }
}

/// The platform's words for an error number, for messages: "No space left on device (28)". Not for comparing: the text
/// follows the platform, and on some the locale.
public func systemErrorText(_ code: Int32) -> String {
  #if os(Windows)
    return "Windows error \(code)"
  #else
    guard let text = strerror(code) else { return "error \(code)" }
    return "\(String(cString: text)) (\(code))"
  #endif
}
