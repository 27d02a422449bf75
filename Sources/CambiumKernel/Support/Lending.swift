extension Unmanaged {
  /// Calls `body` with the object, without counting a reference for it: somebody else keeps it until `body` returns.
  @inline(__always)
  func lent<R, E: Error>(_ body: (Instance) throws(E) -> R) throws(E) -> R {
    let result = _withUnsafeGuaranteedRef { (object) -> Result<R, E> in
      do throws(E) { return .success(try body(object)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
