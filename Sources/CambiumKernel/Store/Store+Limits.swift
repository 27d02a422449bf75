extension Store {
  /// Memory for changes that no checkpoint has taken in yet, in bytes: how much a layer above may hold back before it
  /// writes.
  public var deltaBytes: Int { options.deltaBytes }
}
