extension Store {
  /// Memory for changes that no checkpoint has taken in yet, in bytes: how much a layer above may hold back before it
  /// writes.
  public var deltaBytes: Int { options.deltaBytes }

  /// Memory that a layer above may take for changes of indexes that it gathers, in bytes: as much as for other changes,
  /// and up to half of what pages may take. Who loads many rows reads few pages meanwhile, and those gathered changes
  /// that cannot wait for each other have a tree written more than once.
  public var gatheredBytes: Int { max(options.deltaBytes, options.cacheBytes / 2) }
}
