extension SystemEnvironment {
  /// Waits on the calling thread.
  public func pause(milliseconds: Int) { FileCalls.system.pause(milliseconds) }
}
