extension ModelDocument {
  /// Reads a `contents` file of a model.
  ///
  /// Relationships that do not name each other as inverses lose them, with a warning.
  ///
  /// - Throws: `malformed` for what is no XML, `unusable` for what no model can be, `tooLarge`. O(length of the file).
  @_optimize(none)
  public init(contents bytes: [UInt8]) throws(ModelDocumentError) {
    var reader = DocumentReader(document: try XMLDocument(bytes))
    try reader.read()
    reader.mendInverses()
    self = reader.model
  }
}
