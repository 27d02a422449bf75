import CambiumKernel

/// The system calls that a file device is made of, behind one seam, so that a platform is one value of this type and a
/// test can make any call fail, fall short, or be interrupted.
///
/// Each returns a result of 0 or more, or the negated error number: no call leaves its error in a place where another
/// could overwrite it. A `file` is a descriptor, or on Windows the bits of a handle.
struct FileCalls: Sendable {
  /// What a file is opened for.
  enum Purpose: Sendable {
    case reading
    case readingAndWriting
    /// A new file; fails if there is one.
    case creating
  }

  /// Opens the file at a path; it isn't inherited by programs that the process starts.
  var open: @Sendable (_ path: String, _ purpose: Purpose) -> Int
  var close: @Sendable (_ file: Int) -> Int
  var status: @Sendable (_ file: Int, _ status: inout FileStatus) -> Int
  var pathStatus: @Sendable (_ path: String, _ status: inout FileStatus) -> Int
  /// Fills in the size and the number of names of an open file, and nothing else. Cheaper than ``status`` for a file
  /// that is being written.
  var sizeAndLinks: @Sendable (_ file: Int, _ status: inout FileStatus) -> Int

  var read: @Sendable (_ file: Int, _ target: UnsafeMutableRawPointer, _ count: Int, _ offset: Int64) -> Int
  var write: @Sendable (_ file: Int, _ source: UnsafeRawPointer, _ count: Int, _ offset: Int64) -> Int
  /// Waits until the content, and what is needed to read it back, is on the medium.
  var sync: @Sendable (_ file: Int) -> Int
  /// Begins to bring a range to the medium, and does not wait for it.
  var beginSync: @Sendable (_ file: Int, _ offset: Int64, _ count: Int64) -> Int
  var truncate: @Sendable (_ file: Int, _ size: Int64) -> Int
  /// Makes room for `count` bytes at the end, `offset`, and the file longer by them; they read as zero.
  var reserve: @Sendable (_ file: Int, _ offset: Int64, _ count: Int64) -> Int

  /// Takes (or with `nil` gives up) a lock that belongs to the open file, not to the process. Never waits.
  var lock: @Sendable (_ file: Int, _ kind: FileLockKind?, _ offset: Int64, _ count: Int64) -> Int
  /// The same, but waits until the lock can be had.
  var waitForLock: @Sendable (_ file: Int, _ kind: FileLockKind, _ offset: Int64, _ count: Int64) -> Int
  /// 1 if another open file holds a lock that rules this one out, and where such a lock begins; else 0.
  var testLock:
    @Sendable (_ file: Int, _ kind: FileLockKind, _ offset: Int64, _ count: Int64, _ found: inout Int64) -> Int

  /// Waits.
  var pause: @Sendable (_ milliseconds: Int) -> Void

  /// Gives a file a second name, never one that is taken.
  var link: @Sendable (_ path: String, _ newPath: String) -> Int
  /// Moves a file, replacing what has the new name.
  var rename: @Sendable (_ path: String, _ newPath: String) -> Int
  var unlink: @Sendable (_ path: String) -> Int
  var syncDirectory: @Sendable (_ path: String) -> Int
  /// The names in a directory that `wanted` accepts. None, if it can't be read.
  var names: @Sendable (_ directory: String, _ wanted: (String) -> Bool) -> [String]
  /// Makes a directory; fails if there is something of that name.
  var makeDirectory: @Sendable (_ path: String) -> Int
}

/// What is known of a file beside its content.
struct FileStatus {
  var identity = FileIdentity(device: 0, inode: 0)
  var sizeBytes: UInt64 = 0
  /// How many names it has; 0 when it was removed while open.
  var links: UInt64 = 0
  /// Neither a directory, nor a pipe, nor a device.
  var isRegular = false
  var isDirectory = false
}

/// Whether a lock shuts out every other, or only exclusive ones.
public typealias FileLockKind = StoreLockKind

extension FileCalls {
  /// What separates the parts of a path.
  static var pathSeparators: [Character] {
    #if os(Windows)
      return ["\\", "/"]
    #else
      return ["/"]
    #endif
  }
}
