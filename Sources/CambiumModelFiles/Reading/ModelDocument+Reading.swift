extension ModelDocument {
  /// Reads a `contents` file of a model.
  ///
  /// Relationships that do not name each other as inverses lose them, with a warning.
  ///
  /// - Throws: `malformed` if the file is not XML, `unusable` if it describes no model, `tooLarge`. O(length of the
  ///   file).
  @_optimize(none)
  public init(contents bytes: [UInt8]) throws(ModelDocumentError) {
    var reader = DocumentReader(document: try XMLDocument(bytes))
    try reader.read()
    reader.mendInverses()
    self = reader.model
  }
}
